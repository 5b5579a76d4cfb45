//! Plain batches read field by field and counted, with nothing written.

use crate::batch::{self, Header, Records};
use crate::fields::{Nothing, structure};
use crate::render::Stop;
use crate::table::{MESSAGE, Table};
use crate::wire::Cursor;

pub struct Checker {
    pub table: Table,
    /// Records of the batches that the last call took.
    pub records: u64,
    pub batches: u64,
    pub last_timestamp: i64,
    /// The records of watched types in the batches that were taken.
    pub watched: Vec<Watched>,
    /// The entry and the place of each record of the batch that is being read.
    seen: Vec<(usize, usize)>,
}

/// Place, offset and time of a record, and its value.
pub type Watched = (u64, i64, i64, Vec<u8>);

/// The records of one type that a call took: api key, version, count, place and offset of the first.
pub type Seen = (u8, u8, u64, u64, i64);

impl Default for Checker {
    fn default() -> Self {
        Checker {
            table: Table::new(false),
            records: 0,
            batches: 0,
            last_timestamp: 0,
            watched: Vec::new(),
            seen: Vec::new(),
        }
    }
}

impl Checker {
    /// Read the sound batches from `at` on; `start` is the place of the first byte in the file.
    pub fn check(&mut self, data: &[u8], mut at: usize, start: u64) -> (usize, Stop) {
        (self.records, self.batches) = (0, 0);
        while at < data.len() {
            let Ok((header, batch)) = batch::at(data, at) else { return (at, Stop::NotPlain) };
            if !header.is_plain() {
                return (at, Stop::NotPlain);
            }
            let mark = self.watched.len();
            if let Err(stop) = self.look(&header, batch, start + at as u64) {
                self.watched.truncate(mark);
                return (at, stop);
            }
            self.count(&header, start + at as u64);
            self.batches += 1;
            self.records += header.record_count as u64;
            self.last_timestamp = header.max_timestamp;
            at += header.size;
        }
        (at, Stop::End)
    }

    fn look(&mut self, header: &Header, batch: &[u8], position: u64) -> Result<(), Stop> {
        self.seen.clear();
        let mut records = Records::new(batch);
        for offset in (header.base_offset..).take(header.record_count as usize) {
            let record = records.next_record().map_err(|_| Stop::NotPlain)?;
            let number = self.table.find(record.value)?;
            let mut cursor = Cursor::new(record.value, MESSAGE);
            let read = structure(&self.table.entry(number).program, &mut cursor, &mut Nothing);
            if read.is_err() || !cursor.is_at_end() {
                return Err(Stop::NotPlain);
            }
            self.seen.push((number, record.position));
            // Of these records the values matter.
            if self.table.entry(number).is_shown {
                let place = position + record.position as u64;
                let value = record.value.to_vec();
                self.watched.push((place, offset, header.base_timestamp, value));
            }
        }
        if records.is_at_end() { Ok(()) } else { Err(Stop::NotPlain) }
    }

    /// Count the records of the batch that `look` found to be plain.
    fn count(&mut self, header: &Header, position: u64) {
        for (offset, (number, place)) in (header.base_offset..).zip(&self.seen) {
            let entry = self.table.entry_mut(*number);
            if entry.count == 0 {
                entry.first = (position + *place as u64, offset);
            }
            entry.count += 1;
        }
    }

    /// What was counted since the last time, by type.
    pub fn take_counts(&mut self) -> Vec<Seen> {
        let known: Vec<_> = self.table.known().collect();
        let mut seen = Vec::new();
        for (api_key, version, number) in known {
            let entry = self.table.entry_mut(number);
            if entry.count > 0 {
                seen.push((api_key, version, entry.count, entry.first.0, entry.first.1));
                entry.count = 0;
            }
        }
        seen
    }
}
