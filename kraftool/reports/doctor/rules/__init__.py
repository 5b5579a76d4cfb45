"""The rules: one cause, one file. A module here with a function `find` is a rule.

Owns that they are found by being here. A rule looks at an Examination and yields diagnoses; it
reads no file, and never looks at what another rule said. Those in `of_state/` look at the state
alone, so that `quorum health` asks them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

from kraftool.reports.doctor.model import Diagnosis, Examination
from kraftool.reports.doctor.rules import of_state

Find = Callable[[Examination], Iterator[Diagnosis]]


class DoctorRule(NamedTuple):
    """A rule by the name of its module."""

    name: str
    find: Find


@cache
def rules() -> tuple[DoctorRule, ...]:
    """All rules, by name."""
    doctor_rules = (*_rules_in(__name__, __path__), *rules_of_state())
    return tuple(sorted(doctor_rules, key=lambda rule: rule.name))


@cache
def rules_of_state() -> tuple[DoctorRule, ...]:
    """Those that look at the state alone."""
    return _rules_in(of_state.__name__, of_state.__path__)


def _rules_in(package: str, path: Iterable[str]) -> tuple[DoctorRule, ...]:
    return tuple(
        DoctorRule(iter_module.name, import_module(f"{package}.{iter_module.name}").find)
        for iter_module in iter_modules(path)
        if not iter_module.ispkg
    )
