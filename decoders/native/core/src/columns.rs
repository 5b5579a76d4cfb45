//! Plain batches as columns, in the buffers that Arrow has: values, offsets, and bits for nulls.
//!
//! Owns the rows: one for each batch, one for each record, and one for each record of a type with
//! its fields. A batch that is not plain leaves no trace in them. What a value is, `fields.rs` says.

use crate::batch::{self, Header};
use crate::cells::Column;
use crate::fields::{self, Nothing, Sink, structure};
use crate::json::{Json, UuidTexts};
use crate::program::{Field, Kind, MOST_FIELDS, Struct};
use crate::render::Stop;
use crate::table::{MESSAGE, Table};
use crate::wire::Cursor;
use crate::{NotPlain, Plain};

/// The largest offset into a buffer that a column of text can have.
const LARGEST: usize = i32::MAX as usize;

/// What is wanted of a log. Batches that are wanted in part are not plain.
#[derive(Clone, Copy, Default)]
pub struct Wanted {
    /// Rows of records; without them the records are only checked.
    pub rows: bool,
    /// Each record is read, whether it is wanted or not.
    pub checks: bool,
    /// Nothing is known of a record but its frame.
    pub frames_only: bool,
    pub payloads: bool,
    /// Columns of the fields of each type.
    pub fields: bool,
    pub first_epoch: Option<i32>,
    pub last_epoch: Option<i32>,
    pub first_offset: Option<i64>,
    pub last_offset: Option<i64>,
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// Rows and bytes after which a call stops.
    pub full_rows: usize,
    pub full_bytes: usize,
}

/// Native numbers one after the other.
#[derive(Default)]
pub struct Numbers(pub Vec<u8>);

impl Numbers {
    fn int(&mut self, value: i32) {
        self.0.extend_from_slice(&value.to_ne_bytes());
    }

    fn long(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_ne_bytes());
    }
}

/// A row for each batch of which a record is a row.
#[derive(Default)]
pub struct BatchRows {
    pub count: usize,
    pub position: Numbers,
    pub base_offset: Numbers,
    pub record_count: Numbers,
    pub epoch: Numbers,
    pub timestamp: Numbers,
    pub size: Numbers,
    pub crc: Numbers,
}

/// A row for each record.
#[derive(Default)]
pub struct RecordRows {
    pub count: usize,
    /// The row of its batch.
    pub batch: Numbers,
    pub position: Numbers,
    pub offset: Numbers,
    /// The number of its type and version.
    pub entry: Numbers,
    pub value_size: Numbers,
    pub payload_ends: Numbers,
    pub payloads: Vec<u8>,
}

/// What the calls since the last time came to.
#[derive(Default)]
pub struct Rows {
    pub batches: BatchRows,
    pub records: RecordRows,
    /// Of the batches.
    pub bytes: usize,
}

/// The records of one type and version, with a column for each field that is wanted.
pub struct Fields {
    pub rows: usize,
    pub columns: Vec<Option<Column>>,
}

pub struct Columns {
    table: Table,
    wanted: Wanted,
    /// By the number of an entry.
    pub fields: Vec<Fields>,
    pub rows: Rows,
    /// The entries of the records of the batch that is being read.
    seen: Vec<usize>,
    uuids: UuidTexts,
}

impl Columns {
    pub fn new(wanted: Wanted) -> Self {
        let (fields, rows, seen, uuids) = Default::default();
        Columns { table: Table::new(false), wanted, fields, rows, seen, uuids }
    }

    /// Give a type the program that reads it. `chosen` are the fields that become columns.
    pub fn add(
        &mut self,
        api_key: u8,
        version: u8,
        program: &[u8],
        is_shown: bool,
        chosen: &[bool],
    ) -> Plain<()> {
        self.table.add(api_key, version, program, b"", is_shown)?;
        let fields = &self.table.entry(self.fields.len()).program.fields;
        if self.wanted.fields && chosen.len() != fields.len() {
            return Err(NotPlain);
        }
        let column = |(field, chosen): (&Field, &bool)| chosen.then(|| Column::of(&field.kind));
        let columns = fields.iter().zip(chosen).map(column).collect();
        self.fields.push(Fields { rows: 0, columns });
        Ok(())
    }

    /// Stop at this type.
    pub fn refuse(&mut self, api_key: u8, version: u8) -> Plain<()> {
        self.table.refuse(api_key, version)
    }

    /// The program of an entry.
    pub fn program(&self, number: usize) -> &Struct {
        &self.table.entry(number).program
    }

    /// Take the rows, and begin without any.
    pub fn take(&mut self) -> (Rows, Vec<(usize, Fields)>) {
        let mut fields = Vec::new();
        for (number, of_type) in self.fields.iter_mut().enumerate() {
            if of_type.rows > 0 {
                let program = &self.table.entry(number).program;
                let again = |(column, field): (&Option<Column>, &Field)| {
                    column.as_ref().map(|_| Column::of(&field.kind))
                };
                let columns = of_type.columns.iter().zip(&program.fields).map(again).collect();
                let empty = Fields { rows: 0, columns };
                fields.push((number, std::mem::replace(of_type, empty)));
            }
        }
        (std::mem::take(&mut self.rows), fields)
    }

    /// Read the sound batches from `at` to the end of `data`; `start` is the place of its first
    /// byte in the file. Returns how far it came, and why it stopped there.
    pub fn read(&mut self, data: &[u8], mut at: usize, start: u64) -> (usize, Stop) {
        while at < data.len() {
            let rows = &self.rows;
            let is_full = rows.records.count >= self.wanted.full_rows
                || rows.records.payloads.len().max(rows.bytes) >= self.wanted.full_bytes;
            if is_full {
                return (at, Stop::Full);
            }
            let Ok((header, batch)) = batch::at(data, at) else { return (at, Stop::NotPlain) };
            let before = (self.rows.records.count, self.rows.records.payloads.len());
            self.seen.clear();
            if let Err(stop) = self.batch(&header, batch, start + at as u64) {
                self.take_back(before);
                return (at, stop);
            }
            for number in &self.seen {
                self.fields[*number].rows += 1;
            }
            at += header.size;
        }
        (at, Stop::End)
    }

    fn batch(&mut self, header: &Header, batch: &[u8], position: u64) -> Result<(), Stop> {
        let wanted = self.wanted;
        let (first, last) = (header.base_offset, header.last_offset());
        let is_out = wanted.first_epoch.is_some_and(|epoch| header.epoch < epoch)
            || wanted.last_epoch.is_some_and(|epoch| header.epoch > epoch)
            || wanted.first_offset.is_some_and(|offset| last < offset)
            || wanted.last_offset.is_some_and(|offset| first > offset)
            || wanted.since.is_some_and(|since| header.max_timestamp < since);
        if is_out && !wanted.checks {
            return Ok(());
        }
        let is_cut = wanted.first_offset.is_some_and(|offset| first < offset)
            || wanted.last_offset.is_some_and(|offset| last > offset);
        if !header.is_plain() || (is_cut && !is_out) {
            return Err(Stop::NotPlain);
        }
        // A plain batch has one time.
        let is_late = wanted.until.is_some_and(|until| header.max_timestamp > until);
        let is_shown = wanted.rows && !is_out && !is_late;
        let before = self.rows.records.count;
        let mut records = batch::Records::new(batch);
        for index in 0..header.record_count {
            let record = records.next_record().map_err(|_| Stop::NotPlain)?;
            let number = self.record(record.value, is_shown)?;
            if let Some(number) = number {
                let batches = self.rows.batches.count;
                let rows = &mut self.rows.records;
                rows.count += 1;
                rows.batch.int(batches as i32);
                rows.position.long((position + record.position as u64) as i64);
                rows.offset.long(first + i64::from(index));
                rows.entry.int(number as i32);
                rows.value_size.int(record.value.len() as i32);
                rows.payload_ends.int(rows.payloads.len() as i32);
            }
        }
        if !records.is_at_end() {
            return Err(Stop::NotPlain);
        }
        if self.rows.records.count > before {
            let rows = &mut self.rows.batches;
            rows.count += 1;
            rows.position.long(position as i64);
            rows.base_offset.long(first);
            rows.record_count.int(header.record_count);
            rows.epoch.int(header.epoch);
            rows.timestamp.long(header.max_timestamp);
            rows.size.long(header.size as i64);
            rows.crc.long(i64::from(header.crc));
            self.rows.bytes += header.size;
        }
        Ok(())
    }

    /// Read one record; returns the number of its entry if it becomes a row.
    fn record(&mut self, value: &[u8], is_shown: bool) -> Result<Option<usize>, Stop> {
        let wanted = self.wanted;
        if wanted.frames_only {
            return Ok(is_shown.then_some(0));
        }
        let number = self.table.find(value)?;
        let entry = self.table.entry(number);
        let is_shown = is_shown && entry.is_shown;
        if !is_shown && !wanted.checks {
            return Ok(None);
        }
        let read = |sink: &mut dyn FnMut(&mut Cursor) -> Plain<()>| {
            let mut cursor = Cursor::new(value, MESSAGE);
            sink(&mut cursor)?;
            if cursor.is_at_end() { Ok(()) } else { Err(NotPlain) }
        };
        let program = &entry.program;
        let is_read = (|| {
            if is_shown && wanted.fields {
                self.seen.push(number);
                let columns = &mut self.fields[number].columns;
                read(&mut |cursor| message(program, columns, cursor))?;
            }
            if is_shown && wanted.payloads {
                let (out, uuids) = (&mut self.rows.records.payloads, &mut self.uuids);
                let mut json = Json::<false> { out, uuids };
                read(&mut |cursor| structure(program, cursor, &mut json))?;
                let out = &self.rows.records.payloads;
                return if out.len() > LARGEST { Err(NotPlain) } else { Ok(()) };
            }
            if is_shown && wanted.fields {
                return Ok(());
            }
            read(&mut |cursor| structure(program, cursor, &mut Nothing))
        })();
        is_read.map_err(|NotPlain| Stop::NotPlain)?;
        Ok(is_shown.then_some(number))
    }

    /// Forget the rows of a batch that was not read to its end.
    fn take_back(&mut self, (count, payloads): (usize, usize)) {
        let rows = &mut self.rows.records;
        rows.count = count;
        rows.payloads.truncate(payloads);
        for numbers in
            [&mut rows.batch, &mut rows.entry, &mut rows.value_size, &mut rows.payload_ends]
        {
            numbers.0.truncate(4 * count);
        }
        for numbers in [&mut rows.position, &mut rows.offset] {
            numbers.0.truncate(8 * count);
        }
        for number in &self.seen {
            let of_type = &mut self.fields[*number];
            for column in of_type.columns.iter_mut().flatten() {
                column.truncate(of_type.rows);
            }
        }
    }
}

/// Read a message into its columns; of fields without one only their form is checked.
fn message(program: &Struct, columns: &mut [Option<Column>], cursor: &mut Cursor) -> Plain<()> {
    let mut reader = Reader::new(program);
    reader.all(cursor, columns.len(), |reader, index, cursor| match &mut columns[index] {
        Some(column) => reader.field(index, column, cursor),
        None => reader.passed(index, cursor),
    })?;
    for (index, column) in columns.iter_mut().enumerate() {
        if let (true, Some(column)) = (reader.is_left_out(index), column) {
            column.null();
        }
    }
    Ok(())
}

/// Read a struct within a message.
fn inner(program: &Struct, columns: &mut [Column], cursor: &mut Cursor) -> Plain<()> {
    let mut reader = Reader::new(program);
    reader.all(cursor, columns.len(), |reader, index, cursor| {
        reader.field(index, &mut columns[index], cursor)
    })?;
    for (index, column) in columns.iter_mut().enumerate() {
        if reader.is_left_out(index) {
            column.null();
        }
    }
    Ok(())
}

/// Reads the fields of one struct.
struct Reader<'a> {
    program: &'a Struct,
    /// Where each field begins, of a struct in which other fields decide if a value is shown.
    starts: [usize; MOST_FIELDS],
    /// The tagged fields that are there, a bit for each field.
    tagged: u64,
}

impl<'a> Reader<'a> {
    fn new(program: &'a Struct) -> Self {
        Reader { program, starts: [0; MOST_FIELDS], tagged: 0 }
    }

    fn all(
        &mut self,
        cursor: &mut Cursor,
        columns: usize,
        mut read: impl FnMut(&Self, usize, &mut Cursor) -> Plain<()>,
    ) -> Plain<()> {
        let program = self.program;
        if columns != program.fields.len() {
            return Err(NotPlain);
        }
        for (index, _) in program.fields.iter().enumerate().filter(|(_, field)| !field.is_tagged) {
            self.starts[index] = cursor.at;
            read(self, index, cursor)?;
        }
        let count = cursor.unsigned()?;
        if count > 0 && program.is_guarded {
            return Err(NotPlain);
        }
        let mut lowest = 0;
        for _ in 0..count {
            let (index, end) = program.tag(&mut lowest, cursor)?;
            read(self, index, cursor)?;
            if cursor.at != end {
                return Err(NotPlain);
            }
            self.tagged |= 1 << index;
        }
        Ok(())
    }

    fn field(&self, index: usize, column: &mut Column, cursor: &mut Cursor) -> Plain<()> {
        let field = &self.program.fields[index];
        if let Kind::Guarded(guard) = &field.kind {
            return fields::guarded(guard, &self.starts, field.is_nullable, cursor, column);
        }
        value(&field.kind, field.is_nullable, column, cursor)
    }

    fn passed(&self, index: usize, cursor: &mut Cursor) -> Plain<()> {
        let field = &self.program.fields[index];
        if let Kind::Guarded(guard) = &field.kind {
            return fields::guarded(guard, &self.starts, field.is_nullable, cursor, &mut Nothing);
        }
        fields::value(&field.kind, field.is_nullable, cursor, &mut Nothing)
    }

    /// True if a field stands at its default, which no writer writes.
    fn is_left_out(&self, index: usize) -> bool {
        self.program.fields[index].is_tagged && self.tagged >> index & 1 == 0
    }
}

fn value(kind: &Kind, is_nullable: bool, column: &mut Column, cursor: &mut Cursor) -> Plain<()> {
    match kind {
        Kind::Array(element) => {
            let Some(count) = cursor.length()? else {
                if !is_nullable {
                    return Err(NotPlain);
                }
                column.null();
                return Ok(());
            };
            let elements = column.elements()?;
            for _ in 0..count {
                value(element, false, elements, cursor)?;
            }
            column.end_list(LARGEST)
        }
        Kind::Struct(program) => {
            if is_nullable && cursor.is_null()? {
                column.null();
                return Ok(());
            }
            inner(program, column.parts()?, cursor)?;
            column.end_struct();
            Ok(())
        }
        _ => {
            fields::value(kind, is_nullable, cursor, column)?;
            column.checked(LARGEST)
        }
    }
}
