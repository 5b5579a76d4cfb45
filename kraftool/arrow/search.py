"""The search for all files that PATHs lead to, step after step.

Owns who takes a step, and what counts where several steps find the same. Steps go level by level,
to threads; very many behind URLs go to a job. The results are put together in the order of the
names, whoever finished first. It refuses to know what a step recognizes: see `search_steps.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import chain
from typing import Any

import orjson

from kraftool.arrow.fleet import Empty, Fleet, FleetFile, Unread, files_of
from kraftool.arrow.local_folders import missing
from kraftool.arrow.search_steps import (
    Home,
    PathStep,
    SearchResult,
    SearchStep,
    fixed_part,
    has_pattern,
)
from kraftool.decoders.errors import KraftoolError
from kraftool.storage.remote import is_url, shown_url

DEPTH = 6
"""How many folders below a root a data directory is looked for."""
THREADS = 16
"""So many steps at the same time: each may be a round trip to another machine."""
_WAITED_S = 0.005
JOB_FROM = 2000
"""From so many steps on other machines on, a job on two cores saves what its start costs."""

SearchJob = Callable[[Sequence[SearchStep]], Sequence[SearchResult]]
"""Takes steps, and all those below them, to many machines: the results in order."""


def find_fleet(
    paths: Sequence[str],
    *,
    depth: int = DEPTH,
    options: Mapping[str, Any] | None = None,
    job: SearchJob | None = None,
) -> Fleet:
    """Find all files that the PATHs lead to. Raises KraftoolError for a PATH that leads nowhere."""
    return _together(_of_paths(paths, depth, options, job))


def find_fleets(
    paths: Sequence[str],
    *,
    depth: int = DEPTH,
    options: Mapping[str, Any] | None = None,
    job: SearchJob | None = None,
) -> Iterator[Fleet | KraftoolError]:
    """Yield the fleet below each PATH, or why it has none, in the order of the PATHs. What two of
    them have in common is in both."""
    for found in _of_paths(paths, depth, options, job):
        try:
            yield _together([found])
        except KraftoolError as error:
            yield error


def require(paths: Sequence[str], *, options: Mapping[str, Any] | None = None) -> None:
    """Raise KraftoolError for a PATH that leads nowhere, looking no further than that."""
    chosen = _text_of(options)
    for path in paths:
        if not _leads_somewhere(path, chosen):
            raise missing(shown_url(path))


def _leads_somewhere(path: str, options: str) -> bool:
    is_literal = not has_pattern(path)
    if (is_literal or not is_url(path)) and files_of(path, options).item() is not None:
        return True
    root, pattern = fixed_part(path)
    return not is_literal and bool(files_of(root, options).glob(pattern))


def _text_of(options: Mapping[str, Any] | None) -> str:
    return orjson.dumps(options).decode() if options else ""


def _of_paths(
    paths: Sequence[str], depth: int, options: Mapping[str, Any] | None, job: SearchJob | None
) -> list[SearchResult]:
    text = _text_of(options)
    return explored([PathStep(path=path, depth=depth, options=text) for path in paths], job)


def is_far(step: SearchStep) -> bool:
    """True if another machine answers, whatever the step asks for."""
    return not isinstance(step, PathStep) and step.in_thread and is_url(step.root)


def explored(steps: Sequence[SearchStep], job: SearchJob | None = None) -> list[SearchResult]:
    """Take steps, and all those that they lead to."""
    threads = ThreadPoolExecutor(THREADS, thread_name_prefix="listing")  # begun when they are used
    try:
        first = level = _all_found(steps, threads)
        while True:
            asking = [found for found in level for _ in found.next_steps]
            pending = list(chain.from_iterable(found.next_steps for found in level))
            if not pending:
                return first
            if job is not None and sum(map(is_far, pending)) >= JOB_FROM:
                results, level = job(pending), []
            else:
                results = level = _all_found(pending, threads)
            for found, result in zip(asking, results, strict=True):
                found.next_steps = ()
                found.below.append(result)
    finally:
        threads.shutdown(cancel_futures=True)


def _all_found(steps: Sequence[SearchStep], threads: Executor) -> list[SearchResult]:
    """On a local disk threads would wait for each other alone. They take its steps from the first
    on that had to wait itself: another machine has the files."""
    has_waited, begun = False, list[SearchResult | Future[SearchResult]]()
    for step in steps:
        if step.in_thread and (has_waited or is_far(step)):
            begun.append(threads.submit(step.found))
            continue
        idle_s = time.monotonic() - time.thread_time()
        begun.append(step.found())
        has_waited |= time.monotonic() - time.thread_time() - idle_s > _WAITED_S
    return [one.result() if isinstance(one, Future) else one for one in begun]


def _together(results: Sequence[SearchResult]) -> Fleet:
    """The fleet that steps have found."""
    merged = _Merged()
    for found in results:
        if found.pattern and all(below.is_gone for below in found.below):
            raise missing(found.pattern)
        merged.add(found)
    return Fleet(
        files=tuple(merged.files), problems=tuple(merged.problems), empty=tuple(merged.empty)
    )


class _Merged:
    """Results one after the other: what was found before, be it under another name, is not taken
    again."""

    def __init__(self) -> None:
        self.files: list[FleetFile] = []
        self.problems: list[Unread] = []
        self.empty: list[Empty] = []
        self._homes: set[str] = set()
        self._files: set[str] = set()

    def add(self, found: SearchResult) -> None:
        """Take a result, and all those below it, which it forgets: a fleet is not to be in memory
        twice."""
        if found.error is not None and (found.unread is None or not self.files):
            raise found.error
        if found.unread is not None:
            self.problems.append(found.unread)
        if found.file is not None:
            self._take(found.file)
        if found.home is not None and not self._home(found.home):
            return
        before = len(self.files) + len(self.problems)
        for below in found.below:
            self.add(below)
        if found.empty is not None and len(self.files) + len(self.problems) == before:
            self.empty.append(found.empty)
        found.home, found.below = None, []

    def _home(self, home: Home) -> bool:
        """Take a directory with its files; False if it was taken before."""
        if not self._homes.isdisjoint(home.names):
            return False
        self._homes.update(home.names)
        for file in home.files():
            self._take(file)
        if home.unread is not None:
            self.problems.append(home.unread)
        return True

    def _take(self, file: FleetFile) -> None:
        if file.name not in self._files:
            self._files.add(file.name)
            self.files.append(file)
