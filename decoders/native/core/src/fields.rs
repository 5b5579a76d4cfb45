//! The interpreter: reads a message by its program, and hands its values to a sink.
//!
//! Owns what is plain inside a message: no unknown tags, tags in order, no defaults written out.

use crate::program::{Guard, Kind, Label, MOST_FIELDS, MOST_TAGS, Struct};
use crate::wire::Cursor;
use crate::{NotPlain, Plain};

/// Takes the values.
pub trait Sink {
    fn raw(&mut self, text: &[u8]);
    /// The name of the field whose value follows.
    fn label(&mut self, label: &Label, is_first: bool) {
        self.raw(label.text(is_first));
    }
    fn null(&mut self) {
        self.raw(b"null");
    }
    fn bool(&mut self, value: bool) {
        self.raw(if value { b"true" } else { b"false" });
    }
    fn int(&mut self, value: i64);
    /// Int32s of a list, as they are on the wire.
    fn ints(&mut self, wire: &[u8]) {
        let mut is_first = true;
        for four in wire.chunks_exact(4) {
            if !is_first {
                self.raw(b",");
            }
            is_first = false;
            self.int(four.first_chunk().map_or(0, |four| i64::from(i32::from_be_bytes(*four))));
        }
    }
    fn double(&mut self, value: f64) -> Plain<()>;
    fn uuid(&mut self, value: &[u8; 16]);
    fn text(&mut self, value: &str);
    fn bytes(&mut self, value: &[u8]);
    fn mask(&mut self);
    /// The size of the output, for `take_back`.
    fn mark(&self) -> usize;
    fn take_back(&mut self, mark: usize);
}

/// Drops the values, to learn if everything is plain.
pub struct Nothing;

impl Sink for Nothing {
    fn raw(&mut self, _: &[u8]) {}
    fn label(&mut self, _: &Label, _: bool) {}
    fn int(&mut self, _: i64) {}
    fn ints(&mut self, _: &[u8]) {}
    fn double(&mut self, _: f64) -> Plain<()> {
        Ok(())
    }
    fn uuid(&mut self, _: &[u8; 16]) {}
    fn text(&mut self, _: &str) {}
    fn bytes(&mut self, _: &[u8]) {}
    fn mask(&mut self) {}
    fn mark(&self) -> usize {
        0
    }
    fn take_back(&mut self, _: usize) {}
}

/// Read a struct with its tagged fields.
pub fn structure<S: Sink>(program: &Struct, cursor: &mut Cursor, out: &mut S) -> Plain<()> {
    if program.is_guarded {
        return guarded_structure(program, cursor, out);
    }
    let mut is_first = true;
    // Where the first tagged field would have to be written.
    let mut slot = None;
    out.raw(b"{");
    for (index, field) in program.fields.iter().enumerate() {
        if field.is_tagged {
            slot.get_or_insert((index, out.mark(), *cursor, is_first));
            continue;
        }
        out.label(&field.label, is_first);
        is_first = false;
        value(&field.kind, field.is_nullable, cursor, out)?;
    }
    let count = cursor.unsigned()?;
    if count > 0 {
        tagged(program, count, slot.ok_or(NotPlain)?, cursor, out)?;
    }
    out.raw(b"}");
    Ok(())
}

/// Read a struct in which other fields decide if a value is shown. It has no tagged fields.
fn guarded_structure<S: Sink>(program: &Struct, cursor: &mut Cursor, out: &mut S) -> Plain<()> {
    let mut starts = [0usize; MOST_FIELDS];
    out.raw(b"{");
    for (index, field) in program.fields.iter().enumerate() {
        if field.is_tagged {
            continue;
        }
        out.label(&field.label, index == 0);
        starts[index] = cursor.at;
        if let Kind::Guarded(guard) = &field.kind {
            guarded(guard, &starts, field.is_nullable, cursor, out)?;
        } else {
            value(&field.kind, field.is_nullable, cursor, out)?;
        }
    }
    if cursor.unsigned()? != 0 {
        return Err(NotPlain);
    }
    out.raw(b"}");
    Ok(())
}

/// Write from the first tagged field on again, now that it is known which of them there are.
fn tagged<S: Sink>(
    program: &Struct,
    count: u32,
    slot: (usize, usize, Cursor, bool),
    cursor: &mut Cursor,
    out: &mut S,
) -> Plain<()> {
    // Where each value begins and ends, in the order of the tags. The end is 0 without a value.
    let mut found = [(0, 0); MOST_TAGS];
    let mut lowest = 0;
    for _ in 0..count {
        let mut start = *cursor;
        let (_, end) = program.tag(&mut lowest, &mut start)?;
        cursor.at = end;
        found[lowest - 1] = (start.at, end);
    }
    let (from, mark, mut plain, mut is_first) = slot;
    let mut inner = *cursor;
    out.take_back(mark);
    for field in &program.fields[from..] {
        let at = if field.is_tagged {
            let (start, end) = found[field.tag_place];
            if end == 0 {
                continue;
            }
            inner.at = start;
            Some(end)
        } else {
            None
        };
        out.label(&field.label, is_first);
        is_first = false;
        match at {
            Some(end) => {
                value(&field.kind, field.is_nullable, &mut inner, out)?;
                if inner.at != end {
                    return Err(NotPlain);
                }
            }
            None => value(&field.kind, field.is_nullable, &mut plain, out)?,
        }
    }
    Ok(())
}

/// Read a struct and note where each field begins; returns how many tagged fields there are.
pub fn starts(
    program: &Struct,
    cursor: &mut Cursor,
    starts: &mut [usize; MOST_FIELDS],
) -> Plain<usize> {
    for (index, field) in program.fields.iter().enumerate().filter(|(_, field)| !field.is_tagged) {
        starts[index] = cursor.at;
        value(&field.kind, field.is_nullable, cursor, &mut Nothing)?;
    }
    let count = cursor.unsigned()? as usize;
    let mut lowest = 0;
    for _ in 0..count {
        let (index, end) = program.tag(&mut lowest, cursor)?;
        let field = &program.fields[index];
        starts[index] = cursor.at;
        value(&field.kind, field.is_nullable, cursor, &mut Nothing)?;
        if cursor.at != end {
            return Err(NotPlain);
        }
    }
    Ok(count)
}

/// Read one value.
pub fn value<S: Sink>(
    kind: &Kind,
    is_nullable: bool,
    cursor: &mut Cursor,
    out: &mut S,
) -> Plain<()> {
    match kind {
        Kind::Bool => out.bool(cursor.bool()?),
        Kind::Int8 => out.int(i64::from(i8::from_be_bytes(cursor.array()?))),
        Kind::Int16 => out.int(i64::from(i16::from_be_bytes(cursor.array()?))),
        Kind::Uint16 => out.int(i64::from(u16::from_be_bytes(cursor.array()?))),
        Kind::Int32 => out.int(i64::from(i32::from_be_bytes(cursor.array()?))),
        Kind::Uint32 => out.int(i64::from(u32::from_be_bytes(cursor.array()?))),
        Kind::Int64 => out.int(i64::from_be_bytes(cursor.array()?)),
        Kind::Float64 => out.double(f64::from_be_bytes(cursor.array()?))?,
        Kind::Uuid => out.uuid(&cursor.array()?),
        Kind::Text => match cursor.sized(is_nullable)? {
            Some(bytes) => out.text(std::str::from_utf8(bytes).map_err(|_| NotPlain)?),
            None => out.null(),
        },
        Kind::Bytes => match cursor.sized(is_nullable)? {
            Some(bytes) => out.bytes(bytes),
            None => out.null(),
        },
        Kind::Masked(_) => match cursor.sized(is_nullable)? {
            Some(_) => out.mask(),
            None => out.null(),
        },
        Kind::Array(element) => match cursor.length()? {
            Some(count) => {
                out.raw(b"[");
                if matches!(**element, Kind::Int32) {
                    out.ints(cursor.bytes(count.checked_mul(4).ok_or(NotPlain)?)?);
                } else {
                    for index in 0..count {
                        if index > 0 {
                            out.raw(b",");
                        }
                        value(element, false, cursor, out)?;
                    }
                }
                out.raw(b"]");
            }
            None if is_nullable => out.null(),
            None => return Err(NotPlain),
        },
        Kind::Struct(program) => {
            if is_nullable && cursor.is_null()? {
                out.null();
            } else {
                structure(program, cursor, out)?;
            }
        }
        // A guard needs the struct around it, which reads it.
        Kind::Guarded(_) => return Err(NotPlain),
    }
    Ok(())
}

/// Read a text that is shown or masked; `starts` has where the fields before it begin.
pub fn guarded<S: Sink>(
    guard: &Guard,
    starts: &[usize; MOST_FIELDS],
    is_nullable: bool,
    cursor: &mut Cursor,
    out: &mut S,
) -> Plain<()> {
    let mut earlier = *cursor;
    earlier.at = starts[guard.type_field];
    let resource_type = i8::from_be_bytes(earlier.array()?);
    earlier.at = starts[guard.name_field];
    let name = earlier.sized(false)?.ok_or(NotPlain)?;
    match cursor.sized(is_nullable)? {
        Some(bytes) => {
            let shown = std::str::from_utf8(bytes).map_err(|_| NotPlain)?;
            if guard.shows(resource_type, name)? { out.text(shown) } else { out.mask() }
        }
        None => out.null(),
    }
    Ok(())
}
