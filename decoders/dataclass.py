"""A dataclass decorator that makes a class's methods when they are first needed.

Owns how the classes that commands import get their methods. The standard library compiles five or
six functions for each class when its module is imported. That was a third of a command's start, and
most of these classes are not used in a run. Here a method is compiled when it is first called.
Parameters and behaviour are those of `dataclasses.dataclass`, and `fields`, `replace` and `asdict`
take these classes. Type checkers see the standard decorator.

It has no `InitVar`, and no `init=False`, `repr=False` and `weakref_slot` of a class: nothing here
uses them. It leaves to mypy if fields and bases fit together. `inspect.signature` is right once a
value was made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
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


Members = tuple[dataclasses.Field[Any], ...]
_COMPARISONS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_ORDERING = ("__lt__", "__le__", "__gt__", "__ge__")


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
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    members = dataclasses.fields(cls)
    written = {*vars(cls)}
    if vars(cls).get("__hash__") is None and "__eq__" in written:
        written.discard("__hash__")  # Python put None there
    if slots:
        cls = _slotted(cls, members)
    methods: dict[str, Any] = {
        "__init__": _late(cls, "__init__", lambda: _init(cls, members, frozen=frozen)),
        "__repr__": _representation,
    }
    if eq:
        compared = [member.name for member in members if member.compare]
        hashed = [member.name for member in members if _is_hashed(member)]
        for name in ("__eq__", *(_ORDERING if order else ())):
            methods[name] = _late(cls, name, partial(_comparison, name, compared))
        is_hashable = frozen or unsafe_hash
        methods["__hash__"] = (
            _late(cls, "__hash__", lambda: _hashing(hashed)) if is_hashable else None
        )
    if frozen:
        methods |= _freezing(cls, {member.name for member in members})
    if frozen and slots:
        methods |= {"__getstate__": _state, "__setstate__": _restore}
    for name, method in methods.items():
        if name not in written:
            setattr(cls, name, method)
    return cls


def _is_hashed(member: dataclasses.Field[Any]) -> bool:
    return member.compare if member.hash is None else member.hash


def _slotted(cls: type, members: Members) -> type:
    """Return the class once more, with slots: Python takes them only when a class is made."""
    names = [member.name for member in members]
    inherited: set[str] = set()
    for base in cls.__mro__[1:-1]:
        slots = vars(base).get("__slots__", ())
        inherited.update([slots] if isinstance(slots, str) else slots)
    body = dict(vars(cls))
    body["__slots__"] = tuple(name for name in names if name not in inherited)
    for name in (*names, "__dict__", "__weakref__"):
        body.pop(name, None)
    slotted = type(cls)(cls.__name__, cls.__bases__, body)
    slotted.__qualname__ = cls.__qualname__
    return slotted


def _late(cls: type, name: str, make: Callable[[], Any]) -> Any:
    """Return a method that makes the real one, puts it in its own place, and calls it."""

    def method(self: Any, *values: Any, **named: Any) -> Any:
        if vars(cls)[name] is method:
            made = make()
            made.__module__, made.__qualname__ = cls.__module__, f"{cls.__qualname__}.{name}"
            setattr(cls, name, made)
        return getattr(cls, name)(self, *values, **named)

    method.__name__ = name
    return method


def _compiled(lines: Iterable[str], name: str, known: dict[str, Any]) -> Any:
    """Return the function of these lines, as the standard library makes it."""
    exec("\n ".join(lines), known)
    return known[name]


def _init(cls: type, members: Members, *, frozen: bool) -> Any:
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


def _comparison(name: str, names: list[str]) -> Any:
    lines = (
        f"def {name}(self, other):",
        "if other.__class__ is not self.__class__: return NotImplemented",
        f"return {_tuple('self', names)} {_COMPARISONS[name]} {_tuple('other', names)}",
    )
    return _compiled(lines, name, {})


def _hashing(names: list[str]) -> Any:
    return _compiled(
        ("def __hash__(self):", f"return hash({_tuple('self', names)})"), "__hash__", {}
    )


def _freezing(cls: type, names: set[str]) -> dict[str, Any]:
    """Return what refuses a change. A subclass that is no dataclass may have members of its own."""

    def is_ours(self: Any, name: str) -> bool:
        return type(self) is cls or name in names

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
