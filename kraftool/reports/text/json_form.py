"""The form of a class in JSON.

Owns the register of forms. A form counts from its import on, so that the module of a document
imports those that it needs; tests/test_json_rule.py holds that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

Function = TypeVar("Function", bound=Callable[..., Any])

_forms: dict[Any, tuple[Callable[[Any], Any], Any]] = {}


def form(function: Function) -> Function:
    """Write all values of the class that the function takes as what it returns."""
    hints = get_type_hints(function, include_extras=True)
    returned = hints.pop("return")
    (taken,) = hints.values()
    _forms[taken] = function, returned
    return function


def form_hint(kind: Any) -> Any:
    """The type in whose form values of `kind` are written; the kind itself without one."""
    return _forms[kind][1] if kind in _forms else kind


def form_for(kind: Any) -> Callable[[Any], Any] | None:
    """Return what makes the form of a class; None for one that is written by its members."""
    form_and_hint = _forms.get(kind)
    return None if form_and_hint is None else form_and_hint[0]
