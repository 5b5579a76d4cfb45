"""Loading an image for the shell, with a progress bar, and what is said about it on stderr.

Owns the words about what is loaded: which snapshot, which offsets of the log, what is hidden.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kraftool.commands.exit_code import ExitCode
from kraftool.commands.output import Output, printable
from kraftool.image.image import MetadataImage
from kraftool.reports.findings.finding import Severity
from kraftool.reports.logs.processes import quickly
from kraftool.reports.state.load import LoadedState, load_state
from kraftool.storage.paths import Location

if TYPE_CHECKING:
    from collections.abc import Callable


def load(to: Output, where: str | Location, at: int | None) -> LoadedState:
    """Load an image and tell what it is. What is damaged is told, and shown without."""
    with quickly(), _Bars(to) as bars:
        state = load_state(where, at=at, progress=bars.reached)
    for finding in state.findings:
        place = finding.where()
        text = f"{place}: {finding.sentence()}" if place else finding.sentence()
        if finding.severity is Severity.ERROR or finding.undecoded:
            to.problem(text, code=ExitCode.UNREADABLE if finding.undecoded else ExitCode.FINDING)
        elif finding.severity is Severity.WARNING:
            to.note(printable(f"warning: {text}"))
            to.raise_code(ExitCode.FINDING)
    for line in about(state):
        to.note(printable(line))
    return state


def about(state: LoadedState) -> list[str]:
    """Return what is loaded, in a sentence or two."""
    snapshot = os.path.basename(state.snapshot).removesuffix(".checkpoint")
    offset = state.image.provenance.offset
    parts = [f"snapshot {snapshot}"] if snapshot else []
    if state.end_offset > state.start_offset and not _is_snapshot_alone(state):
        parts.append(f"log offsets {state.start_offset} to {state.end_offset - 1}")
    lines = [f"{state.path}: the state at offset {offset} ({' and '.join(parts) or 'empty'})"]
    opened = state.open_transaction
    if opened is not None:
        name = f" {opened.name!r}" if opened.name else ""
        lines.append(
            f"a transaction{name} that began at offset {opened.offset} has no end;"
            f" its {opened.records} records are not shown"
        )
    return lines


def image_of(state: LoadedState) -> MetadataImage:
    """The image to show. Of a checkpoint by itself Kafka's shell counts the file's own offsets."""
    if not _is_snapshot_alone(state):
        return state.image
    return replace(state.image, provenance=state.inside)


def _is_snapshot_alone(state: LoadedState) -> bool:
    return state.snapshot == state.path


@dataclass(slots=True)
class _Bars:
    """A progress bar for each large file."""

    to: Output
    _stack: ExitStack = field(default_factory=ExitStack)
    _file: str = ""
    _update: Callable[[int], None] = lambda position: None

    def __enter__(self) -> _Bars:
        return self

    def __exit__(self, *raised: object) -> None:
        self._stack.close()

    def reached(self, name: str, position: int) -> None:
        if name != self._file:
            self._stack.close()
            self._file = name
            size = os.path.getsize(name) if os.path.isfile(name) else None
            bar = self.to.progress(size, os.path.basename(name), before_data=True)
            self._update = self._stack.enter_context(bar)
        self._update(position)
