"""The options of the sources, read once and checked.

Owns their names and defaults. Spark does not keep the case of names; `NAMES` has them as users
write them. `narrowing.py` owns those that choose rows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from kraftool.arrow import narrowing
from kraftool.arrow.columns import RECORDS
from kraftool.arrow.fleet import split_paths
from kraftool.arrow.narrowing import Narrowing
from kraftool.arrow.search import DEPTH
from kraftool.arrow.splits import SPLIT_BYTES
from kraftool.decoders.errors import KraftoolError

NAMES = (
    "path", "paths", "columns", "snapshots", "showSecrets", "splitBytes", "depth", "variant",
    "findings", "storageOptions", "rows", "startingOffsets", "endingOffsets", "startingTimestamp",
    "endingTimestamp", "maxBytesPerTrigger", "stateLocation", *narrowing.CHOICES,
)  # fmt: skip
_TABLES = "provider"
"""The property that Spark hands on only for tables of its catalog."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """The options of one read. Travels to the workers; secrets of paths and stores are in it."""

    paths: tuple[str, ...] = field(repr=False)
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False)
    columns: tuple[str, ...] = ()
    snapshots: bool = False
    show_secrets: bool = False
    split_bytes: int = SPLIT_BYTES
    depth: int = DEPTH
    variant: bool = False
    findings: bool = True
    narrowing: Narrowing = field(default_factory=Narrowing)
    starting: str = "earliest"
    """earliest, latest, or number where it is a first offset, which `narrowing` has."""
    ends: bool = False
    bytes_per_trigger: int | None = None
    state_location: str = ""


def read_settings(options: Mapping[str, str], source: str = RECORDS) -> SourceOptions:
    """Read the options of a source as Spark passes them. Raises KraftoolError for a wrong one."""
    given = {key.lower(): value for key, value in options.items()}
    known = {name.lower() for name in NAMES}
    unknown = sorted(given.keys() - known)
    if unknown:
        raise KraftoolError(
            f"an option that kraft does not know: {unknown[0]}",
            hint=f"it knows {', '.join(NAMES)}",
        )
    text = given.get("paths") or given.get("path") or ""
    paths = tuple(split_paths(text)) if text else ()
    if not paths:
        raise KraftoolError(
            "no path is given",
            hint='spark.read.format("kraft").load(PATH). A table of the catalog must be created '
            "without columns, because Spark does not pass on the options of other tables",
        )
    most = given.get("maxbytespertrigger")
    return SourceOptions(
        paths=paths,
        storage=_storage(given.get("storageoptions", "")),
        columns=tuple(part for part in given.get("columns", "").split(",") if part.strip()),
        snapshots=_flag(given, "snapshots", False),
        show_secrets=_flag(given, "showSecrets", False),
        split_bytes=_number(given, "splitBytes", SPLIT_BYTES, 1),
        depth=_number(given, "depth", DEPTH, 0),
        variant=_flag(given, "variant", False),
        findings=_flag(given, "findings", True),
        narrowing=narrowing.narrowing_of(given, source),
        starting=_starting(given),
        ends="endingoffsets" in given,
        state_location=_folder(given.get("statelocation", "")),
        bytes_per_trigger=None if most is None else _number(given, "maxBytesPerTrigger", 0, 1),
    )


def is_of_table(options: Mapping[str, str]) -> bool:
    """True if Spark hands on the properties of a table of its catalog."""
    return any(key.lower() == _TABLES for key in options)


def table_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options of a table among its properties, with their names in lower case.

    Spark hands on each option twice, once with a prefix, and properties of any name.
    """
    given = {key.lower(): value for key, value in options.items()}
    prefix = "option."
    own = {name.removeprefix(prefix): given[name] for name in given if name.startswith(prefix)}
    if "paths" in own:
        return own
    return {**own, "path": given.get("path") or given.get("location") or ""}


def _starting(given: Mapping[str, str]) -> str:
    """earliest or latest, where a new stream begins; a number is the first offset of a table."""
    text = given.get("startingoffsets", "earliest").strip()
    return text if text in ("earliest", "latest") else "number"


def check_batch(settings: SourceOptions) -> None:
    """Raise KraftoolError for what only a stream can do."""
    if settings.state_location:
        raise KraftoolError("stateLocation is for streams: a table keeps no state")
    if settings.starting == "latest":
        raise KraftoolError("startingOffsets latest is for streams: a table would be empty")


def check_stream(settings: SourceOptions) -> None:
    """Raise KraftoolError for what only a table can have."""
    if settings.ends:
        raise KraftoolError("a stream has no endingOffsets", hint="use trigger(availableNow=True)")
    if settings.starting == "number":
        raise KraftoolError(
            "a new stream starts at earliest or latest", hint="offsets narrows its records"
        )


def _folder(text: str) -> str:
    """A folder of this machine, absolute: the process that uses it may be in another one."""
    path = re.sub(r"^file:(?://(?=/))?", "", text.strip())
    if "://" in path:
        raise KraftoolError("stateLocation requires a folder of the driver's machine, not a URL")
    return os.path.abspath(os.path.expanduser(path)) if path else ""


def _storage(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        value = None
    if not isinstance(value, dict):
        # What was given may be a secret, so that it is not repeated.
        raise KraftoolError("storageOptions is not a JSON object")
    return value


def _flag(given: Mapping[str, str], name: str, default: bool) -> bool:
    text = given.get(name.lower(), str(default)).strip().lower()
    if text not in ("true", "false"):
        raise KraftoolError(f"{name} must be true or false, not {text}")
    return text == "true"


def _number(given: Mapping[str, str], name: str, default: int, least: int) -> int:
    text = given.get(name.lower(), str(default)).strip()
    if not re.fullmatch(r"[0-9]{1,18}", text, re.ASCII) or int(text) < least:
        raise KraftoolError(f"{name} must be an integer of at least {least}, not {text}")
    return int(text)
