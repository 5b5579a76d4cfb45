//! Records of plain batches as the values that `codec.py` makes of them.

use std::collections::HashMap;

use kraftool_core::NotPlain;
use kraftool_core::batch::{Header, Records};
use kraftool_core::program::{Field, Kind, Struct, parse};
use kraftool_core::render::Stop;
use kraftool_core::table::{MESSAGE, frame};
use kraftool_core::wire::Cursor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyList, PyString, PyTuple};

/// Texts of uuids that are kept: few uuids fill a log.
const MOST_TEXTS: usize = 100_000;

/// Records of a batch that are in memory at a time.
const MOST_AT_ONCE: u32 = 1024;

/// Why a batch has no values: it is not plain, or Python raised.
enum Fault {
    NotPlain,
    Python(PyErr),
}

impl From<NotPlain> for Fault {
    fn from(_: NotPlain) -> Self {
        Fault::NotPlain
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Fault::Python(error)
    }
}

type Read<T> = Result<T, Fault>;

/// What a tagged field holds where it is left out.
enum Default {
    None,
    /// A list belongs to the value that it is in.
    EmptyList,
    Shared(Py<PyAny>),
}

struct Shape {
    program: Struct,
    names: Names,
    /// True if somebody else may take records of this type.
    is_offered: bool,
}

/// The keys of a struct's dictionary, and those of the structs within, by field.
struct Names {
    keys: Vec<Py<PyString>>,
    defaults: Vec<Default>,
    inner: Vec<Option<Names>>,
    /// All keys in their order, with the defaults of tagged fields: a copy is quicker than as many
    /// insertions.
    template: Py<PyDict>,
}

#[derive(Default)]
struct Texts(HashMap<[u8; 16], Py<PyString>>);

impl Texts {
    fn text<'py>(&mut self, py: Python<'py>, raw: [u8; 16]) -> Bound<'py, PyString> {
        if let Some(text) = self.0.get(&raw) {
            return text.bind(py).clone();
        }
        if self.0.len() >= MOST_TEXTS {
            self.0.clear();
        }
        let text = crate::shared::uuid_text(py, &raw);
        self.0.insert(raw, text.clone().unbind());
        text
    }
}

/// A frame: its name, and how it is read if Python did not keep it for itself.
type Known = Option<(Py<PyString>, Shape)>;

/// Decodes batch after batch.
#[pyclass]
pub struct Values {
    known: HashMap<(u8, u8), Known>,
    texts: Texts,
}

#[pymethods]
impl Values {
    #[new]
    fn new() -> Self {
        Values { known: HashMap::new(), texts: Texts::default() }
    }

    /// Give a type its name and the program that reads it.
    fn add(
        &mut self,
        py: Python<'_>,
        api_key: u8,
        version: u8,
        program: &[u8],
        name: Py<PyString>,
        is_offered: bool,
    ) -> PyResult<()> {
        let not_a_program = |_| PyValueError::new_err("not a program");
        let program = parse(program, false).map_err(not_a_program)?;
        let names = match names(py, &program, &mut self.texts) {
            Ok(names) => names,
            Err(Fault::Python(error)) => return Err(error),
            Err(Fault::NotPlain) => return Err(not_a_program(NotPlain)),
        };
        self.known.insert((api_key, version), Some((name, Shape { program, names, is_offered })));
        Ok(())
    }

    /// Stop at this type.
    fn refuse(&mut self, api_key: u8, version: u8) {
        self.known.insert((api_key, version), None);
    }

    /// The names and values of the next records of a sound batch, and where the one behind them
    /// begins. `at` is where the record of this index begins, 0 for the first. They end before a
    /// record that is offered to somebody else, unless the first one was. An int is the reason for
    /// having none.
    fn read<'py>(
        &mut self,
        py: Python<'py>,
        batch: &[u8],
        at: usize,
        index: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.values(py, batch, at, index) {
            Ok(Ok(values)) => Ok(values.into_pyobject(py)?.into_any()),
            Ok(Err(reason)) => Ok(reason.into_pyobject(py)?.into_any()),
            Err(error) => Err(error),
        }
    }
}

impl Values {
    fn values<'py>(
        &mut self,
        py: Python<'py>,
        batch: &[u8],
        at: usize,
        index: u32,
    ) -> PyResult<Result<(Bound<'py, PyList>, usize), i32>> {
        let Ok(header) = Header::read(batch, 0) else { return Ok(Err(crate::NOT_PLAIN)) };
        if !header.is_plain() || header.size != batch.len() {
            return Ok(Err(crate::NOT_PLAIN));
        }
        let count = header.record_count as u32;
        let stop = count.min(index.saturating_add(MOST_AT_ONCE));
        let mut records = Records::resume(batch, at, index);
        let values = PyList::empty(py);
        let (mut next, mut read, mut offers) = (records.at(), index, true);
        while read < stop {
            let Ok(record) = records.next_record() else { return Ok(Err(crate::NOT_PLAIN)) };
            let Ok((api_key, version)) = frame(record.value) else {
                return Ok(Err(crate::NOT_PLAIN));
            };
            let (name, shape) = match self.known.get(&(api_key, version)) {
                Some(Some(known)) => (&known.0, &known.1),
                Some(None) => return Ok(Err(crate::NOT_PLAIN)),
                None => return Ok(Err(crate::reason(Stop::Unknown(api_key, version)))),
            };
            if shape.is_offered && offers {
                if read > index {
                    return Ok(Ok((values, next)));
                }
                offers = false;
            }
            let mut cursor = Cursor::new(record.value, MESSAGE);
            match structure(py, &shape.program, &shape.names, &mut cursor, &mut self.texts) {
                Ok(value) if cursor.is_at_end() => {
                    values.append(PyTuple::new(py, [name.bind(py).as_any(), value.as_any()])?)?;
                }
                Ok(_) | Err(Fault::NotPlain) => return Ok(Err(crate::NOT_PLAIN)),
                Err(Fault::Python(error)) => return Err(error),
            }
            (next, read) = (records.at(), read + 1);
        }
        let is_whole = stop < count || records.is_at_end();
        Ok(if is_whole { Ok((values, records.at())) } else { Err(crate::NOT_PLAIN) })
    }
}

fn names(py: Python<'_>, program: &Struct, texts: &mut Texts) -> Read<Names> {
    let template = PyDict::new(py);
    let mut made = Names {
        keys: Vec::new(),
        defaults: Vec::new(),
        inner: Vec::new(),
        template: template.clone().unbind(),
    };
    for field in &program.fields {
        made.keys.push(PyString::intern(py, &field.name()).unbind());
        made.inner.push(match &field.kind {
            Kind::Struct(inner) => Some(names(py, inner, texts)?),
            Kind::Array(element) => match &**element {
                Kind::Struct(inner) => Some(names(py, inner, texts)?),
                _ => None,
            },
            _ => None,
        });
        let inner = made.inner.last().and_then(Option::as_ref);
        let default = default(py, field, inner, texts)?;
        let key = made.keys.last().map(|key| key.bind(py));
        match &default {
            Default::Shared(shared) => template.set_item(key, shared)?,
            _ => template.set_item(key, py.None())?,
        }
        made.defaults.push(default);
    }
    Ok(made)
}

fn default(
    py: Python<'_>,
    field: &Field,
    inner: Option<&Names>,
    texts: &mut Texts,
) -> Read<Default> {
    if !field.is_tagged {
        return Ok(Default::None);
    }
    let mut cursor = Cursor::new(&field.default, 0);
    let read = value(py, &field.kind, field.is_nullable, inner, &mut cursor, texts)?;
    Ok(if read.is_none() {
        Default::None
    } else if read.cast::<PyList>().is_ok() {
        Default::EmptyList
    } else {
        Default::Shared(read.unbind())
    })
}

fn structure<'py>(
    py: Python<'py>,
    program: &Struct,
    names: &Names,
    cursor: &mut Cursor,
    texts: &mut Texts,
) -> Read<Bound<'py, PyDict>> {
    let made = names.template.bind(py).copy()?;
    for (index, field) in program.fields.iter().enumerate() {
        let key = names.keys[index].bind(py);
        if field.is_tagged {
            if matches!(names.defaults[index], Default::EmptyList) {
                made.set_item(key, PyList::empty(py))?;
            }
            continue;
        }
        let inner = names.inner[index].as_ref();
        made.set_item(key, value(py, &field.kind, field.is_nullable, inner, cursor, texts)?)?;
    }
    let mut lowest = 0;
    for _ in 0..cursor.unsigned()? {
        let (index, end) = program.tag(&mut lowest, cursor)?;
        let field = &program.fields[index];
        let inner = names.inner[index].as_ref();
        let read = value(py, &field.kind, field.is_nullable, inner, cursor, texts)?;
        if cursor.at != end {
            return Err(Fault::NotPlain);
        }
        made.set_item(names.keys[index].bind(py), read)?;
    }
    Ok(made)
}

fn value<'py>(
    py: Python<'py>,
    kind: &Kind,
    is_nullable: bool,
    names: Option<&Names>,
    cursor: &mut Cursor,
    texts: &mut Texts,
) -> Read<Bound<'py, PyAny>> {
    let int = |value: i64| -> Read<Bound<'py, PyAny>> {
        Ok(value.into_pyobject(py).map_err(PyErr::from)?.into_any())
    };
    match kind {
        Kind::Bool => Ok(PyBool::new(py, cursor.bool()?).to_owned().into_any()),
        Kind::Int8 => int(i64::from(i8::from_be_bytes(cursor.array()?))),
        Kind::Int16 => int(i64::from(i16::from_be_bytes(cursor.array()?))),
        Kind::Uint16 => int(i64::from(u16::from_be_bytes(cursor.array()?))),
        Kind::Int32 => int(i64::from(i32::from_be_bytes(cursor.array()?))),
        Kind::Uint32 => int(i64::from(u32::from_be_bytes(cursor.array()?))),
        Kind::Int64 => int(i64::from_be_bytes(cursor.array()?)),
        Kind::Float64 => Ok(PyFloat::new(py, f64::from_be_bytes(cursor.array()?)).into_any()),
        Kind::Uuid => Ok(texts.text(py, cursor.array()?).into_any()),
        Kind::Text => match cursor.sized(is_nullable)? {
            Some(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(|_| NotPlain)?;
                Ok(PyString::new(py, text).into_any())
            }
            None => Ok(py.None().into_bound(py)),
        },
        Kind::Bytes => match cursor.sized(is_nullable)? {
            Some(bytes) => Ok(PyBytes::new(py, bytes).into_any()),
            None => Ok(py.None().into_bound(py)),
        },
        Kind::Array(element) => match cursor.length()? {
            Some(count) => {
                let list = PyList::empty(py);
                for _ in 0..count {
                    list.append(value(py, element, false, names, cursor, texts)?)?;
                }
                Ok(list.into_any())
            }
            None if is_nullable => Ok(py.None().into_bound(py)),
            None => Err(Fault::NotPlain),
        },
        Kind::Struct(program) => {
            if is_nullable && cursor.is_null()? {
                return Ok(py.None().into_bound(py));
            }
            let names = names.ok_or(Fault::NotPlain)?;
            Ok(structure(py, program, names, cursor, texts)?.into_any())
        }
        // Values are not shown: nothing of them is masked.
        Kind::Masked(_) | Kind::Guarded(_) => Err(Fault::NotPlain),
    }
}
