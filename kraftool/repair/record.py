"""The result of a journal's entries: how far a plan is in a directory, and its content before.

Owns the entries' meaning. `begin` names every file with what it was, `ready` what each becomes:
until then nothing has changed. Then `step` and `back` come before each change, and `applied` and
`undone` after all of them. A plan that is undone may be begun anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kraftool.repair.disk import DataDirectory, Owner, differences
from kraftool.repair.document import DocumentError, from_document, to_document
from kraftool.repair.plan import Fingerprint
from kraftool.repair.plan_file import PlanFile
from kraftool.storage.repair_journal import BEGINS, Entry, JournalDamaged, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file that the plan changes."""

    target: PlanFile
    before: Fingerprint | None = None
    owner: Owner | None = None
    """Whose it was, and becomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file as it was found."""

    path: str
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True, kw_only=True)
class Begin:
    """The first entry of an apply."""

    plan_id: str
    host: str
    tool: str
    time_ms: int
    changes: tuple[FileChange, ...]
    """In the order in which the files change."""
    inventory: tuple[FoundFile, ...]
    """What tells later whether a node has run on the directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class After:
    """The content that a file gets; none if the file is removed."""

    fingerprint: Fingerprint | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """All originals are kept and all new files are there, verified."""

    after: tuple[After, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalState:
    """All that a journal says."""

    stage: Stage = Stage.NONE
    begin: Begin | None = None
    after: tuple[Fingerprint | None, ...] = ()
    """Of each change; empty until all is ready."""
    ended_ms: int = 0
    """When it was applied, or undone."""

    @property
    def plan_id(self) -> str:
        return "" if self.begin is None else self.begin.plan_id

    @property
    def changes(self) -> Sequence[FileChange]:
        return () if self.begin is None else self.begin.changes

    def moved(self, directory: DataDirectory) -> Iterator[str]:
        """Yield what is neither as it was nor as the plan makes it: a node ran, or somebody edited.

        Each as a path and a word for it.
        """
        assert self.begin is not None, "who compares has begun"
        now = directory.inventory()
        was = {found_file.path: found_file.fingerprint for found_file in self.begin.inventory}
        for change, after in zip(self.changes, self.after, strict=False):
            path = change.target.path
            if now.get(path) in (change.before, after):
                # A file of another kind is in neither, and nobody asks for it.
                now.pop(path, None)
                was.pop(path, None)
            elif after is not None:
                was[path] = after
        for path, word in differences(was, now):
            yield f"{path} {word}"


def record_of(entries: Sequence[Entry], where: str) -> JournalState:
    """Read a journal's entries one after the other."""
    record = JournalState()
    for entry in entries:
        facts = {key: value for key, value in entry.items() if key != "kind"}
        try:
            record = _next(record, entry["kind"], facts)
        except DocumentError as error:
            raise JournalDamaged(
                f"{where}: {error.message}", hint="a newer kraftool may have written it"
            ) from None
    return record


def _next(record: JournalState, kind: str, facts: Mapping[str, Any]) -> JournalState:
    begin = record.begin
    if kind == "begin":
        return JournalState(stage=BEGINS[kind], begin=from_document(Begin, dict(facts), kind))
    if begin is None or kind not in (*BEGINS, "step", "back"):
        raise DocumentError(f"an entry {kind[:40]!r} does not belong there")
    if kind not in BEGINS:
        return record
    after, ended = record.after, facts.get("timeMs")
    if kind == "ready":
        ready = from_document(Ready, dict(facts), kind)
        if len(ready.after) != len(begin.changes):
            raise DocumentError("as many files are ready as change")
        after = tuple(file.fingerprint for file in ready.after)
    return JournalState(
        stage=BEGINS[kind],
        begin=begin,
        after=after,
        ended_ms=ended if isinstance(ended, int) else 0,
    )


def facts_of(value: Begin | Ready) -> dict[str, Any]:
    """A value as the facts of its entry."""
    facts: dict[str, Any] = to_document(value)
    return facts
