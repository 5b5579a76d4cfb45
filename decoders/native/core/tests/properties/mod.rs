//! What holds of every log and of every program, whatever is in them.
//!
//! Shared by the random tests of the core and by the fuzzer that goes by coverage, `fuzz/`. Nothing
//! panics, nothing is read beyond the bytes, and what one reader accepts all others accept, whole
//! or in parts.

use kraftool_core::batch::{Header, sound};
use kraftool_core::cells::{Cells, Column};
use kraftool_core::check::Checker;
use kraftool_core::columns::{Columns, Wanted as WantedColumns};
use kraftool_core::heads;
use kraftool_core::places::{Piece, Places, Rules};
use kraftool_core::program::{Kind as FieldKind, Struct, parse};
use kraftool_core::render::{Format, Renderer, Stop, Wanted};
use kraftool_core::sieve::{Kind, Selected, Sieve};
use kraftool_core::stretches::{Role, Stretches};

const FORMATS: [Format; 5] =
    [Format::Kafka, Format::KafkaPayloads, Format::JsonLines, Format::Csv, Format::Lines];
const HEADER_SIZE: usize = 61;
const CRC_START: usize = 21;
/// Larger than everything that is looked at.
const ENOUGH: usize = 1 << 40;

/// Programs by api key and version, and a log that may have their records.
#[derive(Debug, Default)]
pub struct Case {
    pub programs: Vec<(u8, u8, Vec<u8>)>,
    pub log: Vec<u8>,
}

impl Case {
    /// The case that a fuzzer's bytes stand for: how many programs; of each api key, version, size
    /// in two bytes, and bytes; then the log, whose batches get the right checksums.
    #[allow(dead_code)]
    pub fn of(data: &[u8]) -> Option<Case> {
        let (count, mut rest) = data.split_first()?;
        let mut case = Case::default();
        for _ in 0..count % 4 {
            let ([api_key, version, high, low], after) = rest.split_first_chunk()?;
            let size = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
            let (program, after) = after.split_at(size);
            case.programs.push((*api_key, *version, program.to_vec()));
            rest = after;
        }
        case.log = rest.to_vec();
        seal(&mut case.log);
        Some(case)
    }
}

/// Give batches their right checksums, as far as their lengths lead.
#[allow(dead_code)]
fn seal(log: &mut [u8]) {
    let mut at = 0;
    while let Ok(header) = Header::read(log, at) {
        let Some(batch) = log.get_mut(at..at + header.size) else { return };
        let crc = crc32c::crc32c(&batch[CRC_START..]);
        batch[17..CRC_START].copy_from_slice(&crc.to_be_bytes());
        at += header.size;
    }
}

/// Panics if something does not hold; returns how many batches were taken.
pub fn check(case: &Case) -> u64 {
    for (_, _, program) in &case.programs {
        assert_eq!(parse(program, false).is_ok(), parse(program, true).is_ok());
    }
    let (data, mut at, mut taken) = (&case.log[..], 0, 0);
    while at < data.len() {
        let found = sound(data, at, data.len());
        assert!(found.end >= at && found.end <= data.len());
        assert!(found.batches == 0 || (at..found.end).contains(&found.last));
        if found.batches == 0 {
            at += 1;
            continue;
        }
        let reached = span(case, &data[..found.end], at);
        taken += u64::from(reached > at);
        // Python takes the batch that is left.
        let left = Header::read(data, reached).map_or(0, |header| header.size);
        at = if reached == found.end { reached } else { reached + left };
    }
    taken
}

/// Have all readers read a span of sound batches; returns how far they come.
fn span(case: &Case, data: &[u8], at: usize) -> usize {
    let mut checker = Checker::default();
    for (api_key, version, program) in &case.programs {
        let _ = checker.table.add(*api_key, *version, program, b"", true);
    }
    let (reached, stop) = checker.check(data, at, 0);
    assert!((at..=data.len()).contains(&reached));
    assert_eq!(stop == Stop::End, reached == data.len());
    let (batches, records) = (checker.batches, checker.records);
    assert_eq!(checker.watched.len() as u64, records, "all are watched");
    for format in FORMATS {
        rendered(case, format, data, at, reached);
    }
    let data = &data[..reached];
    sifted(case, data, at, records);
    stretched(case, data, at, batches, records);
    in_columns(case, data, at, records);
    headed(data, at, batches, records);
    let mut start = at;
    while let Ok(header) = Header::read(data, start) {
        placed(case, &data[start..start + header.size], header.record_count as u32);
        start += header.size;
    }
    assert_eq!(start, reached);
    reached
}

/// What is checked is text, the same whole and batch by batch; what is not may not be either.
fn rendered(case: &Case, format: Format, data: &[u8], at: usize, reached: usize) {
    let mut renderer = Renderer::new(format, b"\"f\"".to_vec(), Wanted::default(), ENOUGH);
    for (api_key, version, program) in &case.programs {
        let _ = renderer.table.add(*api_key, *version, program, b":", true);
    }
    let (end, _) = renderer.render(data, at, 0);
    assert!((at..=reached).contains(&end), "what is rendered can be read");
    let whole = std::mem::take(&mut renderer.out);
    assert!(std::str::from_utf8(&whole).is_ok());
    let (mut start, mut parts) = (at, Vec::new());
    while start < end {
        let stop = start + Header::read(data, start).expect("it was rendered").size;
        assert_eq!(renderer.render(&data[..stop], start, 0).0, stop, "a part of it is rendered");
        parts.extend_from_slice(&renderer.out);
        start = stop;
    }
    assert!(parts == whole, "parts are what the whole is");
}

/// Everything is selected, so that nothing is passed over and each record counts.
fn sifted(case: &Case, data: &[u8], at: usize, records: u64) {
    let mut sieve = Sieve::new(Selected { by_header: true, ..Selected::default() });
    for (api_key, version, program) in &case.programs {
        let kind = Kind { is_counted: true, is_learnt: true };
        let _ = sieve.add(*api_key, *version, program, true, kind);
    }
    assert_eq!(sieve.skip(data, at).0, at, "everything is selected");
    sieve.learnt.clear();
    assert_eq!(sieve.take(data, at, u64::MAX), (data.len(), Stop::End));
    assert_eq!(sieve.count, records, "each record counts once");
    assert_eq!(sieve.learnt.len() as u64, records);
}

/// All batches are in a stretch, in their order.
fn stretched(case: &Case, data: &[u8], start: usize, batches: u64, records: u64) {
    let mut stretches = Stretches::new(16, 1000);
    let mut watched = Stretches::new(16, 1000);
    for (api_key, version, program) in &case.programs {
        let _ = stretches.add(*api_key, *version, program, Role::Counted);
        let _ = watched.add(*api_key, *version, program, Role::Watched);
    }
    let (mut at, mut read, mut counted, mut next) = (start, 0, 0, None);
    while at < data.len() {
        let (reached, stop) = stretches.read(data, at);
        assert!(reached > at, "there is more");
        let stretch = stretches.close().expect("something was read");
        assert!(next.is_none_or(|offset| offset == stretch.base_offset));
        next = Some(stretch.last_offset + 1);
        (read, counted) = (read + stretch.batches, counted + stretch.counted);
        assert_eq!(stop == Stop::End, reached == data.len());
        at = reached;
    }
    assert_eq!((read, counted), (batches, records));
    (at, read) = (start, 0);
    while at < data.len() {
        at = watched.read(data, at).0;
        let stretch = watched.close().expect("something was read");
        assert_eq!(stretch.batches, 1, "a batch with a watched record is alone");
        read += watched.watched.len() as u64;
    }
    assert_eq!(read, records);
}

/// Each batch has a head, the last one only if it is asked for, and each record counts.
fn headed(data: &[u8], start: usize, batches: u64, records: u64) {
    let (mut at, mut read, mut counted) = (start, 0, 0);
    for is_whole in [false, true] {
        loop {
            let (heads, reached) = heads::read(data, at, 16, is_whole);
            if reached == at {
                break;
            }
            assert_eq!(heads.heads.len(), 16 * heads.places.len());
            assert_eq!(heads.places.first().copied(), i64::try_from(at).ok());
            read += heads.places.len() as u64;
            counted += heads.totals.iter().map(|total| total.1).sum::<u64>();
            at = reached;
        }
        assert_eq!(read + u64::from(!is_whole && batches > 0), batches);
    }
    assert_eq!((at, counted), (data.len(), records));
}

/// Each record is a row, and each of its fields a cell.
fn in_columns(case: &Case, data: &[u8], at: usize, records: u64) {
    let mut columns = Columns::new(WantedColumns {
        rows: true,
        checks: true,
        payloads: true,
        fields: true,
        full_rows: ENOUGH,
        full_bytes: ENOUGH,
        ..WantedColumns::default()
    });
    for (api_key, version, program) in &case.programs {
        let chosen = parse(program, false).map_or(0, |program| program.fields.len());
        let _ = columns.add(*api_key, *version, program, true, &vec![true; chosen]);
    }
    // A list within a list has no column, and a payload may not be text.
    let (reached, _) = columns.read(data, at, 0);
    let (rows, fields) = columns.take();
    assert!((at..=data.len()).contains(&reached));
    assert!(rows.records.count as u64 <= records);
    assert_eq!(reached == data.len(), rows.records.count as u64 == records);
    assert_eq!(fields.iter().map(|(_, of)| of.rows).sum::<usize>(), rows.records.count);
    for (_, of_type) in &fields {
        for column in of_type.columns.iter().flatten() {
            assert_rows(column, of_type.rows);
        }
    }
}

/// The buffers have a cell for each row, and what lists and structs are made of.
fn assert_rows(column: &Column, rows: usize) {
    assert_eq!(column.count, rows);
    let last = |ends: &[u8]| {
        let four = ends.last_chunk::<4>().copied().unwrap_or_default();
        usize::try_from(i32::from_ne_bytes(four)).expect("no end is negative")
    };
    match &column.cells {
        Cells::Flags(bits) => assert_eq!(bits.bytes.len(), rows.div_ceil(8)),
        Cells::Numbers(width, numbers) => assert_eq!(numbers.len(), width * rows),
        Cells::Text { ends, data } => {
            assert_eq!((ends.len(), last(ends)), (4 * rows, data.len()));
        }
        Cells::List { ends, elements } => {
            assert_eq!(ends.len(), 4 * rows);
            assert_rows(elements, last(ends));
        }
        Cells::Parts(parts) => parts.iter().for_each(|part| assert_rows(part, rows)),
    }
}

/// The pieces of a batch have all of its bytes, and what was found can be read.
fn placed(case: &Case, batch: &[u8], count: u32) {
    let mut places = Places::default();
    for (api_key, version, program) in &case.programs {
        if let Ok(program_read) = parse(program, false)
            && let Some((rules, row)) = rules(&program_read)
        {
            let _ = places.add(*api_key, *version, program, rules, row);
        }
    }
    let pieces = places.find(batch, 3).expect("it is plain");
    let (mut at, mut next) = (HEADER_SIZE, 0);
    for piece in pieces {
        let (index, many, start, end) = match piece {
            Piece::Placed { index, count, start, end, crc, .. } => {
                let mut read = 0;
                let take = |_: &[u8], record: &kraftool_core::places::Read| {
                    read += 1;
                    for field in &record.layout.row {
                        let _ = record.cell(*field);
                    }
                    Ok(())
                };
                assert!(places.read(&batch[start..end], index, count, crc, take).is_ok());
                assert_eq!(read, count);
                assert!((1..=3).contains(&count));
                (index, count, start, end)
            }
            Piece::Other { index, start, end, .. } => (index, 1, start, end),
        };
        assert_eq!((index, start), (next, at));
        (next, at) = (index + many, end);
    }
    assert_eq!((next, at), (count, batch.len()));
}

/// Rules for the first fields of a program that fit.
fn rules(program: &Struct) -> Option<(Rules, Vec<Option<usize>>)> {
    let first = |is: fn(&FieldKind) -> bool| program.fields.iter().position(|it| is(&it.kind));
    let rules = Rules {
        group: first(|kind| matches!(kind, FieldKind::Uuid))?,
        number: first(|kind| matches!(kind, FieldKind::Int32))?,
        choice: first(|kind| matches!(kind, FieldKind::Int8))?,
        many: first(|kind| matches!(kind, FieldKind::Array(_)))?,
        as_many: None,
        is_newest: true,
    };
    Some((rules, (0..program.fields.len()).map(Some).chain([None]).collect()))
}
