//! Finds the records of one kind in a batch, to read them later.
//!
//! Owns which records may be read later: they are plain, and what is noted here is all that a replay
//! checks. The other records of the batch are handed over as they are.

use std::ops::Range;

use crc32c::{crc32c, crc32c_append};

use crate::batch::{Header, Records};
use crate::fields::starts;
use crate::program::{Kind, MOST_FIELDS, Struct, parse};
use crate::table::{MESSAGE, frame};
use crate::wire::Cursor;
use crate::{NotPlain, Plain};

/// Values of a choice: 0, and 1 if it is written.
const CHOICES: Range<i8> = 0..2;

/// One version of the records, by the indexes of their fields.
pub struct Layout {
    pub api_key: u8,
    pub version: u8,
    program: Struct,
    rules: Rules,
    /// The fields of a row; None where this version lacks one.
    pub row: Vec<Option<usize>>,
}

/// What has to hold so that a record may be read later.
pub struct Rules {
    /// A uuid: records with the same one in a row belong together.
    pub group: usize,
    /// An int32 that rises by one from record to record.
    pub number: usize,
    /// An int8 that is 0 or 1.
    pub choice: usize,
    /// Two arrays: the second one has as many elements, or is empty.
    pub many: usize,
    pub as_many: Option<usize>,
    /// True if Kafka's newest writer writes this version.
    pub is_newest: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Records of one group that are left where they are.
    Placed {
        index: u32,
        count: u32,
        start: usize,
        end: usize,
        group: [u8; 16],
        number: i32,
        /// True if they are as the newest writer would write them.
        is_newest: bool,
        /// The checksum of the bytes from `start` to `end`.
        crc: u32,
    },
    /// Any other record.
    Other { index: u32, start: usize, end: usize, value: &'a [u8] },
}

#[derive(Default)]
pub struct Places {
    layouts: Vec<Layout>,
}

/// A record that may be read later.
struct Place {
    group: [u8; 16],
    number: i32,
    is_newest: bool,
}

impl Places {
    pub fn add(
        &mut self,
        api_key: u8,
        version: u8,
        program: &[u8],
        rules: Rules,
        row: Vec<Option<usize>>,
    ) -> Plain<()> {
        let program = parse(program, false)?;
        let is = |at: usize, test: fn(&Kind) -> bool| {
            program.fields.get(at).is_some_and(|field| test(&field.kind))
        };
        let array = |kind: &Kind| matches!(kind, Kind::Array(_));
        let fits = is(rules.group, |kind| matches!(kind, Kind::Uuid))
            && is(rules.number, |kind| matches!(kind, Kind::Int32))
            && is(rules.choice, |kind| matches!(kind, Kind::Int8))
            && is(rules.many, array)
            && rules.as_many.is_none_or(|at| is(at, array))
            && row.iter().flatten().all(|at| *at < program.fields.len());
        let untagged = [rules.group, rules.number, rules.many];
        if !fits || untagged.iter().any(|at| program.fields[*at].is_tagged) {
            return Err(NotPlain);
        }
        self.layouts.push(Layout { api_key, version, program, rules, row });
        Ok(())
    }

    fn layout(&self, value: &[u8]) -> Option<&Layout> {
        let (api_key, version) = frame(value).ok()?;
        self.layouts.iter().find(|one| one.api_key == api_key && one.version == version)
    }

    /// The pieces of a plain batch, each of at most `most` records. A record with something wrong in
    /// it is a piece of its own.
    pub fn find<'a>(&self, batch: &'a [u8], most: u32) -> Plain<Vec<Piece<'a>>> {
        let header = Header::read(batch, 0)?;
        if header.size != batch.len() || !header.is_plain() {
            return Err(NotPlain);
        }
        let mut pieces = Vec::new();
        let mut records = Records::new(batch);
        for at in 0..header.record_count as u32 {
            let start = records.at();
            let record = records.next_record()?;
            let stop = records.at();
            let Some(place) = self.place(record.value) else {
                pieces.push(Piece::Other { index: at, start, end: stop, value: record.value });
                continue;
            };
            let added = &batch[start..stop];
            if let Some(Piece::Placed { count, end, group, number, is_newest, crc, .. }) =
                pieces.last_mut()
            {
                let next = i64::from(*number) + i64::from(*count);
                if *group == place.group && next == i64::from(place.number) && *count < most {
                    (*count, *end) = (*count + 1, stop);
                    *is_newest &= place.is_newest;
                    *crc = crc32c_append(*crc, added);
                    continue;
                }
            }
            let (count, end, crc) = (1, stop, crc32c(added));
            let Place { group, number, is_newest } = place;
            let index = at;
            pieces.push(Piece::Placed { index, count, start, end, group, number, is_newest, crc });
        }
        if records.is_at_end() { Ok(pieces) } else { Err(NotPlain) }
    }

    fn place(&self, value: &[u8]) -> Option<Place> {
        let layout = self.layout(value)?;
        let rules = &layout.rules;
        let read = layout.read(value).ok()?;
        if !CHOICES.contains(&(read.int(rules.choice).ok()? as i8)) {
            return None;
        }
        let many = read.count(rules.many).ok()?;
        let as_many = match rules.as_many {
            Some(at) => read.count(at).ok()?,
            None => 0,
        };
        if as_many != 0 && as_many != many {
            return None;
        }
        let is_chosen = read.starts[rules.choice] != 0;
        let is_newest = rules.is_newest
            && as_many == many
            && rules.as_many.is_some()
            && read.tags == usize::from(is_chosen);
        let group = Cursor::new(value, read.starts[rules.group]).array().ok()?;
        Some(Place { group, number: read.int(rules.number).ok()? as i32, is_newest })
    }

    /// Read the values of records that were found. Not plain if their bytes have changed.
    pub fn read<'a>(
        &'a self,
        data: &'a [u8],
        index: u32,
        count: u32,
        crc: u32,
        mut take: impl FnMut(&[u8], &Read) -> Plain<()>,
    ) -> Plain<()> {
        if crc32c(data) != crc {
            return Err(NotPlain);
        }
        let mut records = Records::at_index(data, index);
        for _ in 0..count {
            let value = records.next_record()?.value;
            let layout = self.layout(value).ok_or(NotPlain)?;
            take(value, &layout.read(value)?)?;
        }
        if records.is_at_end() { Ok(()) } else { Err(NotPlain) }
    }
}

impl Layout {
    fn read<'a>(&'a self, value: &'a [u8]) -> Plain<Read<'a>> {
        let mut read = Read { layout: self, value, starts: [0; MOST_FIELDS], tags: 0 };
        let mut cursor = Cursor::new(value, MESSAGE);
        read.tags = starts(&self.program, &mut cursor, &mut read.starts)?;
        if cursor.is_at_end() { Ok(read) } else { Err(NotPlain) }
    }
}

/// A record whose fields were found.
pub struct Read<'a> {
    pub layout: &'a Layout,
    value: &'a [u8],
    /// Where each field begins; 0 for a tagged one that was left out.
    starts: [usize; MOST_FIELDS],
    tags: usize,
}

/// One value of a row.
pub enum Cell<'a> {
    Int(i64),
    /// The elements of an array as they are on the wire, of four bytes each.
    Ints(&'a [u8]),
    /// The same of sixteen bytes each.
    Uuids(&'a [u8]),
    Nothing,
}

impl<'a> Read<'a> {
    fn cursor(&self, field: usize) -> Cursor<'_> {
        match self.starts[field] {
            0 => Cursor::new(&self.layout.program.fields[field].default, 0),
            start => Cursor::new(self.value, start),
        }
    }

    fn int(&self, field: usize) -> Plain<i64> {
        let mut cursor = self.cursor(field);
        Ok(match &self.layout.program.fields[field].kind {
            Kind::Int8 => i64::from(i8::from_be_bytes(cursor.array()?)),
            Kind::Int32 => i64::from(i32::from_be_bytes(cursor.array()?)),
            _ => return Err(NotPlain),
        })
    }

    /// The number of elements of an array; 0 for null.
    fn count(&self, field: usize) -> Plain<usize> {
        Ok(self.cursor(field).length()?.unwrap_or(0))
    }

    pub fn cell(&self, field: Option<usize>) -> Plain<Cell<'_>> {
        let Some(field) = field else { return Ok(Cell::Nothing) };
        let Kind::Array(element) = &self.layout.program.fields[field].kind else {
            return Ok(Cell::Int(self.int(field)?));
        };
        let mut cursor = self.cursor(field);
        let count = cursor.length()?.unwrap_or(0);
        if count == 0 {
            return Ok(Cell::Nothing);
        }
        let size = |each: usize| count.checked_mul(each).ok_or(NotPlain);
        match **element {
            Kind::Int32 => Ok(Cell::Ints(cursor.bytes(size(4)?)?)),
            Kind::Uuid => Ok(Cell::Uuids(cursor.bytes(size(16)?)?)),
            _ => Err(NotPlain),
        }
    }
}
