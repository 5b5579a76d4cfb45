//! The heads of batches, as Python takes them.

use kraftool_core::heads;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// How far it came; the places of the batches, their heads and types; and the totals.
type PyHeads<'py> =
    (usize, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Vec<(u8, u64)>);

/// Read the heads of sound batches, without the last one unless `is_whole`.
#[pyfunction(name = "heads")]
pub fn read_heads<'py>(
    py: Python<'py>,
    data: &[u8],
    at: usize,
    end: usize,
    grid: i64,
    is_whole: bool,
) -> PyResult<PyHeads<'py>> {
    let beyond = || PyValueError::new_err("the end is beyond the bytes");
    let data = data.get(..end).ok_or_else(beyond)?;
    let (read, reached) = py.detach(|| heads::read(data, at, grid, is_whole));
    let places: Vec<u8> = read.places.iter().flat_map(|place| place.to_ne_bytes()).collect();
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
    Ok((reached, bytes(&places), bytes(&read.heads), bytes(&read.types), read.totals))
}
