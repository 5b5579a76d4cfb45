//! The Python module `kraftool.decoders._native`: `core`, as Python calls it.
//!
//! Owns the borders between both: who holds the interpreter's lock, and what a reason is called.

#![forbid(unsafe_code)]

mod values;

use kraftool_core::batch;
use kraftool_core::check::Checker as CoreChecker;
use kraftool_core::render::{Format, Renderer as CoreRenderer, Stop, Wanted};
use kraftool_core::table::Table;
use kraftool_core::{NotPlain, Plain};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

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

fn piece(data: &[u8], end: usize) -> PyResult<&[u8]> {
    data.get(..end).ok_or_else(|| PyValueError::new_err("the end is beyond the bytes"))
}

fn add(
    table: &mut Table,
    api_key: u8,
    version: u8,
    program: &[u8],
    opening: &[u8],
    is_shown: bool,
) -> PyResult<()> {
    checked(table.add(api_key, version, program, opening, is_shown))
}

/// How far sound batches go: the end, their number, one beyond the last offset, the last one's place.
#[pyfunction]
fn sound(py: Python<'_>, data: &[u8], at: usize, stop: usize) -> (usize, usize, i64, usize) {
    let found = py.detach(|| batch::sound(data, at, stop));
    (found.end, found.batches, found.next_offset, found.last)
}

#[pyclass]
struct Renderer(CoreRenderer);

#[pymethods]
impl Renderer {
    #[new]
    #[pyo3(signature = (format, file, *, full, first_offset=None, last_offset=None, epoch=None, since=None, until=None, by_record=false))]
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
    ) -> PyResult<Self> {
        let format = match format {
            "kafka" => Format::Kafka,
            "kafka-payloads" => Format::KafkaPayloads,
            "jsonl" => Format::JsonLines,
            "csv" => Format::Csv,
            _ => return Err(PyValueError::new_err("not a format")),
        };
        let wanted = Wanted { first_offset, last_offset, epoch, since, until, by_record };
        Ok(Renderer(CoreRenderer::new(format, file.to_vec(), wanted, full)))
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
        add(&mut self.0.table, api_key, version, program, opening, is_shown)
    }

    /// Stop at this type.
    fn refuse(&mut self, api_key: u8, version: u8) -> PyResult<()> {
        checked(self.0.table.refuse(api_key, version))
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
        let data = piece(data, end)?;
        let core = &mut self.0;
        let (at, stop) = py.detach(|| core.render(data, at, start));
        Ok((at, reason(stop)))
    }

    /// The size of what the last call rendered.
    #[getter]
    fn size(&self) -> usize {
        self.0.out.len()
    }

    /// Copy what the last call rendered into a buffer of that size.
    fn copy_to(&self, py: Python<'_>, target: &Bound<'_, PyAny>) -> PyResult<()> {
        PyBuffer::<u8>::get(target)?.copy_from_slice(py, &self.0.out)
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
    fn add(&mut self, api_key: u8, version: u8, program: &[u8]) -> PyResult<()> {
        add(&mut self.0.table, api_key, version, program, b"", true)
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
        let data = piece(data, end)?;
        let core = &mut self.0;
        let (at, stop) = py.detach(|| core.check(data, at, start));
        Ok((at, reason(stop)))
    }

    /// Batches, records and the last time of the last call.
    #[getter]
    fn taken(&self) -> (u64, u64, i64) {
        (self.0.batches, self.0.records, self.0.last_timestamp)
    }

    /// Of each type since the last time: api key, version, count, place and offset of the first.
    fn take_counts(&mut self) -> Vec<(u8, u8, u64, u64, i64)> {
        self.0.take_counts()
    }
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::{Checker, Renderer, sound};

    #[pymodule_export]
    use super::values::Values;

    #[pymodule_export]
    const BUILD_ID: &str = env!("KRAFTOOL_BUILD_ID");
}
