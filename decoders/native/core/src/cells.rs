//! One column as Arrow has it: the cells of a field of some kind, nested as deep as it is.
//!
//! Owns the layout of the buffers. Numbers are in the machine's own order of bytes, bits begin at
//! the lowest, and offsets take four bytes.

use crate::fields::Sink;
use crate::json::{push_base64, push_uuid};
use crate::program::Kind;
use crate::{NotPlain, Plain};

/// A bit for each cell.
#[derive(Default)]
pub struct Bits {
    pub bytes: Vec<u8>,
    count: usize,
}

impl Bits {
    fn push(&mut self, is_set: bool) {
        if self.count & 7 == 0 {
            self.bytes.push(0);
        }
        if is_set {
            self.bytes[self.count / 8] |= 1 << (self.count % 8);
        }
        self.count += 1;
    }

    fn truncate(&mut self, count: usize) {
        if count < self.count {
            self.count = count;
            self.bytes.truncate(count.div_ceil(8));
            if let (Some(last), 1..) = (self.bytes.last_mut(), count % 8) {
                *last &= (1 << (count % 8)) - 1;
            }
        }
    }

    fn is_set(&self, at: usize) -> bool {
        self.bytes[at / 8] >> (at % 8) & 1 == 1
    }
}

pub enum Cells {
    Flags(Bits),
    /// Numbers of so many bytes.
    Numbers(usize, Vec<u8>),
    Text {
        ends: Vec<u8>,
        data: Vec<u8>,
    },
    List {
        ends: Vec<u8>,
        elements: Box<Column>,
    },
    Parts(Vec<Column>),
}

pub struct Column {
    pub count: usize,
    pub nulls: usize,
    /// Not there while no cell is null.
    pub valid: Option<Bits>,
    pub cells: Cells,
}

impl Column {
    /// An empty column for a kind of fields.
    pub fn of(kind: &Kind) -> Column {
        let numbers = |width| Cells::Numbers(width, Vec::new());
        let cells = match kind {
            Kind::Bool => Cells::Flags(Bits::default()),
            Kind::Int8 => numbers(1),
            Kind::Int16 => numbers(2),
            Kind::Uint16 | Kind::Int32 => numbers(4),
            Kind::Uint32 | Kind::Int64 | Kind::Float64 => numbers(8),
            Kind::Uuid | Kind::Text | Kind::Bytes | Kind::Masked(_) | Kind::Guarded(_) => {
                Cells::Text { ends: Vec::new(), data: Vec::new() }
            }
            Kind::Array(element) => {
                Cells::List { ends: Vec::new(), elements: Box::new(Column::of(element)) }
            }
            Kind::Struct(program) => {
                Cells::Parts(program.fields.iter().map(|field| Column::of(&field.kind)).collect())
            }
        };
        Column { count: 0, nulls: 0, valid: None, cells }
    }

    /// The column of the elements of a list.
    pub fn elements(&mut self) -> Plain<&mut Column> {
        match &mut self.cells {
            Cells::List { elements, .. } => Ok(elements),
            _ => Err(NotPlain),
        }
    }

    /// The columns of the fields of a struct.
    pub fn parts(&mut self) -> Plain<&mut [Column]> {
        match &mut self.cells {
            Cells::Parts(parts) => Ok(parts),
            _ => Err(NotPlain),
        }
    }

    /// Close a list whose elements are there.
    pub fn end_list(&mut self, largest: usize) -> Plain<()> {
        self.end(true);
        let count = self.elements()?.count;
        if count > largest { Err(NotPlain) } else { Ok(()) }
    }

    /// Close a struct whose fields are there.
    pub fn end_struct(&mut self) {
        self.end(true);
    }

    /// Refuse text of more bytes than its offsets can say.
    pub fn checked(&self, largest: usize) -> Plain<()> {
        match &self.cells {
            Cells::Text { data, .. } if data.len() > largest => Err(NotPlain),
            _ => Ok(()),
        }
    }

    /// Note that a cell is complete.
    fn end(&mut self, is_valid: bool) {
        match &mut self.cells {
            Cells::Text { ends, data } => {
                ends.extend_from_slice(&(data.len() as i32).to_ne_bytes());
            }
            Cells::List { ends, elements } => {
                ends.extend_from_slice(&(elements.count as i32).to_ne_bytes());
            }
            Cells::Flags(_) | Cells::Numbers(..) | Cells::Parts(_) => {}
        }
        if let Some(valid) = &mut self.valid {
            valid.push(is_valid);
        } else if !is_valid {
            let mut valid = Bits { bytes: vec![0xff; self.count / 8], count: self.count / 8 * 8 };
            for _ in 0..self.count % 8 {
                valid.push(true);
            }
            valid.push(false);
            self.valid = Some(valid);
        }
        self.nulls += usize::from(!is_valid);
        self.count += 1;
    }

    fn number<const N: usize>(&mut self, value: [u8; N]) {
        if let Cells::Numbers(_, data) = &mut self.cells {
            data.extend_from_slice(&value);
        }
        self.end(true);
    }

    fn written(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if let Cells::Text { data, .. } = &mut self.cells {
            write(data);
        }
        self.end(true);
    }

    /// Forget all cells but the first ones. The last one may not be complete.
    pub fn truncate(&mut self, count: usize) {
        let end = |ends: &[u8]| match ends.last_chunk::<4>() {
            Some(end) => i32::from_ne_bytes(*end) as usize,
            None => 0,
        };
        match &mut self.cells {
            Cells::Flags(bits) => bits.truncate(count),
            Cells::Numbers(width, data) => data.truncate(*width * count),
            Cells::Text { ends, data } => {
                ends.truncate(4 * count);
                data.truncate(end(ends));
            }
            Cells::List { ends, elements } => {
                ends.truncate(4 * count);
                elements.truncate(end(ends));
            }
            Cells::Parts(parts) => parts.iter_mut().for_each(|part| part.truncate(count)),
        }
        if count < self.count {
            if let Some(valid) = &mut self.valid {
                self.nulls -= (count..self.count).filter(|at| !valid.is_set(*at)).count();
                valid.truncate(count);
            }
            self.count = count;
        }
    }
}

/// Takes one value that is no list and no struct.
impl Sink for Column {
    fn raw(&mut self, _: &[u8]) {}

    fn null(&mut self) {
        match &mut self.cells {
            Cells::Flags(bits) => bits.push(false),
            Cells::Numbers(width, data) => data.resize(data.len() + *width, 0),
            Cells::Parts(parts) => parts.iter_mut().for_each(Sink::null),
            Cells::Text { .. } | Cells::List { .. } => {}
        }
        self.end(false);
    }

    fn bool(&mut self, value: bool) {
        if let Cells::Flags(bits) = &mut self.cells {
            bits.push(value);
        }
        self.end(true);
    }

    fn int(&mut self, value: i64) {
        match self.cells {
            Cells::Numbers(1, _) => self.number((value as i8).to_ne_bytes()),
            Cells::Numbers(2, _) => self.number((value as i16).to_ne_bytes()),
            Cells::Numbers(4, _) => self.number((value as i32).to_ne_bytes()),
            _ => self.number(value.to_ne_bytes()),
        }
    }

    fn double(&mut self, value: f64) -> Plain<()> {
        self.number(value.to_ne_bytes());
        Ok(())
    }

    fn uuid(&mut self, value: &[u8; 16]) {
        self.written(|data| push_uuid(data, value));
    }

    fn text(&mut self, value: &str) {
        self.written(|data| data.extend_from_slice(value.as_bytes()));
    }

    fn bytes(&mut self, value: &[u8]) {
        self.written(|data| push_base64(data, value));
    }

    fn mask(&mut self) {
        self.written(|data| data.extend_from_slice(crate::json::MASK));
    }

    fn mark(&self) -> usize {
        self.count
    }

    fn take_back(&mut self, mark: usize) {
        self.truncate(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(column: &Column) -> Vec<bool> {
        let valid = column.valid.as_ref().unwrap();
        (0..column.count).map(|at| valid.is_set(at)).collect()
    }

    #[test]
    fn nulls_are_bits_that_are_there_from_the_first_one_on() {
        let mut column = Column::of(&Kind::Int16);
        for value in 0..11 {
            column.int(value);
        }
        assert!(column.valid.is_none());
        column.null();
        column.int(-2);
        assert_eq!((column.count, column.nulls), (13, 1));
        let expected: Vec<bool> = (0..13).map(|at| at != 11).collect();
        assert_eq!(bits(&column), expected);
        column.truncate(11);
        assert_eq!((column.count, column.nulls), (11, 0));
        column.null();
        assert_eq!(bits(&column).iter().filter(|is_set| !**is_set).count(), 1);
    }

    #[test]
    fn a_list_that_is_not_complete_is_forgotten_with_its_elements() {
        let mut column = Column::of(&Kind::Array(Box::new(Kind::Text)));
        column.elements().unwrap().text("a");
        column.end_list(9).unwrap();
        column.elements().unwrap().text("bc");
        column.truncate(1);
        let Cells::List { ends, elements } = &column.cells else { panic!("it is a list") };
        assert_eq!((ends.len(), elements.count), (4, 1));
        let Cells::Text { data, .. } = &elements.cells else { panic!("it is text") };
        assert_eq!(data, b"a");
        assert_eq!(column.elements().unwrap().checked(0), Err(NotPlain));
    }

    #[test]
    fn flags_are_cut_between_bytes() {
        let mut column = Column::of(&Kind::Bool);
        (0..12).for_each(|_| column.bool(true));
        column.truncate(9);
        column.bool(false);
        let Cells::Flags(bits) = &column.cells else { panic!("they are flags") };
        assert_eq!(bits.bytes, [0xff, 1]);
    }
}
