//! Tuples and texts that were made already: many rows have the same ones.

use std::sync::Mutex;

use kraftool_core::json::push_uuid;
use kraftool_core::recent::Recent;
use kraftool_core::rows::{MOST_SHARED, UUID};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

#[derive(Default)]
pub struct Shared {
    ints: Recent<Py<PyTuple>>,
    uuids: Recent<Py<PyTuple>>,
    texts: Recent<Py<PyString>>,
}

impl Shared {
    /// The numbers of an array as it is on the wire.
    pub fn ints<'py>(&mut self, py: Python<'py>, elements: &[u8]) -> PyResult<Bound<'py, PyTuple>> {
        let number = |four: &[u8]| four.try_into().map_or(0, i32::from_be_bytes);
        tuple(py, &mut self.ints, elements, || {
            let numbers: Vec<i32> = elements.chunks_exact(4).map(number).collect();
            PyTuple::new(py, numbers)
        })
    }

    /// The same for uuids.
    pub fn uuids<'py>(
        &mut self,
        py: Python<'py>,
        elements: &[u8],
    ) -> PyResult<Bound<'py, PyTuple>> {
        let texts = &mut self.texts;
        tuple(py, &mut self.uuids, elements, || {
            let mut made = Vec::new();
            for uuid in elements.chunks_exact(UUID).filter_map(<[u8]>::first_chunk) {
                let make = || Ok::<_, PyErr>(uuid_text(py, uuid).unbind());
                made.push(texts.get(uuid, make)?.clone_ref(py));
            }
            PyTuple::new(py, made)
        })
    }
}

fn tuple<'py>(
    py: Python<'py>,
    made: &mut Recent<Py<PyTuple>>,
    elements: &[u8],
    make: impl FnOnce() -> PyResult<Bound<'py, PyTuple>>,
) -> PyResult<Bound<'py, PyTuple>> {
    if elements.is_empty() {
        return Ok(PyTuple::empty(py));
    }
    if elements.len() > MOST_SHARED {
        return make();
    }
    Ok(made.get(elements, || make().map(Bound::unbind))?.bind(py).clone())
}

/// Use the values that were made. A second thread at the same time makes its own.
pub fn with<M: Default, T>(made: &Mutex<M>, run: impl FnOnce(&mut M) -> T) -> T {
    match made.try_lock() {
        Ok(mut made) => run(&mut made),
        Err(_) => run(&mut M::default()),
    }
}

pub fn uuid_text<'py>(py: Python<'py>, uuid: &[u8; UUID]) -> Bound<'py, PyString> {
    let mut digits = Vec::with_capacity(22);
    push_uuid(&mut digits, uuid);
    PyString::new(py, std::str::from_utf8(&digits).unwrap_or_default())
}
