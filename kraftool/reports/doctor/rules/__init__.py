"""The rules: one cause, one file. A module here with a function `find` is a rule.

Owns that they are found by being here. A rule looks at an Examination and yields diagnoses; it
reads no file, and never looks at what another rule said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

from kraftool.reports.doctor.model import Diagnosis, Examination

Find = Callable[[Examination], Iterator[Diagnosis]]


class DoctorRule(NamedTuple):
    """A rule by the name of its module."""

    name: str
    find: Find


@cache
def rules() -> tuple[DoctorRule, ...]:
    """All rules, by name."""
    names = sorted(each.name for each in iter_modules(__path__))
    return tuple(DoctorRule(name, import_module(f"{__name__}.{name}").find) for name in names)
