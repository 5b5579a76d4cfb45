//! Plain batches as Kafka's text, JSON lines or CSV.
//!
//! Owns the exact bytes, which are those of `kraftool/reports/logs/text.py`.

use crate::batch::{self, Header, Records};
use crate::fields::structure;
use crate::json::{Json, UuidTexts, push_int};
use crate::table::{MESSAGE, Missing, Table};
use crate::wire::Cursor;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Kafka,
    /// Kafka's text with the payloads only.
    KafkaPayloads,
    JsonLines,
    Csv,
    /// What is written before a message and the message, a line for each record.
    Lines,
}

/// The batches to write. One that is wanted in part is not plain.
#[derive(Clone, Copy, Default)]
pub struct Wanted {
    pub first_offset: Option<i64>,
    pub last_offset: Option<i64>,
    pub epoch: Option<i32>,
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// True if a batch without a wanted record is not shown itself.
    pub by_record: bool,
    /// True if only batches are written, and none of their records.
    pub batches_only: bool,
}

impl Wanted {
    /// True if a batch's header shows that nothing in it is wanted.
    pub fn rules_out(&self, header: &Header) -> bool {
        self.first_offset.is_some_and(|first| header.last_offset() < first)
            || self.last_offset.is_some_and(|last| header.base_offset > last)
            || self.epoch.is_some_and(|epoch| header.epoch != epoch)
            || self.since.is_some_and(|since| header.max_timestamp < since)
    }
}

/// Why reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Everything is read.
    End,
    /// The buffer is full enough; there is more.
    Full,
    NotPlain,
    Unknown(u8, u8),
}

impl From<Missing> for Stop {
    fn from(missing: Missing) -> Stop {
        match missing {
            Missing::NotPlain => Stop::NotPlain,
            Missing::Unknown(api_key, version) => Stop::Unknown(api_key, version),
        }
    }
}

pub struct Renderer {
    pub table: Table,
    pub out: Vec<u8>,
    format: Format,
    file: Vec<u8>,
    wanted: Wanted,
    full: usize,
    uuids: UuidTexts,
    /// What a batch has between the offset and the size of each of its records.
    between: Vec<u8>,
}

impl Renderer {
    /// `file` is the file's name as the format has it. A call stops after `full` bytes.
    pub fn new(format: Format, file: Vec<u8>, wanted: Wanted, full: usize) -> Self {
        let table = Table::new(format == Format::Csv);
        let (out, uuids, between) = Default::default();
        Renderer { table, out, format, file, wanted, full, uuids, between }
    }

    /// Write the sound batches from `at` to the end of `data`; `start` is the place of its first
    /// byte in the file. Returns how far it came, and why it stopped there.
    pub fn render(&mut self, data: &[u8], mut at: usize, start: u64) -> (usize, Stop) {
        self.out.clear();
        while at < data.len() {
            if self.out.len() >= self.full {
                return (at, Stop::Full);
            }
            let Ok((header, batch)) = batch::at(data, at) else { return (at, Stop::NotPlain) };
            let mark = self.out.len();
            if let Err(stop) = self.batch(&header, batch, start + at as u64) {
                self.out.truncate(mark);
                return (at, stop);
            }
            at += header.size;
        }
        (at, Stop::End)
    }

    fn batch(&mut self, header: &Header, batch: &[u8], position: u64) -> Result<(), Stop> {
        let wanted = self.wanted;
        if wanted.rules_out(header) {
            return Ok(());
        }
        if !header.is_plain()
            || wanted.first_offset.is_some_and(|first| header.base_offset < first)
            || wanted.last_offset.is_some_and(|end| header.last_offset() > end)
        {
            return Err(Stop::NotPlain);
        }
        let mark = self.out.len();
        self.opening(header, position);
        if wanted.batches_only && !wanted.by_record {
            return Ok(());
        }
        self.between.clear();
        field(&mut self.between, b" CreateTime: ", header.base_timestamp);
        self.between.extend_from_slice(b" keySize: -1 valueSize: ");
        let mut records = Records::new(batch);
        let mut is_shown = !wanted.by_record;
        for index in 0..header.record_count {
            let record = records.next_record().map_err(|_| Stop::NotPlain)?;
            let number = self.table.find(record.value)?;
            let before = self.out.len();
            self.record(header, position, i64::from(index), record.position, record.value, number)?;
            let is_selected = self.table.entry(number).is_shown;
            is_shown |= is_selected;
            if !is_selected || wanted.batches_only {
                self.out.truncate(before);
            }
        }
        if !records.is_at_end() {
            return Err(Stop::NotPlain);
        }
        // A plain batch has one time.
        if !is_shown || wanted.until.is_some_and(|until| header.max_timestamp > until) {
            self.out.truncate(mark);
        }
        Ok(())
    }

    fn record(
        &mut self,
        header: &Header,
        batch: u64,
        index: i64,
        position: usize,
        value: &[u8],
        number: usize,
    ) -> Result<(), Stop> {
        let (out, uuids) = (&mut self.out, &mut self.uuids);
        let offset = header.base_offset + index;
        let place = [
            (batch + position as u64) as i64,
            header.base_offset,
            offset,
            i64::from(header.epoch),
            header.base_timestamp,
        ];
        match self.format {
            Format::Kafka => {
                out.extend_from_slice(b"| offset: ");
                push_int(out, offset);
                out.extend_from_slice(&self.between);
                push_int(out, value.len() as i64);
            }
            Format::KafkaPayloads => out.push(b'|'),
            Format::JsonLines => {
                out.extend_from_slice(b"{\"kind\":\"record\",\"file\":");
                out.extend_from_slice(&self.file);
                fields(out, PLACE, place);
                out.extend_from_slice(b",\"control\":false,\"keySize\":-1");
                field(out, b",\"valueSize\":", value.len() as i64);
            }
            Format::Csv => {
                out.extend_from_slice(&self.file);
                fields(out, [b","; 5], place);
                out.extend_from_slice(b",false");
            }
            Format::Lines => {}
        }
        let entry = self.table.entry(number);
        out.extend_from_slice(&entry.opening);
        let mut cursor = Cursor::new(value, MESSAGE);
        let mark = out.len();
        let read = if self.format == Format::Csv {
            out.push(b'"');
            structure(&entry.program, &mut cursor, &mut Json::<true> { out, uuids })
        } else {
            structure(&entry.program, &mut cursor, &mut Json::<false> { out, uuids })
        };
        if read.is_err() || !cursor.is_at_end() {
            return Err(Stop::NotPlain);
        }
        if self.format == Format::Lines {
            out.push(b'\n');
        } else if self.format != Format::Csv {
            out.extend_from_slice(b"}\n");
        } else if out[mark..] == *b"\"{}" {
            // Nothing in it needs quotes.
            out.truncate(mark);
            out.extend_from_slice(b"{}\n");
        } else {
            out.extend_from_slice(b"\"\n");
        }
        Ok(())
    }

    fn opening(&mut self, header: &Header, position: u64) {
        let out = &mut self.out;
        match self.format {
            Format::Kafka | Format::KafkaPayloads => {
                field(out, b"baseOffset: ", header.base_offset);
                field(out, b" lastOffset: ", header.last_offset());
                field(out, b" count: ", i64::from(header.record_count));
                out.extend_from_slice(b" baseSequence: -1 lastSequence: -1 producerId: -1");
                field(out, b" producerEpoch: -1 partitionLeaderEpoch: ", i64::from(header.epoch));
                out.extend_from_slice(b" isTransactional: false isControl: false");
                field(out, b" deleteHorizonMs: OptionalLong.empty position: ", position as i64);
                field(out, b" CreateTime: ", header.max_timestamp);
                field(out, b" size: ", header.size as i64);
                field(out, b" magic: 2 compresscodec: none crc: ", i64::from(header.crc));
                out.extend_from_slice(b" isvalid: true\n");
            }
            Format::JsonLines => {
                out.extend_from_slice(b"{\"kind\":\"batch\",\"file\":");
                out.extend_from_slice(&self.file);
                field(out, b",\"position\":", position as i64);
                field(out, b",\"baseOffset\":", header.base_offset);
                field(out, b",\"lastOffset\":", header.last_offset());
                field(out, b",\"count\":", i64::from(header.record_count));
                field(out, b",\"epoch\":", i64::from(header.epoch));
                field(out, b",\"timestamp\":", header.max_timestamp);
                field(out, b",\"size\":", header.size as i64);
                out.extend_from_slice(b",\"magic\":2,\"compression\":\"none\",\"control\":false");
                field(out, b",\"crc\":", i64::from(header.crc));
                out.extend_from_slice(b",\"valid\":true}\n");
            }
            Format::Csv if self.wanted.batches_only => {
                out.extend_from_slice(&self.file);
                field(out, b",", position as i64);
                field(out, b",", header.base_offset);
                field(out, b",,", i64::from(header.epoch));
                field(out, b",", header.max_timestamp);
                out.extend_from_slice(b",false,BATCH,2,\"{");
                field(out, b"\"\"lastOffset\"\":", header.last_offset());
                field(out, b",\"\"count\"\":", i64::from(header.record_count));
                field(out, b",\"\"size\"\":", header.size as i64);
                field(out, b",\"\"crc\"\":", i64::from(header.crc));
                out.extend_from_slice(b",\"\"valid\"\":true}\"\n");
            }
            Format::Csv | Format::Lines => {}
        }
    }
}

/// The labels of a record's place in JSON lines.
const PLACE: [&[u8]; 5] =
    [b",\"position\":", b",\"baseOffset\":", b",\"offset\":", b",\"epoch\":", b",\"timestamp\":"];

fn fields<const N: usize>(out: &mut Vec<u8>, labels: [&[u8]; N], values: [i64; N]) {
    for (label, value) in labels.into_iter().zip(values) {
        field(out, label, value);
    }
}

fn field(out: &mut Vec<u8>, label: &[u8], value: i64) {
    out.extend_from_slice(label);
    push_int(out, value);
}
