//! Notes how records change rows: a cell for each change and column, as Arrow has them.
//!
//! Owns the order of the changes, which is that of the records, and the first offset that counts.

use std::collections::HashMap;
use std::mem;

use crate::batch::Header;
use crate::cells::Column;
use crate::fields::Sink;
use crate::groups::Groups;
use crate::program::Kind;
use crate::rows::{Cell, Effect, Group, INT32, Kinds, UUID};

/// Bytes of cells after which changes must be taken: a row can be large and change often.
const FULL: usize = 8 << 20;
/// Bytes of a change without its arrays.
const OF_EACH: usize = 64;
/// Columns before those of the row: offset, epoch, time, effect, group and number.
const BEFORE: usize = 6;
const MADE: i64 = 0;
const REPLACED: i64 = 1;
const CHANGED: i64 = 2;

/// What a record did to a row.
pub struct Change {
    pub effect: Effect,
    pub was_there: bool,
    pub group: Group,
    pub number: i32,
}

/// The changes since they were taken the last time.
pub struct Changes {
    cells: Vec<Cell>,
    first: i64,
    /// True if a record at or after the first offset was seen.
    pub has_begun: bool,
    numbers: HashMap<Group, i64>,
    noted: Noted,
    size: usize,
}

/// Changes as columns, with their kinds. A group is the number of one of `groups`.
pub struct Noted {
    pub groups: Vec<Group>,
    pub columns: Vec<(Kind, Column)>,
}

impl Changes {
    /// Changes of rows with these cells, from an offset on.
    pub fn new(kinds: &Kinds, first: i64) -> Self {
        let (cells, noted) = (kinds.cells.clone(), noted(&kinds.cells));
        Changes { cells, first, has_begun: false, numbers: HashMap::new(), noted, size: 0 }
    }

    pub fn count(&self) -> usize {
        self.noted.columns[0].1.count
    }

    pub fn is_full(&self) -> bool {
        self.size >= FULL
    }

    /// Return all changes, and begin again without any.
    pub fn take(&mut self) -> Noted {
        self.numbers.clear();
        self.size = 0;
        mem::replace(&mut self.noted, noted(&self.cells))
    }

    /// Note a record of a batch, and the row as it is after it.
    pub fn note(
        &mut self,
        kinds: &Kinds,
        groups: &mut Groups,
        header: &Header,
        index: u32,
        change: Option<Change>,
    ) {
        let offset = header.base_offset + i64::from(index);
        if offset < self.first {
            return;
        }
        self.has_begun = true;
        let Some(Change { effect, was_there, group, number }) = change else { return };
        let Some(rows) = groups.get_mut(&group) else { return };
        let Some(place) = rows.place(number) else { return };
        let effect = match (effect, was_there) {
            (Effect::Makes, false) => MADE,
            (Effect::Makes, true) => REPLACED,
            _ => CHANGED,
        };
        let known = self.noted.groups.len() as i64;
        let group_number = *self.numbers.entry(group).or_insert(known);
        if group_number == known {
            self.noted.groups.push(group);
        }
        let columns = &mut self.noted.columns;
        let (epoch, number) = (i64::from(header.epoch), i64::from(number));
        let before = [offset, epoch, header.base_timestamp, effect, group_number, number];
        for ((_, column), value) in columns.iter_mut().zip(before) {
            column.int(value);
        }
        self.size += OF_EACH;
        for (cell, (kind, (_, column))) in
            kinds.cells.iter().zip(&mut columns[BEFORE..]).enumerate()
        {
            if *kind == Cell::Int {
                column.int(kinds.int(rows, place, cell));
                continue;
            }
            let elements = kinds.elements(rows, place, cell);
            self.size += 2 * elements.len();
            if let Ok(within) = column.elements() {
                if *kind == Cell::Ints {
                    for int in elements.as_chunks::<INT32>().0 {
                        within.int(i64::from(i32::from_be_bytes(*int)));
                    }
                } else {
                    elements.as_chunks::<UUID>().0.iter().for_each(|uuid| within.uuid(uuid));
                }
            }
            let _ = column.end_list(usize::MAX);
        }
    }
}

fn noted(cells: &[Cell]) -> Noted {
    let mut kinds =
        vec![Kind::Int64, Kind::Int32, Kind::Int64, Kind::Int8, Kind::Int32, Kind::Int32];
    kinds.extend(cells.iter().map(|cell| match cell {
        Cell::Int => Kind::Int32,
        Cell::Ints => Kind::Array(Box::new(Kind::Int32)),
        Cell::Uuids => Kind::Array(Box::new(Kind::Uuid)),
    }));
    let columns = kinds.into_iter().map(|kind| {
        let column = Column::of(&kind);
        (kind, column)
    });
    Noted { groups: Vec::new(), columns: columns.collect() }
}
