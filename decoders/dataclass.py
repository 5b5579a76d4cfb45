"""A dataclass decorator that makes a class's methods when they are first needed.

Owns the methods of the classes that commands import. The standard library compiles five or six
functions for each class when its module is imported. That was a third of a command's start, and a
run does not use most of these classes. This decorator compiles a method at its first call, and the
standard library makes the fields when a caller asks for them.
Parameters and behaviour are those of `dataclasses.dataclass`, and `fields`, `replace` and `asdict`
take these classes. Type checkers see the standard decorator.

It has no `InitVar`, and no `init=False`, `repr=False` and `weakref_slot` of a class: nothing here
uses them. mypy checks that fields and bases fit together; the decorator does not.
`inspect.signature` is right after the first value was made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable
from functools import partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, **parameters):
        """Make a class a dataclass, with the parameters of `dataclasses.dataclass`."""
        if cls is None:
            return lambda cls: _made(cls, **parameters)
        return _made(cls)


_COMPARISONS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_ORDERING = ("__lt__", "__le__", "__gt__", "__ge__")
_FIELDS = "__dataclass_fields__"


def _made(
    cls: type,
    *,
    eq: bool = True,
    order: bool = False,
    unsafe_hash: bool = False,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
) -> type:
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # else dataclasses makes a signature for it
    own = _own_members(cls)
    inherited = _inherited_members(cls)
    members = dict.fromkeys([*inherited, *own])
    owner: list[type] = []  # the class as it is in the end
    methods: dict[str, Any] = {
        "__init__": _late(owner, "__init__", partial(_init, frozen=frozen)),
        "__repr__": _representation,
        "__match_args__": () if kw_only else _places(cls, own),
        _FIELDS: _Fields(owner, inherited, own, kw_only=kw_only),
    }
    if eq:
        for name in ("__eq__", *(_ORDERING if order else ())):
            methods[name] = _late(owner, name, partial(_comparison, name))
        is_hashable = frozen or unsafe_hash
        methods["__hash__"] = _late(owner, "__hash__", _hashing) if is_hashable else None
    if frozen:
        methods |= _freezing(owner, members.keys())
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    written = vars(cls)
    for name in [name for name in methods if name in written]:
        if name != "__hash__" or written[name] is not None or "__eq__" not in written:
            del methods[name]  # the class has its own; a None for __hash__ may be Python's
    if slots:
        cls = _slotted(cls, members, methods)
    else:
        for name, default in own.items():
            if isinstance(default, dataclasses.Field):
                _put_default(cls, name, default)
        for name, method in methods.items():
            setattr(cls, name, method)
    owner.append(cls)
    return cls


def _own_members(cls: type) -> dict[str, Any]:
    """Return the names of a class's own members, each with its default, a field, or MISSING."""
    missing, written = dataclasses.MISSING, vars(cls)
    return {
        name: written.get(name, missing)
        for name, kind in cls.__annotations__.items()
        if "ClassVar" not in (kind if isinstance(kind, str) else repr(kind))
    }


def _inherited_members(cls: type) -> dict[str, type]:
    """Return the names of the members of a class's bases, each with the base that has it."""
    owners = {}
    for base in reversed(cls.__mro__[1:]):
        fields = vars(base).get(_FIELDS, ())
        for name in fields.own if isinstance(fields, _Fields) else fields:
            owners[name] = base
    return owners


def _places(cls: type, own: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of the members that have a place in the parameters."""
    places: dict[str, None] = {}
    for base in reversed(cls.__mro__[1:]):
        places |= dict.fromkeys(
            vars(base).get("__match_args__", ()) if _FIELDS in vars(base) else ()
        )
    for name, default in own.items():
        is_field = isinstance(default, dataclasses.Field)
        if is_field and (not default.init or default.kw_only is True):
            places.pop(name, None)
        else:
            places[name] = None
    return tuple(places)


def _put_default(cls: type, name: str, member: dataclasses.Field[Any]) -> None:
    if member.default is dataclasses.MISSING:
        delattr(cls, name)
    else:
        setattr(cls, name, member.default)


class _Fields:
    """The fields of a class, which the standard library makes once somebody asks for them."""

    def __init__(
        self, owner: list[type], inherited: dict[str, type], own: dict[str, Any], *, kw_only: bool
    ) -> None:
        self._owner, self._inherited, self.own, self._kw_only = owner, inherited, own, kw_only

    def __get__(self, value: object, cls: type) -> dict[str, dataclasses.Field[Any]]:
        (owner,) = self._owner
        made = {
            name: getattr(base, _FIELDS)[name] for name, base in self._inherited.items()
        } | self._own_fields(owner)
        setattr(owner, _FIELDS, made)
        return made

    def _own_fields(self, owner: type) -> dict[str, dataclasses.Field[Any]]:
        missing = dataclasses.MISSING
        body = {name: default for name, default in self.own.items() if default is not missing}
        body |= {"__doc__": owner.__name__, "__module__": owner.__module__}
        shadow = type(owner.__name__, (), body)
        shadow.__annotations__ = {name: owner.__annotations__[name] for name in self.own}
        make = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=self._kw_only)
        return {member.name: member for member in dataclasses.fields(make(shadow))}


def _is_hashed(member: dataclasses.Field[Any]) -> bool:
    return member.compare if member.hash is None else member.hash


def _slotted(cls: type, members: Iterable[str], methods: dict[str, Any]) -> type:
    """Return the class once more, with slots: Python takes them only when a class is made."""
    inherited: set[str] = set()
    for base in cls.__mro__[1:-1]:
        slots = vars(base).get("__slots__", ())
        inherited.update([slots] if isinstance(slots, str) else slots)
    body = {**vars(cls), **methods}
    body["__slots__"] = tuple(name for name in members if name not in inherited)
    for name in (*members, "__dict__", "__weakref__"):
        body.pop(name, None)
    slotted = type(cls)(cls.__name__, cls.__bases__, body)
    slotted.__qualname__ = cls.__qualname__
    return slotted


def _late(owner: list[type], name: str, make: Callable[[type], Any]) -> Any:
    """Return a method that makes the real one, puts it in its own place, and calls it."""

    def method(self: Any, *values: Any, **named: Any) -> Any:
        (cls,) = owner
        if vars(cls)[name] is method:
            made = make(cls)
            made.__module__, made.__qualname__ = cls.__module__, f"{cls.__qualname__}.{name}"
            setattr(cls, name, made)
        return getattr(cls, name)(self, *values, **named)

    method.__name__ = name
    return method


def _compiled(lines: Iterable[str], name: str, known: dict[str, Any]) -> Any:
    """Return the function of these lines, as the standard library makes it."""
    # An interrupt in the exec of a text would end Python by the signal, even if it is caught.
    exec(compile("\n ".join(lines), "<dataclass>", "exec"), known)
    return known[name]


def _init(cls: type, *, frozen: bool) -> Any:
    members = dataclasses.fields(cls)
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": dataclasses.MISSING}
    by_place: list[str] = []
    by_name: list[str] = []
    lines = []
    for member in members:
        name = value = parameter = member.name
        if member.default_factory is not dataclasses.MISSING:
            known[f"_make_{name}"] = member.default_factory
            value = f"_make_{name}()"
            if member.init:
                parameter = f"{name}=_missing"
                value = f"{value} if {name} is _missing else {name}"
        elif member.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = member.default
            parameter = f"{name}=_default_{name}"
            value = name if member.init else f"_default_{name}"
        elif not member.init:
            continue
        if member.init:
            (by_name if member.kw_only else by_place).append(parameter)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])
    head = f"def __init__({parameters}):"
    made = _compiled([head, *(lines or ["pass"])], "__init__", known)
    annotations = {member.name: member.type for member in members if member.init}
    made.__annotations__ = {**annotations, "return": None}
    return made


def _tuple(of: str, names: list[str]) -> str:
    return f"({''.join(f'{of}.{name},' for name in names)})"


def _comparison(name: str, cls: type) -> Any:
    names = [member.name for member in dataclasses.fields(cls) if member.compare]
    lines = (
        f"def {name}(self, other):",
        "if other.__class__ is not self.__class__: return NotImplemented",
        f"return {_tuple('self', names)} {_COMPARISONS[name]} {_tuple('other', names)}",
    )
    return _compiled(lines, name, {})


def _hashing(cls: type) -> Any:
    names = [member.name for member in dataclasses.fields(cls) if _is_hashed(member)]
    return _compiled(
        ("def __hash__(self):", f"return hash({_tuple('self', names)})"), "__hash__", {}
    )


def _freezing(owner: list[type], names: Collection[str]) -> dict[str, Any]:
    """Return what refuses a change. A subclass that is no dataclass may have members of its own."""

    def is_ours(self: Any, name: str) -> bool:
        return type(self) is owner[0] or name in names

    def refuse_change(self: Any, name: str, value: Any) -> None:
        if is_ours(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def refuse_removal(self: Any, name: str) -> None:
        if is_ours(self, name):
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return {"__setattr__": refuse_change, "__delattr__": refuse_removal}


@recursive_repr()
def _representation(self: Any) -> str:
    shown = [
        f"{member.name}={getattr(self, member.name)!r}"
        for member in dataclasses.fields(self)
        if member.repr
    ]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _state(self: Any) -> list[Any]:
    return [getattr(self, member.name) for member in dataclasses.fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for member, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, member.name, value)
