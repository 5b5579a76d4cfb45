"""The options of the sources as keyword arguments of Python, with types.

Owns their Python names and how their values become the texts that `settings.py` reads. Every entry
point takes the same ones. It refuses to check the values: `settings.py` does that for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypedDict

import orjson

from kraftool.arrow.columns import RECORDS, STATE, sources
from kraftool.decoders.errors import KraftoolError

Path = str | os.PathLike[str]
Texts = str | Iterable[str]
_RANGES = ("offsets", "epoch")
Bounds = str | int | range | tuple[int | None, int | None]
"""A range of numbers: "5..9", 5, range(5, 10), or (5, 9) with both included; None has no bound."""


class Choices(TypedDict, total=False):
    """The selection of what to read. Each is the option of the same name; without any, everything
    is read."""

    type: Texts
    cluster: Texts
    node: int | Iterable[int]
    directory: Texts
    kind: Texts
    offsets: Bounds
    epoch: Bounds
    since: str | datetime
    until: str | datetime
    columns: Texts
    snapshots: bool
    findings: bool
    show_secrets: bool
    depth: int
    split_bytes: int
    storage_options: Mapping[str, Any]


def source_of(rows: str) -> str:
    """The source by the name of its rows: "records", "partitions", "PartitionRecord" and so on.

    Raises KraftoolError for anything else.
    """
    known = {row_name(source): source for source in sources()}
    matched_source = {name.lower(): source for name, source in known.items()}.get(
        rows.strip().lower()
    )
    if matched_source is None:
        words = ", ".join(name for name in known if name.islower())
        raise KraftoolError(
            f"kraft has no rows {rows!r}",
            hint=f"use {words}, or a record type such as PartitionRecord",
        )
    return matched_source


def row_name(source: str) -> str:
    """The name of a source's rows: what its format has after the dot."""
    if source in (RECORDS, STATE):
        return "records" if source == RECORDS else "states"
    return source.removeprefix(f"{STATE}.").removeprefix(f"{RECORDS}.")


def path_text(path: Path | Sequence[Path]) -> str:
    """One or more paths as the option `path` has them."""
    if isinstance(path, str | os.PathLike):
        return os.fspath(path)
    return orjson.dumps([os.fspath(single_path) for single_path in path]).decode()


def option_texts(choices: Choices) -> dict[str, str]:
    """The options as texts. An option whose value is None is left out.

    Raises KraftoolError for a keyword that is not one of `Choices`.
    """
    for name in choices:
        if name not in Choices.__annotations__:
            raise KraftoolError(
                f"read has no keyword {name}", hint=f"it has {', '.join(Choices.__annotations__)}"
            )
    return {
        _option(name): _text(name, value) for name, value in choices.items() if value is not None
    }


def _option(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, Mapping):
        return orjson.dumps(value).decode()
    if isinstance(value, range) and name in _RANGES:
        return _range_text(name, value)
    if isinstance(value, tuple) and name in _RANGES:
        return "..".join("" if bound is None else str(bound) for bound in value)
    if isinstance(value, str | int):
        return str(value)
    texts = [str(choice) for choice in value]
    return orjson.dumps(texts).decode() if name == "directory" else ",".join(texts)


def _range_text(name: str, value: range) -> str:
    if not value or value.step != 1:
        raise KraftoolError(
            f"{name} {value} has no numbers, or leaves some out", hint="use range(5, 10)"
        )
    return f"{value.start}..{value.stop - 1}"


def chosen_source(options: Mapping[str, str], source: str) -> str:
    """The source that the option `rows` names; without it, the source of the format.

    Raises KraftoolError if the two contradict each other.
    """
    rows = next((value for name, value in options.items() if name.lower() == "rows"), None)
    if rows is None:
        return source
    chosen = source_of(rows)
    if source not in (RECORDS, chosen):
        raise KraftoolError(f"{source} has no rows {rows!r}", hint="the format kraft has all rows")
    return chosen
