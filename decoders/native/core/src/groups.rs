//! Groups of rows that are open: records change them.
//!
//! Owns which one a group's id names. A copy of rows is made when somebody else keeps them too.

use std::collections::HashMap;
use std::sync::Arc;

use crate::rows::{Group, Rows};

/// The groups that are open, with their rows.
#[derive(Default)]
pub struct Groups {
    places: HashMap<Group, usize>,
    rows: Vec<Arc<Rows>>,
    free: Vec<usize>,
    /// The one that was looked for last: records of a group often follow on each other.
    last: Option<(Group, usize)>,
}

impl Groups {
    fn place(&mut self, group: &Group) -> Option<usize> {
        match self.last {
            Some((last, place)) if last == *group => Some(place),
            _ => {
                let place = *self.places.get(group)?;
                self.last = Some((*group, place));
                Some(place)
            }
        }
    }

    pub fn get(&self, group: &Group) -> Option<&Arc<Rows>> {
        Some(&self.rows[*self.places.get(group)?])
    }

    pub fn get_mut(&mut self, group: &Group) -> Option<&mut Arc<Rows>> {
        let place = self.place(group)?;
        Some(&mut self.rows[place])
    }

    pub fn open(&mut self, group: Group, rows: Arc<Rows>) {
        self.close(&group);
        let place = match self.free.pop() {
            Some(place) => {
                self.rows[place] = rows;
                place
            }
            None => {
                self.rows.push(rows);
                self.rows.len() - 1
            }
        };
        self.places.insert(group, place);
    }

    pub fn close(&mut self, group: &Group) {
        self.last = None;
        if let Some(place) = self.places.remove(group) {
            self.rows[place] = Arc::default();
            self.free.push(place);
        }
    }
}
