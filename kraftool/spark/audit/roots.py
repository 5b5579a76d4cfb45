"""The directories that the ROOTs of an audit lead to, each once, and what could not be listed.

Owns which of them are the same one under two names. A ROOT that leads nowhere is a finding, and
the rest goes on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.findings import Finding
from kraftool.reports.fleet.model import AUDIT, FleetFinding
from kraftool.reports.kinds import directory as kinds
from kraftool.reports.locations import unopened
from kraftool.spark.fleet import DEPTH, FleetFile, Unread, find_fleet
from kraftool.storage.entry import METADATA_PARTITION
from kraftool.storage.remote import is_url, shown_url

Item = tuple[FleetFile, ...]
"""All files of one directory, or those of it that were named by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What there is to examine, the largest first."""

    items: tuple[Item, ...]
    roots: tuple[str, ...] = field(repr=False)
    """The ROOTs that led to any of them."""
    findings: tuple[FleetFinding, ...]


def find(
    roots: Sequence[str], *, depth: int = DEPTH, options: Mapping[str, Any] | None = None
) -> Found:
    """Find the directories below all ROOTs."""
    told: dict[tuple[str, str], Finding] = {}
    items: dict[str, Item] = {}
    led_by: dict[str, str] = {}
    problems: list[Unread] = []
    for root in roots:
        try:
            fleet = find_fleet([root], depth=depth, options=options)
        except KraftoolError as error:
            found = unopened(shown_url(root), error)
            told.setdefault((found.code, found.file), found)
            continue
        problems += fleet.problems
        if not fleet.files and not fleet.problems:
            found = kinds.NOTHING.at(shown_url(root), "there is no data directory of Kafka's here")
            told.setdefault((found.code, found.file), found)
        for key, item in _by_directory(fleet.files).items():
            items.setdefault(key, item)
            led_by.setdefault(key, root)
    items = _without_parts(items)
    names = {item[0].directory.name for item in items.values()}
    for each in problems:
        # Below a directory that is examined, its own examination tells.
        if not any(each.name == one or each.name.startswith(f"{one}/") for one in names):
            found = kinds.UNREADABLE.at(each.name, each.reason, advice=each.hint)
            told.setdefault((found.code, found.file), found)
    ordered = sorted(items.values(), key=lambda item: (-size_of(item), item[0].directory.name))
    findings = tuple(FleetFinding(finding=each, by=(AUDIT,)) for each in told.values())
    leading = dict.fromkeys(led_by[key] for key in items)
    return Found(items=tuple(ordered), roots=tuple(leading), findings=findings)


def size_of(item: Item) -> int:
    """How much there is to read."""
    return sum(each.size for each in item)


def _by_directory(files: Sequence[FleetFile]) -> dict[str, Item]:
    """The files by what is one and the same directory, whatever it is called."""
    found: dict[str, list[FleetFile]] = {}
    for each in files:
        name = each.directory.name
        where = name if is_url(name) else os.path.realpath(name)
        found.setdefault(where, []).append(each)
    return {
        f"{where}\0{','.join(sorted(each.basename for each in some))}"
        if all(each.is_named for each in some)
        else where: tuple(some)
        for where, some in found.items()
    }


def _without_parts(items: dict[str, Item]) -> dict[str, Item]:
    """Without what is part of another item: a partition's folder, or a file named by itself."""

    def is_part(key: str) -> bool:
        where, single, _ = key.partition("\0")
        above, _, last = where.rpartition("/")
        inside = last == METADATA_PARTITION and above in items
        return inside or (bool(single) and (where in items or above in items))

    return {key: item for key, item in items.items() if not is_part(key)}
