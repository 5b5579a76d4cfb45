//! Rows of plain batches as the buffers of Arrow's columns.

use kraftool_core::cells::{Cells, Column};
use kraftool_core::columns::{Columns as CoreColumns, Fields, Numbers, Wanted};
use kraftool_core::program::{Kind, Struct};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use crate::{checked, read_to};

/// Reads spans, and gives their rows column by column.
#[pyclass]
pub struct Columns(CoreColumns);

#[pymethods]
impl Columns {
    #[new]
    #[pyo3(signature = (
        *, full_rows, full_bytes, rows=true, checks=true, frames_only=false, payloads=false,
        fields=false, first_epoch=None, last_epoch=None, first_offset=None, last_offset=None,
        since=None, until=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        full_rows: usize,
        full_bytes: usize,
        rows: bool,
        checks: bool,
        frames_only: bool,
        payloads: bool,
        fields: bool,
        first_epoch: Option<i32>,
        last_epoch: Option<i32>,
        first_offset: Option<i64>,
        last_offset: Option<i64>,
        since: Option<i64>,
        until: Option<i64>,
    ) -> Self {
        Columns(CoreColumns::new(Wanted {
            rows,
            checks,
            frames_only,
            payloads,
            fields,
            first_epoch,
            last_epoch,
            first_offset,
            last_offset,
            since,
            until,
            full_rows,
            full_bytes,
        }))
    }

    /// Give a type the program that reads it, and say which of its fields become columns.
    fn add(
        &mut self,
        api_key: u8,
        version: u8,
        program: &[u8],
        is_shown: bool,
        chosen: Vec<bool>,
    ) -> PyResult<()> {
        checked(self.0.add(api_key, version, program, is_shown, &chosen))
    }

    /// Stop at this type.
    fn refuse(&mut self, api_key: u8, version: u8) -> PyResult<()> {
        checked(self.0.refuse(api_key, version))
    }

    /// Read sound batches; returns how far it came and why it stopped.
    fn read(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        at: usize,
        end: usize,
        start: u64,
    ) -> PyResult<(usize, i32)> {
        read_to(py, data, end, |data| self.0.read(data, at, start))
    }

    /// Of the rows since the last `take`: how many records, batches, and bytes of batches.
    #[getter]
    fn counts(&self) -> (usize, usize, usize) {
        (self.0.rows.records.count, self.0.rows.batches.count, self.0.rows.bytes)
    }

    /// The buffers of batches, of records, and of the fields of each type; all of them are empty
    /// afterwards.
    fn take<'py>(&mut self, py: Python<'py>) -> PyResult<Taken<'py>> {
        let (rows, fields) = self.0.take();
        let buffer = |numbers: &Numbers| PyBytes::new(py, &numbers.0);
        let batches = &rows.batches;
        let of_batches = PyTuple::new(
            py,
            [
                &batches.position,
                &batches.base_offset,
                &batches.record_count,
                &batches.epoch,
                &batches.timestamp,
                &batches.size,
                &batches.crc,
            ]
            .map(buffer),
        )?;
        let records = &rows.records;
        let mut of_records: Vec<_> = [
            &records.batch,
            &records.position,
            &records.offset,
            &records.entry,
            &records.value_size,
            &records.payload_ends,
        ]
        .map(buffer)
        .into();
        of_records.push(PyBytes::new(py, &records.payloads));
        let of_records = PyTuple::new(py, of_records)?;
        let of_types = PyList::empty(py);
        for (number, fields) in &fields {
            let columns = message(py, self.0.program(*number), fields)?;
            of_types.append((number, fields.rows, columns))?;
        }
        Ok((batches.count, of_batches, records.count, of_records, of_types))
    }
}

type Taken<'py> = (usize, Bound<'py, PyTuple>, usize, Bound<'py, PyTuple>, Bound<'py, PyList>);

/// The columns of the fields that were chosen, with their names.
fn message<'py>(
    py: Python<'py>,
    program: &Struct,
    fields: &Fields,
) -> PyResult<Bound<'py, PyList>> {
    let found = PyList::empty(py);
    for (field, column) in program.fields.iter().zip(&fields.columns) {
        if let Some(column) = column {
            found.append((field.name(), cells(py, &field.kind, column)?))?;
        }
    }
    Ok(found)
}

/// A column: how many cells and nulls, the buffers with that of the nulls first, and the columns
/// within, with their names.
pub fn cells<'py>(py: Python<'py>, kind: &Kind, column: &Column) -> PyResult<Bound<'py, PyTuple>> {
    let bytes = |data: &[u8]| PyBytes::new(py, data);
    let mut buffers = vec![column.valid.as_ref().map(|bits| bytes(&bits.bytes))];
    let within = PyList::empty(py);
    // Offsets begin at 0.
    let offsets = |ends: &[u8]| bytes(&[&[0; 4], ends].concat());
    match &column.cells {
        Cells::Flags(bits) => buffers.push(Some(bytes(&bits.bytes))),
        Cells::Numbers(_, data) => buffers.push(Some(bytes(data))),
        Cells::Text { ends, data } => {
            buffers.push(Some(offsets(ends)));
            buffers.push(Some(bytes(data)));
        }
        Cells::List { ends, elements } => {
            buffers.push(Some(offsets(ends)));
            if let Kind::Array(element) = kind {
                within.append(("", cells(py, element, elements)?))?;
            }
        }
        Cells::Parts(parts) => {
            if let Kind::Struct(program) = kind {
                for (field, part) in program.fields.iter().zip(parts) {
                    within.append((field.name(), cells(py, &field.kind, part)?))?;
                }
            }
        }
    }
    let buffers = PyList::new(py, buffers)?;
    (column.count, column.nulls, buffers, within).into_pyobject(py)
}
