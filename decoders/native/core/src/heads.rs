//! The numbers that identify plain batches, and how many records of each type they have.
//!
//! Owns the facts that follow from headers and frames. It reads no message: a record counts by its
//! frame, even if it cannot be decoded.

use crate::batch::{self, Header, Records};
use crate::table::frame;
use crate::{NotPlain, Plain};

/// Batches that follow on each other.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heads {
    /// Where each batch begins in the data.
    pub places: Vec<i64>,
    /// For each batch the bytes of its base offset, its epoch and its checksum.
    pub heads: Vec<u8>,
    /// For each batch the number of its types. For each type the api key and, in four bytes, the
    /// number of records.
    pub types: Vec<u8>,
    /// The number of records of each type in all of them.
    pub totals: Vec<(u8, u64)>,
}

/// Read the sound batches from `at` on. Stops at a multiple of `grid` offsets, at a batch that is not
/// plain, and, unless `is_whole`, before the last one. Returns how far it came.
pub fn read(data: &[u8], mut at: usize, grid: i64, is_whole: bool) -> (Heads, usize) {
    let (mut heads, mut types, mut block) = (Heads::default(), Vec::new(), None);
    while let Ok((header, batch)) = batch::at(data, at) {
        let its_block = header.base_offset / grid.max(1);
        let is_left = !is_whole && at + header.size == data.len();
        if is_left || *block.get_or_insert(its_block) != its_block {
            break;
        }
        types.clear();
        if !header.is_plain() || count(&header, batch, &mut types).is_err() {
            break;
        }
        heads.add(at as i64, batch, &types);
        at += header.size;
    }
    (heads, at)
}

/// Count the records of a batch by the api keys of their frames.
fn count(header: &Header, batch: &[u8], types: &mut Vec<(u8, u32)>) -> Plain<()> {
    let mut records = Records::new(batch);
    let mut last = 0;
    for _ in 0..header.record_count {
        let (api_key, _) = frame(records.next_record()?.value)?;
        if types.get(last).is_none_or(|it| it.0 != api_key) {
            let known = types.iter().position(|it| it.0 == api_key);
            last = known.unwrap_or(types.len());
            if known.is_none() {
                types.push((api_key, 0));
            }
        }
        types[last].1 += 1;
    }
    if records.is_at_end() { Ok(()) } else { Err(NotPlain) }
}

impl Heads {
    fn add(&mut self, at: i64, batch: &[u8], types: &[(u8, u32)]) {
        self.places.push(at);
        for part in [0..8, 12..16, 17..21] {
            self.heads.extend_from_slice(&batch[part]);
        }
        self.types.push(types.len() as u8);
        for (api_key, count) in types {
            self.types.push(*api_key);
            self.types.extend_from_slice(&count.to_be_bytes());
            match self.totals.iter_mut().find(|it| it.0 == *api_key) {
                Some(total) => total.1 += u64::from(*count),
                None => self.totals.push((*api_key, u64::from(*count))),
            }
        }
    }
}
