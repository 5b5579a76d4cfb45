//! Keeps rows by group and number, and changes them as records say.
//!
//! Owns which records it takes: plain ones of kinds that were added, of a group that is open, and
//! with nothing in them that a replay refuses. It changes nothing for any other record.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::batch::{self, Header, Records};
use crate::changes::{Change, Changes};
use crate::fields::{Nothing, starts, structure};
use crate::groups::Groups;
use crate::program::{Kind as Value, MOST_FIELDS, Struct, parse};
use crate::recent::Recent;
use crate::table::{MESSAGE, frame};
use crate::wire::Cursor;
use crate::{NotPlain, Plain};

/// Cells of a row.
const MOST_CELLS: usize = 16;
pub const INT32: usize = 4;
/// Bytes of an array beyond which it is not kept for other rows: few are so long.
pub const MOST_SHARED: usize = 1024;
pub const UUID: usize = 16;

pub type Group = [u8; UUID];
/// The elements of an array as they are on the wire; None if there are no elements.
pub type Array = Option<Arc<[u8]>>;
/// Arrays that were made: many rows have the same ones.
pub type Arrays = Recent<Arc<[u8]>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    Int,
    Ints,
    Uuids,
}

impl Cell {
    fn is_array(self) -> bool {
        self != Cell::Int
    }

    /// The size of an element.
    fn size(self) -> usize {
        if self == Cell::Uuids { UUID } else { INT32 }
    }
}

/// What holds for every row. The numbers are those of cells.
pub struct Rules {
    /// An int that is 0 or 1.
    pub choice: usize,
    /// Two arrays: the uuids are as many as the elements of the first one.
    pub many: usize,
    pub as_many: usize,
    /// No uuids stand for as many of this one.
    pub filler: Group,
    /// Ints that a change raises by one: every change, or one that sets another cell.
    pub counters: Vec<(usize, Option<usize>)>,
}

/// What a record does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Makes,
    Changes,
    /// It is for no row, and changes nothing at all.
    Nothing,
}

/// One version of a record. The numbers are those of its fields.
struct Layout {
    api_key: u8,
    version: u8,
    program: Struct,
    effect: Effect,
    group: usize,
    number: usize,
    cells: Vec<Option<usize>>,
}

/// The kinds of records that are taken, and the cells of the rows that they make.
pub struct Kinds {
    pub cells: Vec<Cell>,
    pub rules: Rules,
    /// The place of each cell among the ints or the arrays of a row.
    slots: Vec<usize>,
    ints: usize,
    arrays: usize,
    layouts: Vec<Layout>,
}

/// The rows of a group, in the order in which they were made.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Rows {
    pub numbers: Vec<i32>,
    /// The places of numbers that are not their own place.
    places: HashMap<i32, usize>,
    ints: Vec<i64>,
    arrays: Vec<Array>,
}

impl Rows {
    pub fn place(&self, number: i32) -> Option<usize> {
        match usize::try_from(number) {
            Ok(at) if self.numbers.get(at) == Some(&number) => Some(at),
            _ => self.places.get(&number).copied(),
        }
    }

    fn add(&mut self, number: i32) -> usize {
        let place = self.numbers.len();
        self.numbers.push(number);
        if usize::try_from(number) != Ok(place) {
            self.places.insert(number, place);
        }
        place
    }
}

/// A place among records: a batch, and the index of a record in it and where that begins there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    pub at: usize,
    pub index: u32,
    /// 0 for the first record.
    pub record: usize,
}

/// How far records were taken.
pub struct Taken {
    pub next: Place,
    pub records: u64,
    /// The last batch that was taken to its end.
    pub last: Option<Header>,
    pub stop: Stop,
}

/// Why no more records were taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    End,
    /// The next record is of a group that is not open.
    Closed(Group),
    /// The next record is for somebody else.
    Other,
}

impl From<NotPlain> for Stop {
    fn from(_: NotPlain) -> Self {
        Stop::Other
    }
}

/// A row before it is kept.
#[derive(Clone, Copy, Default)]
pub struct New<'a> {
    ints: [Option<i64>; MOST_CELLS],
    arrays: [Option<&'a [u8]>; MOST_CELLS],
}

impl<'a> New<'a> {
    pub fn int(&mut self, cell: usize, value: i64) {
        self.ints[cell] = Some(value);
    }

    pub fn array(&mut self, cell: usize, elements: &'a [u8]) {
        self.arrays[cell] = Some(elements);
    }
}

impl Kinds {
    pub fn new(cells: Vec<Cell>, rules: Rules) -> Plain<Self> {
        let (mut ints, mut arrays, mut slots) = (0, 0, Vec::new());
        for cell in &cells {
            let next = if cell.is_array() { &mut arrays } else { &mut ints };
            slots.push(*next);
            *next += 1;
        }
        let is_int = |at: usize| cells.get(at) == Some(&Cell::Int);
        let is_known = |at: &usize| *at < cells.len();
        let fits = cells.len() <= MOST_CELLS
            && is_int(rules.choice)
            && cells.get(rules.many) == Some(&Cell::Ints)
            && cells.get(rules.as_many) == Some(&Cell::Uuids)
            && rules.counters.iter().all(|(at, by)| is_int(*at) && by.iter().all(is_known));
        if !fits {
            return Err(NotPlain);
        }
        Ok(Kinds { cells, rules, slots, ints, arrays, layouts: Vec::new() })
    }

    pub fn add(
        &mut self,
        frame: (u8, u8),
        program: &[u8],
        effect: Effect,
        (group, number): (usize, usize),
        cells: Vec<Option<usize>>,
    ) -> Plain<()> {
        let (api_key, version) = frame;
        let program = parse(program, false)?;
        let field = |at: usize| program.fields.get(at);
        let is = |at: usize, test: fn(&Value) -> bool| {
            field(at).is_some_and(|field| !field.is_tagged && test(&field.kind))
        };
        let fits = |cell: Cell, at: Option<usize>| match (cell, at) {
            (Cell::Int, None) => effect == Effect::Changes,
            (_, None) => true,
            (cell, Some(at)) => field(at).is_some_and(|field| match (cell, &field.kind) {
                (Cell::Int, Value::Int8 | Value::Int32) => true,
                (Cell::Ints, Value::Array(element)) => matches!(**element, Value::Int32),
                (Cell::Uuids, Value::Array(element)) => matches!(**element, Value::Uuid),
                _ => false,
            }),
        };
        let is_row = is(group, |kind| matches!(kind, Value::Uuid))
            && is(number, |kind| matches!(kind, Value::Int32))
            && cells.len() == self.cells.len()
            && self.cells.iter().zip(&cells).all(|(cell, at)| fits(*cell, *at));
        if !is_row && effect != Effect::Nothing {
            return Err(NotPlain);
        }
        self.layouts.push(Layout { api_key, version, program, effect, group, number, cells });
        Ok(())
    }

    /// Take the records of sound batches, from a place on and as far as they can be taken, and note
    /// what they change.
    pub fn take(
        &self,
        groups: &mut Groups,
        made: &mut Arrays,
        data: &[u8],
        from: Place,
        end: usize,
        mut changes: Option<&mut Changes>,
    ) -> Taken {
        let mut taken = Taken { next: from, records: 0, last: None, stop: Stop::End };
        while taken.next.at < end {
            let Ok((header, batch)) = batch::at(data, taken.next.at) else {
                taken.stop = Stop::Other;
                break;
            };
            let noted = changes.as_deref_mut();
            if let Err(stop) = self.take_batch(groups, made, (&header, batch), noted, &mut taken) {
                taken.stop = stop;
                break;
            }
            taken.next = Place { at: taken.next.at + header.size, ..Place::default() };
            taken.last = Some(header);
        }
        taken
    }

    fn take_batch(
        &self,
        groups: &mut Groups,
        made: &mut Arrays,
        (header, batch): (&Header, &[u8]),
        mut changes: Option<&mut Changes>,
        taken: &mut Taken,
    ) -> Result<(), Stop> {
        if !header.is_plain() {
            return Err(Stop::Other);
        }
        let count = header.record_count as u32;
        let next = &mut taken.next;
        let mut records = Records::resume(batch, next.record, next.index);
        for index in next.index..count {
            if changes.as_ref().is_some_and(|changes| changes.is_full()) {
                return Err(Stop::Other);
            }
            let record = records.next_record()?;
            // Bytes behind the last record are a fault of it.
            if index + 1 == count && !records.is_at_end() {
                return Err(Stop::Other);
            }
            let change = self.apply(groups, made, record.value)?;
            if let Some(changes) = changes.as_deref_mut() {
                changes.note(self, groups, header, index, change);
            }
            (next.index, next.record) = (index + 1, records.at());
            taken.records += 1;
        }
        Ok(())
    }

    fn apply(
        &self,
        groups: &mut Groups,
        made: &mut Arrays,
        value: &[u8],
    ) -> Result<Option<Change>, Stop> {
        let (api_key, version) = frame(value)?;
        let is_of = |one: &&Layout| one.api_key == api_key && one.version == version;
        let layout = self.layouts.iter().find(is_of).ok_or(NotPlain)?;
        if layout.effect == Effect::Nothing {
            let mut cursor = Cursor::new(value, MESSAGE);
            structure(&layout.program, &mut cursor, &mut Nothing)?;
            return if cursor.is_at_end() { Ok(None) } else { Err(Stop::Other) };
        }
        let mut places = [0; MOST_FIELDS];
        let mut cursor = Cursor::new(value, MESSAGE);
        starts(&layout.program, &mut cursor, &mut places)?;
        if !cursor.is_at_end() {
            return Err(Stop::Other);
        }
        let group: Group = Cursor::new(value, places[layout.group]).array()?;
        let number = i32::from_be_bytes(Cursor::new(value, places[layout.number]).array()?);
        let rows = groups.get_mut(&group).ok_or(Stop::Closed(group))?;
        let was_there = rows.place(number).is_some();
        let mut new = New::default();
        self.read(layout, value, &places, &mut new)?;
        if layout.effect == Effect::Makes {
            self.put(rows, made, number, &new)?;
        } else {
            self.change(rows, made, number, &mut new)?;
        }
        Ok(Some(Change { effect: layout.effect, was_there, group, number }))
    }

    /// Read the cells that a record sets.
    fn read<'a>(
        &self,
        layout: &'a Layout,
        value: &'a [u8],
        places: &[usize; MOST_FIELDS],
        new: &mut New<'a>,
    ) -> Plain<()> {
        for (cell, (kind, field)) in self.cells.iter().zip(&layout.cells).enumerate() {
            let Some(at) = *field else { continue };
            let field = &layout.program.fields[at];
            let mut cursor = match places[at] {
                0 if layout.effect == Effect::Changes => continue,
                0 => Cursor::new(&field.default, 0),
                start => Cursor::new(value, start),
            };
            if kind.is_array() {
                if let Some(count) = cursor.length()? {
                    let size = count.checked_mul(kind.size()).ok_or(NotPlain)?;
                    new.array(cell, cursor.bytes(size)?);
                }
            } else if matches!(field.kind, Value::Int8) {
                new.int(cell, i64::from(i8::from_be_bytes(cursor.array()?)));
            } else {
                new.int(cell, i64::from(i32::from_be_bytes(cursor.array()?)));
            }
        }
        Ok(())
    }

    fn is_choice(&self, new: &New) -> bool {
        new.ints[self.rules.choice].is_none_or(|value| (0..2).contains(&value))
    }

    /// Uuids as they are kept.
    fn filled<'a>(&self, uuids: &'a [u8]) -> &'a [u8] {
        let is_filler = |uuid: &[u8]| uuid == self.rules.filler;
        if uuids.chunks_exact(UUID).all(is_filler) { &[] } else { uuids }
    }

    /// Make a row, or replace the one of this number.
    pub fn put(
        &self,
        rows: &mut Arc<Rows>,
        made: &mut Arrays,
        number: i32,
        new: &New,
    ) -> Plain<()> {
        let Rules { many, as_many, .. } = self.rules;
        let uuids = self.filled(new.arrays[as_many].unwrap_or_default());
        let elements = new.arrays[many].unwrap_or_default();
        let is_whole = self.is_choice(new)
            && (uuids.is_empty() || uuids.len() / UUID == elements.len() / INT32)
            && self.cells.iter().zip(&new.ints).all(|(cell, int)| cell.is_array() || int.is_some());
        if !is_whole {
            return Err(NotPlain);
        }
        let rows = Arc::make_mut(rows);
        let place = match rows.place(number) {
            Some(place) => place,
            None => {
                rows.ints.resize(rows.ints.len() + self.ints, 0);
                rows.arrays.resize(rows.arrays.len() + self.arrays, None);
                rows.add(number)
            }
        };
        for (cell, (kind, slot)) in self.cells.iter().zip(&self.slots).enumerate() {
            if kind.is_array() {
                let elements =
                    if cell == as_many { uuids } else { new.arrays[cell].unwrap_or_default() };
                rows.arrays[place * self.arrays + slot] = kept(made, elements);
            } else {
                rows.ints[place * self.ints + slot] = new.ints[cell].unwrap_or_default();
            }
        }
        Ok(())
    }

    fn change(
        &self,
        rows: &mut Arc<Rows>,
        made: &mut Arrays,
        number: i32,
        new: &mut New,
    ) -> Plain<()> {
        let Rules { many, as_many, .. } = self.rules;
        let place = rows.place(number).ok_or(NotPlain)?;
        if !self.is_choice(new) {
            return Err(NotPlain);
        }
        if let Some(uuids) = new.arrays[as_many] {
            new.arrays[as_many] = Some(self.filled(uuids));
        }
        if new.arrays[as_many].is_some() || new.arrays[many].is_some() {
            let count = |cell: usize| match new.arrays[cell] {
                Some(elements) => elements.len() / self.cells[cell].size(),
                None => self.count(rows, place, cell),
            };
            if count(as_many) != 0 && count(as_many) != count(many) {
                return Err(NotPlain);
            }
        }
        for (counter, by) in &self.rules.counters {
            let is_set = |cell: usize| new.ints[cell].is_some() || new.arrays[cell].is_some();
            if by.is_none_or(is_set) {
                let raised = self.int(rows, place, *counter).checked_add(1).ok_or(NotPlain)?;
                new.ints[*counter] = Some(raised);
            }
        }
        let rows = Arc::make_mut(rows);
        for (cell, slot) in self.slots.iter().enumerate() {
            if let Some(value) = new.ints[cell] {
                rows.ints[place * self.ints + slot] = value;
            }
            if let Some(elements) = new.arrays[cell] {
                rows.arrays[place * self.arrays + slot] = kept(made, elements);
            }
        }
        Ok(())
    }

    /// The int of a cell of a row.
    pub fn int(&self, rows: &Rows, place: usize, cell: usize) -> i64 {
        rows.ints[place * self.ints + self.slots[cell]]
    }

    /// The elements of an array of a row.
    pub fn array<'a>(&self, rows: &'a Rows, place: usize, cell: usize) -> &'a [u8] {
        rows.arrays[place * self.arrays + self.slots[cell]].as_deref().unwrap_or_default()
    }

    /// The same; if there are no uuids, the fillers that they stand for.
    pub fn elements<'a>(&self, rows: &'a Rows, place: usize, cell: usize) -> Cow<'a, [u8]> {
        let elements = self.array(rows, place, cell);
        if cell != self.rules.as_many || !elements.is_empty() {
            return Cow::Borrowed(elements);
        }
        Cow::Owned(self.rules.filler.repeat(self.count(rows, place, self.rules.many)))
    }

    /// The number of elements of an array of a row.
    pub fn count(&self, rows: &Rows, place: usize, cell: usize) -> usize {
        self.array(rows, place, cell).len() / self.cells[cell].size()
    }
}

fn kept(made: &mut Arrays, elements: &[u8]) -> Array {
    if elements.is_empty() {
        return None;
    }
    if elements.len() > MOST_SHARED {
        return Some(Arc::from(elements));
    }
    let make = || Ok::<_, NotPlain>(Arc::from(elements));
    made.get(elements, make).ok().cloned()
}
