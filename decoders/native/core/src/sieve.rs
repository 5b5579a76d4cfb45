//! Sound batches that have no record of a selection, and how many records the others have.
//!
//! Owns what is passed over: only batches that are plain, with every field of every record, or
//! whose header rules them out.

use crate::batch::{self, Header, Records};
use crate::fields::{Nothing, Sink, structure};
use crate::render::{Stop, Wanted};
use crate::table::{MESSAGE, Table};
use crate::wire::Cursor;
use crate::{NotPlain, Plain};

/// The records that matter. Everything that is set must hold.
#[derive(Clone, Default)]
pub struct Selected {
    pub wanted: Wanted,
    pub control: Option<bool>,
    /// A record has to have one of these values.
    pub values: Option<Values>,
    /// True if a header is enough to pass over a batch.
    pub by_header: bool,
    /// True if a batch counts as one, whatever is in it.
    pub counts_batches: bool,
}

/// Values of which a record has one.
#[derive(Clone, Default)]
pub struct Values {
    /// This number, or any, in a field or a list that has one of these labels: `"name":`.
    pub number: Option<i64>,
    pub labels: Vec<Vec<u8>>,
    /// In any field.
    pub uuids: Vec<[u8; 16]>,
    pub texts: Vec<Vec<u8>>,
}

pub struct Sieve {
    pub selected: Selected,
    /// The values of records of types that are learnt, in the batches that were read.
    pub learnt: Vec<Vec<u8>>,
    /// What the batches of the last `take` count.
    pub count: u64,
    table: Table,
    kinds: Vec<Kind>,
}

/// What a type's records are besides being selected.
#[derive(Clone, Copy)]
pub struct Kind {
    pub is_counted: bool,
    pub is_learnt: bool,
}

impl Sieve {
    pub fn new(selected: Selected) -> Self {
        let table = Table::new(false);
        Sieve { selected, learnt: Vec::new(), count: 0, table, kinds: Vec::new() }
    }

    /// Give a type its program.
    pub fn add(
        &mut self,
        api_key: u8,
        version: u8,
        program: &[u8],
        is_selected: bool,
        kind: Kind,
    ) -> Plain<()> {
        self.table.add(api_key, version, program, b"", is_selected)?;
        self.kinds.push(kind);
        Ok(())
    }

    /// Stop at this type.
    pub fn refuse(&mut self, api_key: u8, version: u8) -> Plain<()> {
        self.table.refuse(api_key, version)
    }

    /// Pass over the sound batches from `at` on that have nothing of the selection. `Full`: the
    /// next one has. It stops early where what was learnt may change the values to look for.
    pub fn skip(&mut self, data: &[u8], mut at: usize) -> (usize, Stop) {
        while at < data.len() {
            let Ok((header, batch)) = batch::at(data, at) else { return (at, Stop::NotPlain) };
            match self.look(&header, batch) {
                Ok(None) => {
                    at += header.size;
                    if !self.learnt.is_empty() && self.selected.values.is_some() {
                        return (at, Stop::End);
                    }
                }
                Ok(Some(_)) => return (at, Stop::Full),
                Err(stop) => return (at, stop),
            }
        }
        (at, Stop::End)
    }

    /// Count the batches from `at` on that have something of the selection, up to `most` or to the
    /// first that has nothing.
    pub fn take(&mut self, data: &[u8], mut at: usize, most: u64) -> (usize, Stop) {
        self.count = 0;
        while at < data.len() {
            if self.count >= most {
                return (at, Stop::Full);
            }
            let Ok((header, batch)) = batch::at(data, at) else { return (at, Stop::NotPlain) };
            match self.look(&header, batch) {
                Ok(Some(count)) => self.count += count,
                Ok(None) => return (at, Stop::Full),
                Err(stop) => return (at, stop),
            }
            at += header.size;
        }
        (at, Stop::End)
    }

    /// What a batch counts; None if nothing in it is selected.
    fn look(&mut self, header: &Header, batch: &[u8]) -> Result<Option<u64>, Stop> {
        let mark = self.learnt.len();
        let looked = self.read(header, batch);
        if looked.is_err() {
            self.learnt.truncate(mark);
        }
        looked
    }

    fn read(&mut self, header: &Header, batch: &[u8]) -> Result<Option<u64>, Stop> {
        let Selected { wanted, control, values, by_header, counts_batches } = &self.selected;
        let is_out = wanted.rules_out(header)
            || control.is_some_and(|control| header.is_control() != control);
        if is_out && *by_header {
            return Ok(None);
        }
        if !header.is_plain() {
            return Err(Stop::NotPlain);
        }
        // A plain batch has one time.
        let is_late = wanted.until.is_some_and(|until| header.max_timestamp > until);
        let (mut count, mut is_any) = (0, !wanted.by_record && !is_out);
        let mut records = Records::new(batch);
        for offset in (header.base_offset..).take(header.record_count as usize) {
            let record = records.next_record().map_err(|NotPlain| Stop::NotPlain)?;
            let number = self.table.find(record.value)?;
            let entry = self.table.entry(number);
            let mut cursor = Cursor::new(record.value, MESSAGE);
            let mut is_selected = entry.is_shown
                && !is_out
                && !is_late
                && wanted.first_offset.is_none_or(|first| offset >= first)
                && wanted.last_offset.is_none_or(|last| offset <= last);
            let read = match values {
                Some(values) if is_selected => {
                    let mut search = Search::new(std::slice::from_ref(values));
                    let read = structure(&entry.program, &mut cursor, &mut search);
                    is_selected = search.is_found;
                    read
                }
                _ => structure(&entry.program, &mut cursor, &mut Nothing),
            };
            if read.is_err() || !cursor.is_at_end() {
                return Err(Stop::NotPlain);
            }
            let kind = self.kinds[number];
            if kind.is_learnt {
                self.learnt.push(record.value.to_vec());
            }
            is_any |= is_selected;
            count += u64::from(is_selected && kind.is_counted);
        }
        if !records.is_at_end() {
            return Err(Stop::NotPlain);
        }
        Ok(is_any.then_some(if *counts_batches { 1 } else { count }))
    }
}

/// Looks for values; a record may have some of any choice.
pub struct Search<'a> {
    choices: &'a [Values],
    /// The choice in whose field it is, of which numbers count.
    labelled: Option<&'a Values>,
    pub is_found: bool,
}

impl<'a> Search<'a> {
    pub fn new(choices: &'a [Values]) -> Self {
        Search { choices, labelled: None, is_found: false }
    }
}

impl Sink for Search<'_> {
    fn raw(&mut self, text: &[u8]) {
        if text.ends_with(b":") {
            let label = text.strip_prefix(b",").unwrap_or(text);
            let is_label = |one: &Values| one.labels.iter().any(|one| one == label);
            self.labelled = self.choices.iter().find(|one| is_label(one));
        }
    }
    fn int(&mut self, value: i64) {
        self.is_found |=
            self.labelled.is_some_and(|one| one.number.is_none_or(|number| number == value));
    }
    fn double(&mut self, _: f64) -> Plain<()> {
        Ok(())
    }
    fn uuid(&mut self, value: &[u8; 16]) {
        self.is_found |= self.choices.iter().any(|one| one.uuids.contains(value));
    }
    fn text(&mut self, value: &str) {
        let is_text = |one: &Values| one.texts.iter().any(|one| one == value.as_bytes());
        self.is_found |= self.choices.iter().any(is_text);
    }
    fn bytes(&mut self, _: &[u8]) {}
    fn mask(&mut self) {}
    fn mark(&self) -> usize {
        0
    }
    fn take_back(&mut self, _: usize) {}
}
