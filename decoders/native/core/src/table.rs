//! The programs by the frame of a record.

use crate::program::{Struct, parse};
use crate::{NotPlain, Plain};

/// Frames whose numbers are below this take three bytes, as all that Kafka has do.
const NUMBERS: usize = 128;
const UNKNOWN: u16 = 0;
const REFUSED: u16 = 1;
const FIRST: u16 = 2;
const FRAME_VERSION: u8 = 1;
/// Where the message begins in a value.
pub const MESSAGE: usize = 3;

pub struct Entry {
    pub program: Struct,
    /// What is written before the message.
    pub opening: Vec<u8>,
    pub is_shown: bool,
    /// How many records a check has seen, with the place and the offset of the first.
    pub count: u64,
    pub first: (u64, i64),
}

/// Why a frame has no program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    NotPlain,
    /// Nobody asked for this api key and version yet.
    Unknown(u8, u8),
}

pub struct Table {
    numbers: Vec<u16>,
    entries: Vec<Entry>,
    is_doubled: bool,
}

impl Table {
    /// `is_doubled`: programs write quotes twice, as a CSV cell has them.
    pub fn new(is_doubled: bool) -> Self {
        Table { numbers: vec![UNKNOWN; NUMBERS * NUMBERS], entries: Vec::new(), is_doubled }
    }

    pub fn add(
        &mut self,
        api_key: u8,
        version: u8,
        program: &[u8],
        opening: &[u8],
        is_shown: bool,
    ) -> Plain<()> {
        let program = parse(program, self.is_doubled)?;
        let at = Self::place(api_key, version)?;
        let number = u16::try_from(self.entries.len()).map_err(|_| NotPlain)?;
        self.numbers[at] = number.checked_add(FIRST).ok_or(NotPlain)?;
        let opening = opening.to_vec();
        self.entries.push(Entry { program, opening, is_shown, count: 0, first: (0, 0) });
        Ok(())
    }

    /// Stop at this api key and version from now on.
    pub fn refuse(&mut self, api_key: u8, version: u8) -> Plain<()> {
        self.numbers[Self::place(api_key, version)?] = REFUSED;
        Ok(())
    }

    fn place(api_key: u8, version: u8) -> Plain<usize> {
        let (api_key, version) = (usize::from(api_key), usize::from(version));
        if api_key < NUMBERS && version < NUMBERS {
            Ok(api_key * NUMBERS + version)
        } else {
            Err(NotPlain)
        }
    }

    /// The number of the entry that reads a value.
    pub fn find(&self, value: &[u8]) -> Result<usize, Missing> {
        let (api_key, version) = frame(value).map_err(|_| Missing::NotPlain)?;
        let at = Self::place(api_key, version).map_err(|_| Missing::NotPlain)?;
        match self.numbers[at] {
            UNKNOWN => Err(Missing::Unknown(api_key, version)),
            REFUSED => Err(Missing::NotPlain),
            number => Ok(usize::from(number - FIRST)),
        }
    }

    pub fn entry(&self, number: usize) -> &Entry {
        &self.entries[number]
    }

    pub fn entry_mut(&mut self, number: usize) -> &mut Entry {
        &mut self.entries[number]
    }

    /// The frames that have an entry: api key, version, and its number.
    pub fn known(&self) -> impl Iterator<Item = (u8, u8, usize)> + '_ {
        self.numbers.iter().enumerate().filter(|(_, number)| **number >= FIRST).map(
            |(at, number)| {
                ((at / NUMBERS) as u8, (at % NUMBERS) as u8, usize::from(*number - FIRST))
            },
        )
    }
}

/// The api key and version of a value. A frame of more than three bytes is not plain.
pub fn frame(value: &[u8]) -> Plain<(u8, u8)> {
    match value.first_chunk::<MESSAGE>() {
        Some(&[FRAME_VERSION, api_key, version]) if api_key | version < 0x80 => {
            Ok((api_key, version))
        }
        _ => Err(NotPlain),
    }
}
