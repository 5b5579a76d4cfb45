//! Stretches of batches, as Python has them.

use kraftool_core::sieve::Values;
use kraftool_core::stretches::{Role, Stretch, Stretches as CoreStretches};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{checked, read_to};

/// Base and last offset, epoch, batches; first and last time, longest and shortest wait; idle
/// batches, time of the first and of the last, longest wait between them; counted records; digest.
type PyStretch = ((i64, i64, i32, u64), (i64, i64, i64, i64), (u64, i64, i64, i64), u64, u64);

#[pyclass]
pub struct Stretches(CoreStretches);

#[pymethods]
impl Stretches {
    #[new]
    fn new(grid: u32, longest: u32) -> Self {
        Stretches(CoreStretches::new(grid, longest))
    }

    /// Give a type the program that reads it. `numbers` are of a type that is watched only if it has
    /// one of them: the field's label, and the number.
    fn add(
        &mut self,
        api_key: u8,
        version: u8,
        program: &[u8],
        role: &str,
        numbers: Vec<(Vec<u8>, Option<i64>)>,
    ) -> PyResult<()> {
        let role = match role {
            "passed" => Role::Passed,
            "watched" if numbers.is_empty() => Role::Watched,
            "watched" => {
                let choice = |(label, number): (Vec<u8>, Option<i64>)| Values {
                    number,
                    labels: vec![label],
                    ..Values::default()
                };
                Role::WatchedIf(numbers.into_iter().map(choice).collect())
            }
            "counted" => Role::Counted,
            "idle" => Role::Idle,
            _ => return Err(PyValueError::new_err("not a role")),
        };
        checked(self.0.add(api_key, version, program, role))
    }

    /// Stop at this type.
    fn refuse(&mut self, api_key: u8, version: u8) -> PyResult<()> {
        checked(self.0.refuse(api_key, version))
    }

    /// Go on with the open stretch; returns how far it came and why it stopped.
    fn read(
        &mut self,
        py: Python<'_>,
        data: &[u8],
        at: usize,
        end: usize,
    ) -> PyResult<(usize, i32)> {
        read_to(py, data, end, |data| self.0.read(data, at))
    }

    /// The stretch that was read; None if there is none.
    fn close(&mut self) -> Option<PyStretch> {
        let Stretch {
            base_offset,
            last_offset,
            epoch,
            batches,
            first_timestamp,
            last_timestamp,
            longest_wait,
            shortest_wait,
            idle,
            first_idle,
            last_idle,
            longest_idle_wait,
            counted,
            digest,
        } = self.0.close()?;
        Some((
            (base_offset, last_offset, epoch, batches),
            (first_timestamp, last_timestamp, longest_wait, shortest_wait),
            (idle, first_idle, last_idle, longest_idle_wait),
            counted,
            digest,
        ))
    }

    /// The watched records of the stretch that was closed last: offset and value.
    fn take_watched<'py>(&mut self, py: Python<'py>) -> Vec<(i64, Bound<'py, PyBytes>)> {
        let taken = self.0.watched.drain(..);
        taken.map(|(offset, value)| (offset, PyBytes::new(py, &value))).collect()
    }
}
