//! The Python module `kraftool.decoders._native`: `core`, as Python calls it.
//!
//! Owns the borders between both: who holds the interpreter's lock, and what a reason is called.

#![forbid(unsafe_code)]

mod columns;
mod heads;
mod rows;
mod shared;
mod stretches;
mod values;

use std::mem;
use std::sync::Mutex;

use bytes::Bytes;
use kraftool_core::batch;
use kraftool_core::check::Checker as CoreChecker;
use kraftool_core::places::{Cell, Piece, Places as CorePlaces, Read, Rules};
use kraftool_core::render::{Format, Renderer as CoreRenderer, Stop, Wanted};
use kraftool_core::sieve::{
    Kind as SievedKind, Selected, Sieve as CoreSieve, Values as SievedValues,
};
use kraftool_core::{NotPlain, Plain};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use pyo3_bytes::PyBytes as SharedBytes;

use crate::shared::{Shared, uuid_text, with};

/// Everything was read.
const END: i32 = -1;
/// The buffer is full enough.
const FULL: i32 = -2;
const NOT_PLAIN: i32 = -3;

/// A reason as Python has it: a frame without a program by its api key and version in one number.
fn reason(stop: Stop) -> i32 {
    match stop {
        Stop::End => END,
        Stop::Full => FULL,
        Stop::NotPlain => NOT_PLAIN,
        Stop::Unknown(api_key, version) => i32::from(api_key) << 8 | i32::from(version),
    }
}

fn checked<T>(plain: Plain<T>) -> PyResult<T> {
    plain.map_err(|NotPlain| PyValueError::new_err("not a program, or not a frame of three bytes"))
}

/// Have the core read bytes up to `end`, and let other threads run meanwhile.
fn read_to(
    py: Python<'_>,
    data: &[u8],
    end: usize,
    read: impl FnOnce(&[u8]) -> (usize, Stop) + Send,
) -> PyResult<(usize, i32)> {
    let beyond = || PyValueError::new_err("the end is beyond the bytes");
    let data = data.get(..end).ok_or_else(beyond)?;
    let (at, stop) = py.detach(|| read(data));
    Ok((at, reason(stop)))
}

/// How far sound batches go: the end, their number, one beyond the last offset, the last one's place.
#[pyfunction]
fn sound(py: Python<'_>, data: &[u8], at: usize, stop: usize) -> (usize, usize, i64, usize) {
    let found = py.detach(|| batch::sound(data, at, stop));
    (found.end, found.batches, found.next_offset, found.last)
}

#[pyclass]
struct Renderer {
    core: CoreRenderer,
    /// The memory of pieces that Python may still have. It is used again once Python has let go.
    pieces: Vec<Bytes>,
}

/// Pieces of one renderer that are kept to be used again.
const PIECES: usize = 4;

#[pymethods]
impl Renderer {
    #[new]
    #[pyo3(signature = (format, file, *, full, first_offset=None, last_offset=None, epoch=None, since=None, until=None, by_record=false, batches_only=false))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        format: &str,
        file: &[u8],
        full: usize,
        first_offset: Option<i64>,
        last_offset: Option<i64>,
        epoch: Option<i32>,
        since: Option<i64>,
        until: Option<i64>,
        by_record: bool,
        batches_only: bool,
    ) -> PyResult<Self> {
        let format = match format {
            "kafka" => Format::Kafka,
            "kafka-payloads" => Format::KafkaPayloads,
            "jsonl" => Format::JsonLines,
            "csv" => Format::Csv,
            "lines" => Format::Lines,
            _ => return Err(PyValueError::new_err("not a format")),
        };
        let wanted =
            Wanted { first_offset, last_offset, epoch, since, until, by_record, batches_only };
        let core = CoreRenderer::new(format, file.to_vec(), wanted, full);
        Ok(Renderer { core, pieces: Vec::new() })
    }

    /// Give a type the program that reads it.
    fn add(
        &mut self,
        api_key: u8,
        version: u8,
        program: &[u8],
        opening: &[u8],
        is_shown: bool,
    ) -> PyResult<()> {
        checked(self.core.table.add(api_key, version, program, opening, is_shown))
    }

    /// Stop at this type.
    fn refuse(&mut self, api_key: u8, version: u8) -> PyResult<()> {
        checked(self.core.table.refuse(api_key, version))
    }

    /// Render sound batches; returns how far it came and why it stopped.
    fn render(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        at: usize,
        end: usize,
        start: u64,
    ) -> PyResult<(usize, i32)> {
        if self.core.out.capacity() == 0
            && let Some(free) = self.pieces.iter().position(Bytes::is_unique)
        {
            let mut piece = self.pieces.swap_remove(free);
            piece.clear(); // else it is copied
            self.core.out = piece.into();
        }
        read_to(py, data, end, |data| self.core.render(data, at, start))
    }

    /// What the last call rendered: memory that is Python's to read, and that nothing is written to
    /// before Python has let go of it.
    fn take(&mut self) -> SharedBytes {
        let piece = Bytes::from(mem::take(&mut self.core.out));
        if self.pieces.len() < PIECES {
            self.pieces.push(piece.clone());
        }
        SharedBytes::new(piece)
    }
}

#[pyclass]
struct Sieve(CoreSieve);

#[pymethods]
impl Sieve {
    #[new]
    #[pyo3(signature = (*, first_offset=None, last_offset=None, epoch=None, since=None, until=None, control=None, by_record=false, by_header=true, counts_batches=false))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        first_offset: Option<i64>,
        last_offset: Option<i64>,
        epoch: Option<i32>,
        since: Option<i64>,
        until: Option<i64>,
        control: Option<bool>,
        by_record: bool,
        by_header: bool,
        counts_batches: bool,
    ) -> Self {
        let wanted = Wanted {
            first_offset,
            last_offset,
            epoch,
            since,
            until,
            by_record,
            batches_only: counts_batches,
        };
        let values = None;
        Sieve(CoreSieve::new(Selected { wanted, control, values, by_header, counts_batches }))
    }

    /// Records have to have one of these values from now on.
    fn look_for(
        &mut self,
        number: Option<i64>,
        labels: Vec<Vec<u8>>,
        uuids: Vec<[u8; 16]>,
        texts: Vec<Vec<u8>>,
    ) {
        self.0.selected.values = Some(SievedValues { number, labels, uuids, texts });
    }

    /// The values of records that were learnt since the last time.
    fn take_learnt<'py>(&mut self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.0.learnt.drain(..).map(|value| PyBytes::new(py, &value)).collect()
    }

    /// Give a type the program that reads it.
    fn add(
        &mut self,
        api_key: u8,
        version: u8,
        program: &[u8],
        is_selected: bool,
        is_counted: bool,
        is_learnt: bool,
    ) -> PyResult<()> {
        let kind = SievedKind { is_counted, is_learnt };
        checked(self.0.add(api_key, version, program, is_selected, kind))
    }

    /// Stop at this type.
    fn refuse(&mut self, api_key: u8, version: u8) -> PyResult<()> {
        checked(self.0.refuse(api_key, version))
    }

    /// Pass over sound batches that have nothing; returns how far it came and why it stopped.
    fn skip(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        at: usize,
        end: usize,
    ) -> PyResult<(usize, i32)> {
        read_to(py, data, end, |data| self.0.skip(data, at))
    }

    /// Count sound batches that have something; returns how far it came and why it stopped.
    fn take(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        at: usize,
        end: usize,
        most: u64,
    ) -> PyResult<(usize, i32)> {
        read_to(py, data, end, |data| self.0.take(data, at, most))
    }

    /// What the batches of the last `take` count.
    #[getter]
    fn count(&self) -> u64 {
        self.0.count
    }
}

#[pyclass]
struct Checker(CoreChecker);

#[pymethods]
impl Checker {
    #[new]
    fn new() -> Self {
        Checker(CoreChecker::default())
    }

    /// Give a type the program that reads it.
    fn add(&mut self, api_key: u8, version: u8, program: &[u8], is_watched: bool) -> PyResult<()> {
        checked(self.0.table.add(api_key, version, program, b"", is_watched))
    }

    /// Stop at this type.
    fn refuse(&mut self, api_key: u8, version: u8) -> PyResult<()> {
        checked(self.0.table.refuse(api_key, version))
    }

    /// Read sound batches field by field; returns how far it came and why it stopped.
    fn check(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        at: usize,
        end: usize,
        start: u64,
    ) -> PyResult<(usize, i32)> {
        read_to(py, data, end, |data| self.0.check(data, at, start))
    }

    /// Batches, records and the last time of the last call.
    #[getter]
    fn taken(&self) -> (u64, u64, i64) {
        (self.0.batches, self.0.records, self.0.last_timestamp)
    }

    /// The records of watched types since the last time: place, offset, time and value.
    fn take_watched<'py>(&mut self, py: Python<'py>) -> Vec<(u64, i64, i64, Bound<'py, PyBytes>)> {
        let taken = self.0.watched.drain(..);
        taken
            .map(|(place, offset, time, value)| (place, offset, time, PyBytes::new(py, &value)))
            .collect()
    }

    /// Of each type since the last time: api key, version, count, place and offset of the first.
    fn take_counts(&mut self) -> Vec<(u8, u8, u64, u64, i64)> {
        self.0.take_counts()
    }
}

/// Records that are left where they are: index and number of records, place and end in the batch,
/// group, number of the first, if they are as the newest writer writes them, and the checksum. One
/// other record: index, 0, place and end in the batch, and its value.
type PyPiece<'py> = (u32, u32, usize, usize, Bound<'py, PyAny>, i32, bool, u32);

/// Api key, version, program, the fields of the rules, if it is the newest, the fields of a row.
type PyLayout<'py> = (
    u8,
    u8,
    Bound<'py, PyBytes>,
    (usize, usize, usize, usize, Option<usize>),
    bool,
    Vec<Option<usize>>,
);

#[pyclass(frozen)]
struct Places {
    core: CorePlaces,
    shared: Mutex<Shared>,
}

#[pymethods]
impl Places {
    #[new]
    fn new(layouts: Vec<PyLayout<'_>>) -> PyResult<Self> {
        let mut core = CorePlaces::default();
        for (api_key, version, program, fields, is_newest, row) in layouts {
            let (group, number, choice, many, as_many) = fields;
            let rules = Rules { group, number, choice, many, as_many, is_newest };
            checked(core.add(api_key, version, program.as_bytes(), rules, row))?;
        }
        Ok(Places { core, shared: Mutex::default() })
    }

    /// The pieces of a plain batch, of at most so many records; None if it is not plain.
    fn find<'py>(
        &self,
        py: Python<'py>,
        batch: &[u8],
        most: u32,
    ) -> PyResult<Option<Vec<PyPiece<'py>>>> {
        let Ok(pieces) = py.detach(|| self.core.find(batch, most)) else { return Ok(None) };
        let made = pieces.into_iter().map(|piece| match piece {
            Piece::Placed { index, count, start, end, group, number, is_newest, crc } => {
                let group = uuid_text(py, &group).into_any();
                (index, count, start, end, group, number, is_newest, crc)
            }
            Piece::Other { index, start, end, value } => {
                (index, 0, start, end, PyBytes::new(py, value).into_any(), 0, false, 0)
            }
        });
        Ok(Some(made.collect()))
    }

    /// The rows of records that were found; None if their bytes have changed.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        data: &[u8],
        index: u32,
        count: u32,
        crc: u32,
    ) -> PyResult<Option<Vec<Bound<'py, PyTuple>>>> {
        let mut rows = Vec::with_capacity(count as usize);
        let mut failed = None;
        let read = with(&self.shared, |shared| {
            self.core.read(data, index, count, crc, |_, read| {
                match row(py, read, shared) {
                    Ok(row) => rows.push(row),
                    Err(error) => failed = Some(error),
                }
                if failed.is_none() { Ok(()) } else { Err(NotPlain) }
            })
        });
        match (read, failed) {
            (_, Some(error)) => Err(error),
            (Ok(()), _) => Ok(Some(rows)),
            (Err(NotPlain), _) => Ok(None),
        }
    }

    /// The bytes of the values of records that were found; None if they have changed.
    fn values<'py>(
        &self,
        py: Python<'py>,
        data: &[u8],
        index: u32,
        count: u32,
        crc: u32,
    ) -> Option<Vec<Bound<'py, PyBytes>>> {
        let mut values = Vec::with_capacity(count as usize);
        let read = self.core.read(data, index, count, crc, |value, _| {
            values.push(PyBytes::new(py, value));
            Ok(())
        });
        read.ok().map(|()| values)
    }
}

fn row<'py>(py: Python<'py>, read: &Read, shared: &mut Shared) -> PyResult<Bound<'py, PyTuple>> {
    let mut cells = Vec::with_capacity(read.layout.row.len());
    for field in &read.layout.row {
        cells.push(match checked(read.cell(*field))? {
            Cell::Int(value) => value.into_pyobject(py)?.into_any(),
            Cell::Nothing => PyTuple::empty(py).into_any(),
            Cell::Ints(elements) => shared.ints(py, elements)?.into_any(),
            Cell::Uuids(elements) => shared.uuids(py, elements)?.into_any(),
        });
    }
    PyTuple::new(py, cells)
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{Checker, Places, Renderer, Sieve, sound};

    #[pymodule_export]
    use super::columns::Columns;

    #[pymodule_export]
    use super::heads::read_heads;

    #[pymodule_export]
    use super::rows::{Changes, OpenRows, RowKinds, Rows};

    #[pymodule_export]
    use super::stretches::Stretches;

    #[pymodule_export]
    use super::values::Values;

    #[pymodule_export]
    const BUILD_ID: &str = env!("KRAFTOOL_BUILD_ID");
}
