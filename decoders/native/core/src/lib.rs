//! Reads whole, valid, plain batches of a metadata log.
//!
//! Owns the fast path. What it takes is written exactly as the Python path writes it. At everything
//! else it stops and says how far it came. It never says what is wrong: that has one author, which
//! is the Python path. It names no message: programs that Python makes from its catalogue say how a
//! record is read and which of its fields are secret.

#![forbid(unsafe_code)]

pub mod batch;
pub mod cells;
pub mod changes;
pub mod check;
pub mod columns;
pub mod fields;
pub mod groups;
pub mod heads;
pub mod json;
pub mod places;
pub mod program;
pub mod recent;
pub mod render;
pub mod rows;
pub mod sieve;
pub mod stretches;
pub mod table;
pub mod wire;

/// Something is not plain, and somebody else has to look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotPlain;

pub type Plain<T> = Result<T, NotPlain>;
