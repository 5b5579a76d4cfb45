//! Programs: how a message of one version is read, as Python made it from the catalogue.
//!
//! Owns the notation, which `decoders/programs.py` writes. A program that is not in it is refused.

use crate::wire::Cursor;
use crate::{NotPlain, Plain};

/// Structs within structs; a catalogue has three at most.
const DEEPEST: usize = 16;
pub const MOST_FIELDS: usize = 64;
pub const MOST_TAGS: usize = 32;

pub struct Struct {
    /// In the order of the catalogue, which is the order in which they are written out.
    pub fields: Vec<Field>,
    /// Tags in their order, each with the index of its field.
    pub tags: Vec<(u32, usize)>,
    /// True if a field's value is shown or masked by what other fields say.
    pub is_guarded: bool,
}

/// What is written before a value, with a comma in front if it is not the first: `,"name":`.
pub struct Label {
    text: Vec<u8>,
    /// The same without the comma and with it, in pieces of one size; unused if it is longer.
    pieces: [[u8; SHORT]; 2],
}

/// Bytes of a label that is copied in one step.
const SHORT: usize = 32;

impl Label {
    fn new(text: Vec<u8>) -> Plain<Label> {
        if text.first() != Some(&b',') {
            return Err(NotPlain);
        }
        let mut pieces = [[0; SHORT]; 2];
        if text.len() <= SHORT {
            pieces[0][..text.len() - 1].copy_from_slice(&text[1..]);
            pieces[1][..text.len()].copy_from_slice(&text);
        }
        Ok(Label { text, pieces })
    }

    pub fn text(&self, is_first: bool) -> &[u8] {
        &self.text[usize::from(is_first)..]
    }

    /// The text at the start of a longer piece, and its size; None if it is too long for that.
    #[inline]
    pub fn short(&self, is_first: bool) -> Option<(&[u8; SHORT], usize)> {
        let size = self.text.len() - usize::from(is_first);
        (self.text.len() <= SHORT).then_some((&self.pieces[usize::from(!is_first)], size))
    }
}

pub struct Field {
    pub label: Label,
    pub kind: Kind,
    pub is_nullable: bool,
    pub is_tagged: bool,
    /// The place of a tagged field in `tags`.
    pub tag_place: usize,
    /// How a tagged field's default looks on the wire. No writer writes it.
    pub default: Vec<u8>,
}

impl Field {
    /// The field's name.
    pub fn name(&self) -> String {
        let label = self.label.text(false);
        let name = label.get(2..label.len().saturating_sub(2)).unwrap_or_default();
        String::from_utf8_lossy(name).into_owned()
    }
}

impl Struct {
    /// Read what stands before a tagged field's value: the field's index, and where the value ends.
    ///
    /// Tags rise; `lowest` is the place in `tags` of the next one that there may be. An unknown tag,
    /// or a default that is written out, is not plain.
    pub fn tag(&self, lowest: &mut usize, cursor: &mut Cursor) -> Plain<(usize, usize)> {
        let tag = cursor.unsigned()?;
        let size = cursor.unsigned()? as usize;
        let rest = self.tags.get(*lowest..).ok_or(NotPlain)?;
        let at = *lowest + rest.iter().position(|(known, _)| *known == tag).ok_or(NotPlain)?;
        *lowest = at + 1;
        let index = self.tags[at].1;
        let mut ahead = *cursor;
        let wire = ahead.bytes(size)?;
        if wire == self.fields[index].default { Err(NotPlain) } else { Ok((index, ahead.at)) }
    }
}

pub enum Kind {
    Bool,
    Int8,
    Int16,
    Uint16,
    Int32,
    Uint32,
    Int64,
    Float64,
    Uuid,
    Text,
    Bytes,
    Array(Box<Kind>),
    Struct(Box<Struct>),
    /// Text or bytes that are never shown.
    Masked(Box<Kind>),
    Guarded(Box<Guard>),
}

/// A text that is shown only if its name, for its type of resource, is known to be harmless.
pub struct Guard {
    pub type_field: usize,
    pub name_field: usize,
    pub harmless: Vec<(i8, Vec<Vec<u8>>)>,
    /// Names that begin like this are judged by somebody else.
    pub unjudged: Vec<(i8, Vec<u8>)>,
}

impl Guard {
    /// True if the value may be shown, false if it is masked.
    pub fn shows(&self, resource_type: i8, name: &[u8]) -> Plain<bool> {
        let names = self.harmless.iter().find(|(of, _)| *of == resource_type);
        if names.is_some_and(|(_, names)| names.binary_search_by(|one| (**one).cmp(name)).is_ok()) {
            return Ok(true);
        }
        let is_unjudged = |(of, prefix): &(i8, Vec<u8>)| {
            *of == resource_type && name.starts_with(prefix.as_slice())
        };
        if self.unjudged.iter().any(is_unjudged) { Err(NotPlain) } else { Ok(false) }
    }
}

/// Read a program; `doubled` doubles the quotes of what it writes, as a CSV cell has them.
pub fn parse(program: &[u8], doubled: bool) -> Plain<Struct> {
    let mut cursor = Cursor::new(program, 0);
    let read = structure(&mut cursor, doubled, 0)?;
    if cursor.is_at_end() { Ok(read) } else { Err(NotPlain) }
}

fn number(cursor: &mut Cursor) -> Plain<usize> {
    Ok(usize::from(u16::from_be_bytes(cursor.array()?)))
}

fn text(cursor: &mut Cursor) -> Plain<Vec<u8>> {
    let size = number(cursor)?;
    Ok(cursor.bytes(size)?.to_vec())
}

fn structure(cursor: &mut Cursor, doubled: bool, depth: usize) -> Plain<Struct> {
    let count = number(cursor)?;
    if depth > DEEPEST || count > MOST_FIELDS {
        return Err(NotPlain);
    }
    let mut fields = Vec::with_capacity(count);
    let mut tags = Vec::new();
    for index in 0..count {
        let mut label = text(cursor)?;
        if doubled {
            label = String::from_utf8(label).map_err(|_| NotPlain)?.replace('"', "\"\"").into();
        }
        let label = Label::new(label)?;
        let flags = cursor.byte()?;
        let is_tagged = flags & 2 != 0;
        let mut default = Vec::new();
        if is_tagged {
            tags.push((u32::from_be_bytes(cursor.array()?), index));
            default = text(cursor)?;
        }
        let kind = kind(cursor, doubled, depth)?;
        let is_nullable = flags & 1 != 0;
        fields.push(Field { label, kind, is_nullable, is_tagged, tag_place: 0, default });
    }
    tags.sort_unstable();
    if tags.len() > MOST_TAGS || tags.windows(2).any(|two| two[0].0 == two[1].0) {
        return Err(NotPlain);
    }
    for (place, (_, index)) in tags.iter().enumerate() {
        fields[*index].tag_place = place;
    }
    let mut is_guarded = false;
    for (index, field) in fields.iter().enumerate() {
        if let Kind::Guarded(guard) = &field.kind {
            // Both are read before the value, and are what the guard takes them for.
            let is_int8 = |at: usize| matches!(fields.get(at), Some(it) if matches!(it.kind, Kind::Int8) && !it.is_tagged);
            let is_text = |at: usize| matches!(fields.get(at), Some(it) if matches!(it.kind, Kind::Text) && !it.is_tagged && !it.is_nullable);
            let is_before = guard.type_field < index && guard.name_field < index;
            let is_first_tagged = fields.first().is_some_and(|first| first.is_tagged);
            if is_first_tagged
                || !is_before
                || !is_int8(guard.type_field)
                || !is_text(guard.name_field)
            {
                return Err(NotPlain);
            }
            is_guarded = true;
        }
    }
    Ok(Struct { fields, tags, is_guarded })
}

fn kind(cursor: &mut Cursor, doubled: bool, depth: usize) -> Plain<Kind> {
    if depth > DEEPEST {
        return Err(NotPlain);
    }
    Ok(match cursor.byte()? {
        b'?' => Kind::Bool,
        b'b' => Kind::Int8,
        b'h' => Kind::Int16,
        b'H' => Kind::Uint16,
        b'i' => Kind::Int32,
        b'I' => Kind::Uint32,
        b'q' => Kind::Int64,
        b'd' => Kind::Float64,
        b'u' => Kind::Uuid,
        b't' => Kind::Text,
        b'x' => Kind::Bytes,
        b'[' => match kind(cursor, doubled, depth + 1)? {
            // An array of arrays is in no catalogue.
            Kind::Array(_) | Kind::Guarded(_) | Kind::Masked(_) => return Err(NotPlain),
            element => Kind::Array(Box::new(element)),
        },
        b'{' => Kind::Struct(Box::new(structure(cursor, doubled, depth + 1)?)),
        b'm' => match kind(cursor, doubled, depth + 1)? {
            hidden @ (Kind::Text | Kind::Bytes) => Kind::Masked(Box::new(hidden)),
            _ => return Err(NotPlain),
        },
        b'g' => Kind::Guarded(Box::new(guard(cursor)?)),
        _ => return Err(NotPlain),
    })
}

fn guard(cursor: &mut Cursor) -> Plain<Guard> {
    let type_field = usize::from(cursor.byte()?);
    let name_field = usize::from(cursor.byte()?);
    let mut harmless = Vec::new();
    for _ in 0..number(cursor)? {
        let resource_type = i8::from_be_bytes(cursor.array()?);
        let mut names = Vec::new();
        for _ in 0..number(cursor)? {
            names.push(text(cursor)?);
        }
        names.sort_unstable();
        harmless.push((resource_type, names));
    }
    let mut unjudged = Vec::new();
    for _ in 0..number(cursor)? {
        let resource_type = i8::from_be_bytes(cursor.array()?);
        unjudged.push((resource_type, text(cursor)?));
    }
    Ok(Guard { type_field, name_field, harmless, unjudged })
}
