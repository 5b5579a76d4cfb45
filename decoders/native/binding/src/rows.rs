//! Rows of the core as tuples of Python.

use std::sync::{Arc, Mutex};

use kraftool_core::changes::Changes as CoreChanges;
use kraftool_core::groups::Groups;
use kraftool_core::rows::{
    Arrays, Cell, Effect, Group, Kinds, New, Place, Rows as CoreRows, Rules, Stop, UUID,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::checked;
use crate::columns::cells;
use crate::shared::{Shared, with};

struct Inner {
    kinds: Kinds,
    arrays: Mutex<Arrays>,
    shared: Mutex<Shared>,
}

impl Inner {
    fn tuple<'py>(
        &self,
        py: Python<'py>,
        shared: &mut Shared,
        rows: &CoreRows,
        place: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let kinds = &self.kinds;
        let mut cells = Vec::with_capacity(kinds.cells.len());
        for (cell, kind) in kinds.cells.iter().enumerate() {
            cells.push(match kind {
                Cell::Int => kinds.int(rows, place, cell).into_pyobject(py)?.into_any(),
                Cell::Ints => shared.ints(py, kinds.array(rows, place, cell))?.into_any(),
                Cell::Uuids => shared.uuids(py, &kinds.elements(rows, place, cell))?.into_any(),
            });
        }
        PyTuple::new(py, cells)
    }

    /// Put a row as Python has it; false if rows cannot have its values.
    fn put(
        &self,
        rows: &mut Arc<CoreRows>,
        arrays: &mut Arrays,
        number: i32,
        row: &Bound<'_, PyTuple>,
    ) -> bool {
        let Some(made) = wire(&self.kinds, row) else { return false };
        let mut new = New::default();
        for (cell, value) in made.iter().enumerate() {
            match value {
                Made::Int(value) => new.int(cell, *value),
                Made::Array(elements) => new.array(cell, elements),
            }
        }
        // Without uuids there are as many fillers as elements: others cannot be kept.
        let Rules { many, as_many, .. } = self.kinds.rules;
        let size = |cell: usize, each: usize| match &made[cell] {
            Made::Array(elements) => elements.len() / each,
            Made::Int(_) => 0,
        };
        size(as_many, UUID) == size(many, 4) && self.kinds.put(rows, arrays, number, &new).is_ok()
    }
}

enum Made {
    Int(i64),
    Array(Vec<u8>),
}

/// The cells of a row of Python as they are on the wire; None if that cannot be done.
fn wire(kinds: &Kinds, row: &Bound<'_, PyTuple>) -> Option<Vec<Made>> {
    if row.len() != kinds.cells.len() {
        return None;
    }
    let mut made = Vec::with_capacity(row.len());
    for (cell, kind) in kinds.cells.iter().enumerate() {
        let value = row.get_item(cell).ok()?;
        let mut elements = Vec::new();
        match kind {
            Cell::Int => {
                made.push(Made::Int(value.extract().ok()?));
                continue;
            }
            Cell::Ints => {
                for number in value.cast::<PyTuple>().ok()? {
                    elements.extend_from_slice(&number.extract::<i32>().ok()?.to_be_bytes());
                }
            }
            Cell::Uuids => {
                for text in value.cast::<PyTuple>().ok()? {
                    elements.extend_from_slice(&uuid(text.extract::<String>().ok()?.as_bytes())?);
                }
            }
        }
        made.push(Made::Array(elements));
    }
    Some(made)
}

/// The uuid that has this text; None if there is none.
fn uuid(text: &[u8]) -> Option<Group> {
    if text.len() != 22 {
        return None;
    }
    let mut bits = 0u128;
    for (at, digit) in text.iter().enumerate() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        // The last digit has two bits, and four that are 0.
        match (at, value & 15) {
            (21, 0) => bits = bits << 2 | u128::from(value >> 4),
            (21, _) => return None,
            _ => bits = bits << 6 | u128::from(value),
        }
    }
    Some(bits.to_be_bytes())
}

/// Api key, version, program, if it makes or changes a row, or None for neither, the fields of group
/// and number, and those of cells.
type PyLayout<'py> =
    (u8, u8, Bound<'py, PyBytes>, Option<bool>, (usize, usize), Vec<Option<usize>>);

/// The first batch that was not taken to its end: its place, the index of the first record that was
/// not taken, and where that begins in the batch. How many records were taken. Of the last batch
/// that was taken to its end: last offset, epoch and time. The group, if it is not open.
type PyTaken<'py> =
    ((usize, u32, usize), u64, Option<(i64, i32, i64)>, Option<Bound<'py, PyBytes>>);

/// What records do to rows.
#[pyclass(frozen)]
pub struct RowKinds(Arc<Inner>);

#[pymethods]
impl RowKinds {
    #[new]
    fn new(
        cells: &str,
        choice: usize,
        arrays: (usize, usize),
        filler: [u8; UUID],
        counters: Vec<(usize, Option<usize>)>,
        layouts: Vec<PyLayout<'_>>,
    ) -> PyResult<Self> {
        let mut kinds = Vec::new();
        for cell in cells.chars() {
            kinds.push(match cell {
                'i' => Cell::Int,
                'I' => Cell::Ints,
                'U' => Cell::Uuids,
                _ => return Err(PyValueError::new_err("not a cell")),
            });
        }
        let (many, as_many) = arrays;
        let mut kinds =
            checked(Kinds::new(kinds, Rules { choice, many, as_many, filler, counters }))?;
        for (api_key, version, program, makes, key, cells) in layouts {
            let effect = match makes {
                Some(true) => Effect::Makes,
                Some(false) => Effect::Changes,
                None => Effect::Nothing,
            };
            checked(kinds.add((api_key, version), program.as_bytes(), effect, key, cells))?;
        }
        let inner = Inner { kinds, arrays: Mutex::default(), shared: Mutex::default() };
        Ok(RowKinds(Arc::new(inner)))
    }
}

/// The changes of rows, as columns.
#[pyclass]
pub struct Changes(CoreChanges);

/// The ids of groups, and the columns of changes.
type PyNoted<'py> = (Vec<Bound<'py, PyBytes>>, Vec<Bound<'py, PyTuple>>);

#[pymethods]
impl Changes {
    /// Changes from an offset on.
    #[new]
    fn new(kinds: &RowKinds, first: i64) -> Self {
        Changes(CoreChanges::new(&kinds.0.kinds, first))
    }

    #[getter]
    fn count(&self) -> usize {
        self.0.count()
    }

    #[getter]
    fn is_full(&self) -> bool {
        self.0.is_full()
    }

    #[getter]
    fn has_begun(&self) -> bool {
        self.0.has_begun
    }

    /// Return all changes, and begin again without any.
    fn take<'py>(&mut self, py: Python<'py>) -> PyResult<PyNoted<'py>> {
        let noted = self.0.take();
        let groups = noted.groups.iter().map(|group| PyBytes::new(py, group)).collect();
        let columns = noted.columns.iter().map(|(kind, column)| cells(py, kind, column));
        Ok((groups, columns.collect::<PyResult<_>>()?))
    }
}

/// The open groups: records change their rows.
#[pyclass]
pub struct OpenRows {
    inner: Arc<Inner>,
    groups: Groups,
}

impl OpenRows {
    fn of(&self, group: &Group) -> PyResult<&Arc<CoreRows>> {
        self.groups.get(group).ok_or_else(|| PyKeyError::new_err("the group is not open"))
    }
}

#[pymethods]
impl OpenRows {
    #[new]
    fn new(kinds: &RowKinds) -> Self {
        OpenRows { inner: kinds.0.clone(), groups: Groups::default() }
    }

    /// Take the records of sound batches, from a place on and as far as they can be taken, and note
    /// what they change.
    #[pyo3(signature = (data, from, end, changes=None))]
    fn take<'py>(
        &mut self,
        py: Python<'py>,
        data: &[u8],
        from: (usize, u32, usize),
        end: usize,
        mut changes: Option<PyRefMut<'_, Changes>>,
    ) -> PyTaken<'py> {
        let OpenRows { inner, groups } = self;
        let (at, index, record) = from;
        let from = Place { at, index, record };
        let noted = changes.as_mut().map(|changes| &mut changes.0);
        let taken =
            with(&inner.arrays, |arrays| inner.kinds.take(groups, arrays, data, from, end, noted));
        let Place { at, index, record } = taken.next;
        let last = taken.last.map(|last| (last.last_offset(), last.epoch, last.max_timestamp));
        let group = match taken.stop {
            Stop::Closed(group) => Some(PyBytes::new(py, &group)),
            Stop::End | Stop::Other => None,
        };
        ((at, index, record), taken.records, last, group)
    }

    /// Open a group with the rows that it had.
    fn open(&mut self, group: Group, rows: &Rows) {
        self.groups.open(group, rows.rows.clone());
    }

    /// Open a group with these rows; false if they cannot be kept.
    fn load(&mut self, group: Group, numbers: Vec<i32>, rows: Vec<Bound<'_, PyTuple>>) -> bool {
        let OpenRows { inner, groups } = self;
        let mut loaded = Arc::default();
        let is_whole = with(&inner.arrays, |arrays| {
            let mut pairs = numbers.iter().zip(&rows);
            pairs.all(|(number, row)| inner.put(&mut loaded, arrays, *number, row))
        });
        if is_whole {
            groups.open(group, loaded);
        }
        is_whole
    }

    fn close(&mut self, group: Group) {
        self.groups.close(&group);
    }

    /// The row of a number; None if there is no such row.
    fn get<'py>(
        &self,
        py: Python<'py>,
        group: Group,
        number: i32,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        row(py, &self.inner, self.of(&group)?, number)
    }

    /// Make a row, or replace one; false if it cannot be kept.
    fn put(&mut self, group: Group, number: i32, row: &Bound<'_, PyTuple>) -> PyResult<bool> {
        let OpenRows { inner, groups } = self;
        let missing = || PyKeyError::new_err("the group is not open");
        let rows = groups.get_mut(&group).ok_or_else(missing)?;
        Ok(with(&inner.arrays, |arrays| inner.put(rows, arrays, number, row)))
    }

    /// The rows of a group as they are now.
    fn rows(&self, group: Group) -> PyResult<Rows> {
        Ok(Rows { inner: self.inner.clone(), rows: self.of(&group)?.clone() })
    }
}

fn row<'py>(
    py: Python<'py>,
    inner: &Inner,
    rows: &CoreRows,
    number: i32,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let Some(place) = rows.place(number) else { return Ok(None) };
    with(&inner.shared, |shared| inner.tuple(py, shared, rows, place)).map(Some)
}

/// The rows of a group at one moment.
#[pyclass(frozen)]
pub struct Rows {
    inner: Arc<Inner>,
    rows: Arc<CoreRows>,
}

#[pymethods]
impl Rows {
    fn __len__(&self) -> usize {
        self.rows.numbers.len()
    }

    fn has(&self, number: i32) -> bool {
        self.rows.place(number).is_some()
    }

    /// The row of a number; None if there is no such row.
    fn get<'py>(&self, py: Python<'py>, number: i32) -> PyResult<Option<Bound<'py, PyTuple>>> {
        row(py, &self.inner, &self.rows, number)
    }

    fn numbers(&self) -> Vec<i32> {
        self.rows.numbers.clone()
    }

    /// The rows from one place to another.
    fn part<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        stop: usize,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let places = start..stop.min(self.rows.numbers.len());
        with(&self.inner.shared, |shared| {
            places.map(|place| self.inner.tuple(py, shared, &self.rows, place)).collect()
        })
    }

    /// True if the other has the same rows in the same order.
    fn same(&self, other: &Rows) -> bool {
        Arc::ptr_eq(&self.rows, &other.rows) || self.rows == other.rows
    }
}
