"""Our dataclasses behave as the standard library's: the same classes made by both, side by side."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from operator import ge, gt, le, lt
from typing import Any

import pytest

from kraftool.decoders import dataclass as ours

Decorator = Any
BOTH = (dataclasses.dataclass, ours.dataclass)
WAYS = [
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "kw_only": True},
    {"slots": True},
    {"slots": True, "kw_only": True, "unsafe_hash": True},
    {"slots": True, "eq": False},
    {"frozen": True, "slots": True, "order": True},
    {},
]
ways = pytest.mark.parametrize("way", WAYS, ids=str)


def _made(decorate: Decorator, way: dict[str, bool]) -> tuple[type, type]:
    """A class with each kind of field, and one that inherits from it."""

    @decorate(**way)
    class Base:
        number: int
        text: str = "x"
        items: list[int] = field(default_factory=list, hash=False, compare=True)
        secret: str = field(default="", repr=False)
        note: str = field(default="", compare=False)
        made: int = field(default=7, init=False)

        @property
        def doubled(self) -> int:
            return self.number * 2

    @decorate(**way)
    class Derived(Base):
        text: str = "y"
        more: tuple[int, ...] = ()
        seen: list[int] = field(default_factory=list, init=False, hash=False)

        def __post_init__(self) -> None:
            self.seen.append(self.number)

    return Base, Derived


def _outcome(act: Callable[[type], object], cls: type) -> object:
    try:
        return act(cls)
    except (TypeError, AttributeError) as error:
        return type(error), str(error).split(".")[-1]


def _pairs(way: dict[str, bool], act: Callable[[type], object]) -> None:
    """Both classes of both decorators do the same, the first time and the second."""
    for standard, own in zip(*(_made(decorate, way) for decorate in BOTH), strict=True):
        for _ in range(2):
            assert _outcome(act, own) == _outcome(act, standard)


def _value(cls: Any, number: int = 1, **more: Any) -> Any:
    return cls(number=number, **more)


def _hash_alike(one: object, other: object) -> bool:
    """Compare while both live: without __eq__ a hash is an address, which is used again."""
    return hash(one) == hash(other)


@ways
def test_values_are_made_compared_hashed_and_shown_alike(way: dict[str, bool]) -> None:
    _pairs(way, lambda cls: repr(_value(cls, secret="s", items=[1], note="n")))
    _pairs(way, lambda cls: _value(cls) == _value(cls, note="other"))
    _pairs(way, lambda cls: _value(cls) == _value(cls, secret="other"))
    _pairs(way, lambda cls: _value(cls) == 1)
    _pairs(way, lambda cls: _hash_alike(_value(cls), _value(cls, note="other", items=[3])))
    _pairs(way, lambda cls: _hash_alike(_value(cls), _value(cls, number=2)))
    _pairs(way, lambda cls: (_value(cls, 1) < _value(cls, 2), _value(cls, 1) >= _value(cls, 2)))
    _pairs(way, lambda cls: asdict(_value(cls, items=[4])))
    _pairs(way, lambda cls: repr(replace(_value(cls), number=9)))
    _pairs(way, lambda cls: repr(copy.copy(_value(cls, items=[4]))))
    _pairs(way, lambda cls: [(member.name, member.type, member.kw_only) for member in fields(cls)])
    _pairs(way, lambda cls: _value(cls).doubled)


@ways
def test_what_cannot_be_made_is_refused_alike(way: dict[str, bool]) -> None:
    _pairs(way, lambda cls: cls())
    _pairs(way, lambda cls: repr(cls(1, "t")))
    _pairs(way, lambda cls: _value(cls, unknown=1))
    _pairs(way, lambda cls: _value(cls, made=1))
    _pairs(way, lambda cls: vars(cls)["__match_args__"])


@ways
def test_changes_are_refused_alike(way: dict[str, bool]) -> None:
    def change(cls: type) -> object:
        value = _value(cls)
        value.number = 5
        return value.number

    def remove(cls: type) -> object:
        value = _value(cls)
        del value.number
        return hasattr(value, "number")

    def invent(cls: type) -> object:
        value = _value(cls)
        value.invented = 5
        return value.invented

    for act in (change, remove):
        _pairs(way, act)
    if not (way.get("frozen") and way.get("slots")):  # there Python 3.11's own raises a TypeError
        _pairs(way, invent)


@pytest.mark.parametrize("compare", [lt, le, gt, ge])
@pytest.mark.parametrize("pair", [(1, 2), (2, 1), (1, 1), (None, None), (None, 1)], ids=str)
@pytest.mark.parametrize("names", [(), ("only",), ("first", "second")], ids=len)
def test_values_are_ordered_alike(
    names: tuple[str, ...], pair: tuple[object, object], compare: Callable[[object, object], bool]
) -> None:
    """As tuples are, which look for a difference first: None is not compared with itself."""

    def ordered(cls: type) -> object:
        left, right = (cls(**dict.fromkeys(names, value)) for value in pair)
        return compare(left, right)

    def outcome(decorate: Decorator) -> object:
        row = type("Row", (), {"__annotations__": dict.fromkeys(names, object)})
        return _outcome(ordered, decorate(order=True)(row))

    assert outcome(ours.dataclass) == outcome(dataclasses.dataclass)


@ways
def test_two_values_share_no_default(way: dict[str, bool]) -> None:
    base, _ = _made(ours.dataclass, way)
    first, second = _value(base), _value(base)
    first.items.append(1)
    assert second.items == []


@ours.dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """At the top of a module, so that it can be pickled."""

    number: int
    text: str = field(default="x", compare=False)


def test_a_frozen_value_with_slots_can_be_sent_to_another_process() -> None:
    changed: Any = pickle.loads(pickle.dumps(Sent(number=3, text="t")))
    assert (changed, changed.text) == (Sent(number=3), "t")
    with pytest.raises(FrozenInstanceError):
        changed.number = 4


def test_a_subclass_that_is_no_dataclass_has_members_of_its_own() -> None:
    class Wider(Sent):
        def __init__(self, number: int) -> None:
            super().__init__(number=number)
            self.own = number + 1

    value: Any = Wider(1)
    value.own += 1
    assert (value.number, value.own) == (1, 3)
    with pytest.raises(FrozenInstanceError):
        value.number = 2


def test_methods_that_a_class_has_stay() -> None:
    @ours.dataclass(frozen=True, slots=True)
    class Written:
        number: int

        def __repr__(self) -> str:
            return "written"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert (repr(Written(1)), Written(1) == Written(2), hash(Written(1))) == ("written", True, 5)


def test_a_method_is_compiled_once_and_when_it_is_needed() -> None:
    base, _ = _made(ours.dataclass, WAYS[0])
    before = vars(base)["__init__"], vars(base)["__eq__"]
    first = _value(base)
    made = vars(base)["__init__"]
    assert made is not before[0]
    assert vars(base)["__eq__"] is before[1]
    _value(base)
    assert vars(base)["__init__"] is made
    assert first == _value(base)
    assert vars(base)["__eq__"] is not before[1]
    assert list(inspect.signature(base).parameters)[:2] == ["number", "text"]
