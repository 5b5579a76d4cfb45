//! Batches and the records in them.
//!
//! Owns which batches are sound (whole, with a right CRC, following on each other) and which of
//! those are plain: as a KRaft leader writes them.

use crate::wire::Cursor;
use crate::{NotPlain, Plain};

pub const HEADER_SIZE: usize = 61;
const LOG_OVERHEAD: usize = 12;
const CRC_START: usize = 21;
const CONTROL: i16 = 0x20;
const LARGEST_BATCH: i64 = 32 << 20;
/// Two numbers that are nearer to zero than this have a sum that fits an int64.
const FAR: i64 = 1 << 62;

#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub base_offset: i64,
    pub size: usize,
    pub epoch: i32,
    pub magic: u8,
    pub crc: u32,
    pub attributes: i16,
    pub last_offset_delta: i32,
    pub base_timestamp: i64,
    pub max_timestamp: i64,
    pub producer_id: i64,
    pub producer_epoch: i16,
    pub base_sequence: i32,
    pub record_count: i32,
}

impl Header {
    /// The header at a position. One that ends early, or has an impossible length, is not plain.
    pub fn read(data: &[u8], at: usize) -> Plain<Header> {
        let mut cursor = Cursor::new(data, at);
        let base_offset = i64::from_be_bytes(cursor.array()?);
        let length = i32::from_be_bytes(cursor.array()?);
        let size = i64::from(length) + LOG_OVERHEAD as i64;
        if size < HEADER_SIZE as i64 || size > LARGEST_BATCH {
            return Err(NotPlain);
        }
        Ok(Header {
            base_offset,
            size: size as usize,
            epoch: i32::from_be_bytes(cursor.array()?),
            magic: cursor.byte()?,
            crc: u32::from_be_bytes(cursor.array()?),
            attributes: i16::from_be_bytes(cursor.array()?),
            last_offset_delta: i32::from_be_bytes(cursor.array()?),
            base_timestamp: i64::from_be_bytes(cursor.array()?),
            max_timestamp: i64::from_be_bytes(cursor.array()?),
            producer_id: i64::from_be_bytes(cursor.array()?),
            producer_epoch: i16::from_be_bytes(cursor.array()?),
            base_sequence: i32::from_be_bytes(cursor.array()?),
            record_count: i32::from_be_bytes(cursor.array()?),
        })
    }

    pub fn last_offset(&self) -> i64 {
        self.base_offset.wrapping_add(i64::from(self.last_offset_delta))
    }

    pub fn is_control(&self) -> bool {
        self.attributes & CONTROL != 0
    }

    /// True if the header is one that a KRaft leader writes for metadata records.
    pub fn is_plain(&self) -> bool {
        self.magic == 2
            && (0..FAR).contains(&self.base_offset)
            && self.attributes == 0
            && self.record_count >= 1
            && self.last_offset_delta == self.record_count - 1
            && self.base_timestamp == self.max_timestamp
            && (self.producer_id, self.producer_epoch, self.base_sequence) == (-1, -1, -1)
    }
}

/// The header and the bytes of the batch at a position.
pub fn at(data: &[u8], position: usize) -> Plain<(Header, &[u8])> {
    let header = Header::read(data, position)?;
    let bytes = data.get(position..position + header.size).ok_or(NotPlain)?;
    Ok((header, bytes))
}

/// How far sound batches go.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Sound {
    pub end: usize,
    pub batches: usize,
    /// One beyond the last offset.
    pub next_offset: i64,
    /// Where the last batch begins.
    pub last: usize,
}

/// Batches from `start` on whose CRC is right and which follow on each other in one epoch. All of
/// them begin before `stop`.
pub fn sound(data: &[u8], start: usize, stop: usize) -> Sound {
    let mut found = Sound { end: start, last: start, ..Sound::default() };
    let mut epoch = None;
    while found.end < stop {
        let Ok((header, bytes)) = at(data, found.end) else { break };
        let fits = header.magic == 2
            && (0..FAR).contains(&header.base_offset)
            && header.last_offset_delta >= 0
            && (found.batches == 0 || header.base_offset == found.next_offset)
            && epoch.is_none_or(|epoch| epoch == header.epoch);
        if !fits || crc32c::crc32c(&bytes[CRC_START..]) != header.crc {
            break;
        }
        epoch = Some(header.epoch);
        found.last = found.end;
        found.end += header.size;
        found.batches += 1;
        found.next_offset = header.base_offset + i64::from(header.last_offset_delta) + 1;
    }
    found
}

/// One plain record: no key, no headers, no time of its own, at its place in the batch.
pub struct Record<'a> {
    /// In the batch.
    pub position: usize,
    pub value: &'a [u8],
}

/// The records of a plain batch, one after the other.
pub struct Records<'a> {
    batch: &'a [u8],
    cursor: Cursor<'a>,
    index: u32,
}

impl<'a> Records<'a> {
    pub fn new(batch: &'a [u8]) -> Self {
        Records { batch, cursor: Cursor::new(batch, HEADER_SIZE), index: 0 }
    }

    /// Some records of a batch without its header; the first of them has this index.
    pub fn at_index(data: &'a [u8], index: u32) -> Self {
        Records { batch: data, cursor: Cursor::new(data, 0), index }
    }

    /// The records of a batch from a position on, where the record of this index begins.
    pub fn resume(batch: &'a [u8], at: usize, index: u32) -> Self {
        Records { batch, cursor: Cursor::new(batch, at.max(HEADER_SIZE)), index }
    }

    /// Where the next record begins.
    pub fn at(&self) -> usize {
        self.cursor.at
    }

    pub fn next_record(&mut self) -> Plain<Record<'a>> {
        let position = self.cursor.at;
        let size = self.cursor.size()?;
        let stop = self.cursor.at.checked_add(size).ok_or(NotPlain)?;
        // Attributes 0, and a delta of 0 to the batch's time.
        if self.cursor.array()? != [0, 0] {
            return Err(NotPlain);
        }
        if self.cursor.size()? != self.index as usize || self.cursor.byte()? != 1 {
            return Err(NotPlain);
        }
        let size = self.cursor.size()?;
        let value = self.cursor.bytes(size)?;
        if self.cursor.byte()? != 0 || self.cursor.at != stop || stop > self.batch.len() {
            return Err(NotPlain);
        }
        self.index += 1;
        Ok(Record { position, value })
    }

    pub fn is_at_end(&self) -> bool {
        self.cursor.is_at_end()
    }
}
