"""The fleet as it is at one poll of a stream, where directories come and go.

Owns the search that a missing ROOT does not end, and the opening of a log's segments. It refuses to
take for gone what could not be listed: that is looked at again the next time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from kraftool.arrow.fleet import Fleet, FleetFile, Unread, with_batches
from kraftool.arrow.local_folders import NowhereError
from kraftool.arrow.search import find_fleets
from kraftool.arrow.settings import SourceOptions
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind, detect
from kraftool.storage.remote import shown_url
from kraftool.storage.tail import ListedSegment

_SETTLED_NS = 5_000_000_000
"""The time of a file that is older than this changes with the next write, on every file system."""


def fleet_now(settings: SourceOptions) -> Fleet:
    """All files that are there now. A PATH that leads nowhere has none; one that cannot be listed
    is among the problems."""
    files: dict[str, FleetFile] = {}
    problems: list[Unread] = []
    fleets = find_fleets(settings.paths, depth=settings.depth, options=settings.storage)
    for path, fleet in zip(settings.paths, fleets, strict=True):
        if isinstance(fleet, KraftoolError):
            if not isinstance(fleet, NowhereError):
                name = shown_url(path)
                problems.append(Unread(name=name, reason=fleet.message, hint=fleet.hint))
            continue
        problems += fleet.problems
        for file in fleet.files:
            files.setdefault(file.name, file)
    return Fleet(files=tuple(files.values()), problems=tuple(problems))


def is_below(name: str, folder: str) -> bool:
    """True if a shown path is a folder, or lies below it."""
    return name == folder or name.startswith(f"{folder.rstrip('/')}/")


class Logs:
    """The logs of a fleet at one poll: segments by folder, in order."""

    def __init__(self, fleet: Fleet) -> None:
        self.folders: dict[str, list[FleetFile]] = {}
        self._settled_ns = time.time_ns() - _SETTLED_NS
        self._unread = [problem.name for problem in fleet.problems]
        for file in with_batches(fleet):
            folder, _, name = file.name.rpartition("/")
            kind = detect(name, b"", file.size).kind
            if kind is not FileKind.LOG or file.in_topic:
                continue
            self.folders.setdefault(folder, []).append(file)
        for files in self.folders.values():
            files.sort(key=lambda file: file.basename)

    def is_unread(self, folder: str) -> bool:
        """True if nothing is known of a log's folder now, since it could not be listed."""
        return any(is_below(folder, unread_name) for unread_name in self._unread)

    def segments(
        self, folder: str, caps: Mapping[str, int] | None, opened: ExitStack
    ) -> Iterator[ListedSegment]:
        """The segments of one log, open as long as `opened`; one that has just gone ends them."""
        for file in self.folders.get(folder, ()):
            if caps is not None and file.name not in caps:
                return
            try:
                segment = file.segment(opened)
            except KraftoolError:
                return
            size = segment.size if caps is None else min(segment.size, caps[file.name])
            yield replace(segment, size=size)

    def sizes(self) -> dict[str, int]:
        """Return how long every segment was when it was listed."""
        return {file.name: file.size for files in self.folders.values() for file in files}

    def marks(self, folder: str) -> tuple[Any, ...] | None:
        """Return what has to be the same of a log's files for it to be unchanged; None if one was
        written so recently that another write might not show in its time."""
        files = self.folders.get(folder, ())
        if any(not file.etag and file.mtime_ns > self._settled_ns for file in files):
            return None
        return tuple((file.name, file.size, file.mtime_ns, file.etag) for file in files)
