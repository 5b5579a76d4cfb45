//! Primitives on the wire, in the one form that Kafka's writers give them.

use crate::{NotPlain, Plain};

/// Reads forward in a piece of memory; it refuses to read beyond its end.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    data: &'a [u8],
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(data: &'a [u8], at: usize) -> Self {
        Cursor { data, at }
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.data.len()
    }

    pub fn bytes(&mut self, size: usize) -> Plain<&'a [u8]> {
        let stop = self.at.checked_add(size).ok_or(NotPlain)?;
        let taken = self.data.get(self.at..stop).ok_or(NotPlain)?;
        self.at = stop;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Plain<[u8; N]> {
        match self.data.get(self.at..).and_then(|rest| rest.first_chunk::<N>()) {
            Some(taken) => {
                self.at += N;
                Ok(*taken)
            }
            None => Err(NotPlain),
        }
    }

    pub fn byte(&mut self) -> Plain<u8> {
        let byte = *self.data.get(self.at).ok_or(NotPlain)?;
        self.at += 1;
        Ok(byte)
    }

    /// An unsigned varint of at most 32 bits. One with needless bytes is not plain.
    pub fn unsigned(&mut self) -> Plain<u32> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u32::from(first));
        }
        let mut value = u32::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = self.byte()?;
            if shift == 28 && byte > 0x0f {
                return Err(NotPlain);
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return if byte == 0 { Err(NotPlain) } else { Ok(value) };
            }
            shift += 7;
        }
    }

    /// A zig-zag varint of at most 32 bits that is not negative.
    pub fn size(&mut self) -> Plain<usize> {
        let value = self.unsigned()?;
        if value & 1 == 1 { Err(NotPlain) } else { Ok((value >> 1) as usize) }
    }

    /// The length before a value: None for null.
    pub fn length(&mut self) -> Plain<Option<usize>> {
        Ok(self.unsigned()?.checked_sub(1).map(|size| size as usize))
    }

    /// A length and as many bytes: None for null.
    pub fn sized(&mut self, is_nullable: bool) -> Plain<Option<&'a [u8]>> {
        match self.length()? {
            Some(size) => Ok(Some(self.bytes(size)?)),
            None if is_nullable => Ok(None),
            None => Err(NotPlain),
        }
    }

    pub fn bool(&mut self) -> Plain<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(NotPlain),
        }
    }

    /// The byte before a struct that may be null: true for null.
    pub fn is_null(&mut self) -> Plain<bool> {
        match self.byte()? {
            0xff => Ok(true),
            1 => Ok(false),
            _ => Err(NotPlain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_varint_with_needless_bytes_is_not_plain() {
        assert_eq!(Cursor::new(&[0x81, 0x01], 0).unsigned(), Ok(0x81));
        assert_eq!(Cursor::new(&[0x81, 0x00], 0).unsigned(), Err(NotPlain));
        assert_eq!(Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0x0f], 0).unsigned(), Ok(u32::MAX));
        assert_eq!(Cursor::new(&[0xff, 0xff, 0xff, 0xff, 0x1f], 0).unsigned(), Err(NotPlain));
        assert_eq!(Cursor::new(&[0x81], 0).unsigned(), Err(NotPlain));
    }

    #[test]
    fn a_cursor_stays_inside_its_bytes() {
        let mut cursor = Cursor::new(&[1, 2, 3], 1);
        assert_eq!(cursor.bytes(3), Err(NotPlain));
        assert_eq!(cursor.bytes(usize::MAX), Err(NotPlain));
        assert_eq!(cursor.bytes(2), Ok(&[2u8, 3][..]));
        assert!(cursor.is_at_end());
        assert_eq!(Cursor::new(&[1], 9).array::<1>(), Err(NotPlain));
    }
}
