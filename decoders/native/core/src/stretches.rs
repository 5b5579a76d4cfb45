//! Stretches of plain batches that have no watched record, each summed up as one.
//!
//! Owns where a stretch ends: at a watched record, at a multiple of so many offsets, where the epoch
//! changes and where no record was written for long. All of it follows from the batches, so that
//! every copy of a log has the same stretches.

use crate::batch::{self, Header, Records};
use crate::fields::{Nothing, structure};
use crate::render::Stop;
use crate::sieve::{Search, Values};
use crate::table::{MESSAGE, Table};
use crate::wire::Cursor;

/// What the records of a type are to a stretch.
#[derive(Clone, Default)]
pub enum Role {
    #[default]
    Passed,
    /// Each one is handed over.
    Watched,
    /// One is handed over if it has one of these numbers in a field.
    WatchedIf(Vec<Values>),
    Counted,
    /// As an idle leader writes them.
    Idle,
}

/// Batches that follow on each other, or a single one with watched or counted records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    pub base_offset: i64,
    pub last_offset: i64,
    pub epoch: i32,
    pub batches: u64,
    pub first_timestamp: i64,
    pub last_timestamp: i64,
    /// The longest time between two batches, and the shortest, which is negative where time goes
    /// back.
    pub longest_wait: i64,
    pub shortest_wait: i64,
    /// Batches with idle records, the time of the first and of the last of them, and the longest
    /// time between two.
    pub idle: u64,
    pub first_idle: i64,
    pub last_idle: i64,
    pub longest_idle_wait: i64,
    pub counted: u64,
    /// Of the checksums of all batches, in their order.
    pub digest: u64,
}

/// Offset and value of a watched record.
pub type Watched = (i64, Vec<u8>);

pub struct Stretches {
    table: Table,
    roles: Vec<Role>,
    /// A stretch does not go over a multiple of so many offsets.
    grid: i64,
    /// Nor over a longer time, in milliseconds, without a record, or without an idle one.
    longest: i64,
    /// The stretch that may go on.
    open: Option<Stretch>,
    pub watched: Vec<Watched>,
}

/// What a batch has.
#[derive(Default)]
struct Seen {
    counted: u64,
    is_idle: bool,
}

const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

impl Stretches {
    pub fn new(grid: u32, longest: u32) -> Self {
        Stretches {
            table: Table::new(false),
            roles: Vec::new(),
            grid: i64::from(grid.max(1)),
            longest: i64::from(longest),
            open: None,
            watched: Vec::new(),
        }
    }

    /// Give a type its program.
    pub fn add(
        &mut self,
        api_key: u8,
        version: u8,
        program: &[u8],
        role: Role,
    ) -> crate::Plain<()> {
        self.table.add(api_key, version, program, b"", true)?;
        self.roles.push(role);
        Ok(())
    }

    /// Stop at this type.
    pub fn refuse(&mut self, api_key: u8, version: u8) -> crate::Plain<()> {
        self.table.refuse(api_key, version)
    }

    /// Read the sound batches from `at` on, and go on with the open stretch. `Full`: it is over. At
    /// the end of the bytes it may go on.
    pub fn read(&mut self, data: &[u8], mut at: usize) -> (usize, Stop) {
        if self.open.is_none() {
            self.watched.clear();
        }
        while at < data.len() {
            let Ok((header, batch)) = batch::at(data, at) else { return (at, Stop::NotPlain) };
            if !header.is_plain() {
                return (at, Stop::NotPlain);
            }
            let is_alone = self.open.as_ref().is_some_and(|open| open.counted > 0);
            if is_alone || !self.watched.is_empty() {
                return (at, Stop::Full);
            }
            let seen = match self.look(&header, batch) {
                Ok(seen) => seen,
                Err(stop) => {
                    self.watched.clear();
                    return (at, stop);
                }
            };
            let is_told = seen.counted > 0 || !self.watched.is_empty();
            match &mut self.open {
                Some(open) if is_told || !open.goes_on(&header, &seen, self.grid, self.longest) => {
                    // The batch is read again, as the first of the next stretch.
                    self.watched.clear();
                    return (at, Stop::Full);
                }
                Some(open) => open.add(&header, &seen),
                None => self.open = Some(Stretch::of(&header, &seen)),
            }
            at += header.size;
        }
        (at, Stop::End)
    }

    /// The stretch that was read, which does not go on; None if there is none.
    pub fn close(&mut self) -> Option<Stretch> {
        self.open.take()
    }

    fn look(&mut self, header: &Header, batch: &[u8]) -> Result<Seen, Stop> {
        let mut seen = Seen::default();
        let mut records = Records::new(batch);
        for offset in (header.base_offset..).take(header.record_count as usize) {
            let record = records.next_record().map_err(|_| Stop::NotPlain)?;
            let number = self.table.find(record.value)?;
            let program = &self.table.entry(number).program;
            let mut cursor = Cursor::new(record.value, MESSAGE);
            let role = &self.roles[number];
            let choices = if let Role::WatchedIf(choices) = role { &choices[..] } else { &[] };
            let mut search = Search::new(choices);
            let read = if choices.is_empty() {
                structure(program, &mut cursor, &mut Nothing)
            } else {
                structure(program, &mut cursor, &mut search)
            };
            if read.is_err() || !cursor.is_at_end() {
                return Err(Stop::NotPlain);
            }
            seen.counted += u64::from(matches!(role, Role::Counted));
            seen.is_idle |= matches!(role, Role::Idle);
            if search.is_found || matches!(role, Role::Watched) {
                self.watched.push((offset, record.value.to_vec()));
            }
        }
        if records.is_at_end() { Ok(seen) } else { Err(Stop::NotPlain) }
    }
}

impl Stretch {
    fn of(header: &Header, seen: &Seen) -> Self {
        let mut made = Stretch {
            base_offset: header.base_offset,
            epoch: header.epoch,
            first_timestamp: header.base_timestamp,
            last_timestamp: header.base_timestamp,
            digest: FNV_START,
            ..Stretch::default()
        };
        made.add(header, seen);
        made
    }

    /// True if the batch belongs to the same stretch.
    fn goes_on(&self, header: &Header, seen: &Seen, grid: i64, longest: i64) -> bool {
        let waited = header.base_timestamp.saturating_sub(self.last_timestamp);
        let idle = header.base_timestamp.saturating_sub(self.last_idle);
        header.base_offset == self.last_offset + 1
            && header.epoch == self.epoch
            && header.base_offset / grid == self.base_offset / grid
            && (-longest..=longest).contains(&waited)
            && (!seen.is_idle || self.idle == 0 || (-longest..=longest).contains(&idle))
    }

    fn add(&mut self, header: &Header, seen: &Seen) {
        let waited = header.base_timestamp.saturating_sub(self.last_timestamp);
        self.longest_wait = self.longest_wait.max(waited);
        self.shortest_wait = self.shortest_wait.min(waited);
        self.last_timestamp = header.max_timestamp;
        self.last_offset = header.last_offset();
        self.batches += 1;
        self.counted += seen.counted;
        if seen.is_idle {
            if self.idle == 0 {
                self.first_idle = header.base_timestamp;
            } else {
                let waited = header.base_timestamp.saturating_sub(self.last_idle);
                self.longest_idle_wait = self.longest_idle_wait.max(waited);
            }
            self.idle += 1;
            self.last_idle = header.max_timestamp;
        }
        for byte in header.crc.to_be_bytes() {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
    }
}
