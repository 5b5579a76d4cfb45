"""A data directory and what was found of it, and which of that concerns voters.

Owns the value that every judgement of directories takes. To voters belong damage that may hide a
change, files that say who the node is, and snapshots that contradict the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kraftool.decoders.json_marks import Hidden, Inline
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import VoterHistory
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds

_DAMAGE = frozenset(
    kind.code
    for kind in (
        log_kinds.CRC,
        log_kinds.DAMAGE,
        log_kinds.MAGIC,
        log_kinds.GAP,
        snap_kinds.DAMAGE,
        snap_kinds.FORM,
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDirectory:
    """A data directory, or a metadata partition by itself, with its findings."""

    directory: Inline[NodeDirectory]
    findings: tuple[Finding, ...] = ()
    of_path: Hidden[tuple[Finding, ...]] = ()
    """Those of the PATH that it was read from, which are of no directory."""
    keeps_from_starting: Hidden[Finding | None] = None
    """Why Kafka exits when it starts on the directory; None if it starts."""

    @property
    def name(self) -> str:
        return self.directory.name


def about_voters(judged: JudgedDirectory) -> tuple[Finding, ...]:
    """Return what is found of one source and concerns voters, without any other source."""
    source = judged.directory
    found = relevant((*judged.of_path, *judged.findings))
    findings = [_told(finding, source.history.entries != ()) for finding in found]
    findings += history_findings(source.history)
    if not findings and source.tells_nothing and not source.is_live:
        findings.append(kinds.NOTHING.at(source.name, "there is nothing about voters here"))
    return tuple(findings)


def history_findings(history: VoterHistory) -> Iterator[Finding]:
    """Yield where snapshots contradict the log, and what was not compared."""
    for one in history.contradictions:
        of_voters = one.before.voters is not None
        changes = "".join(f"; {change}" for change in one.changes)
        yield snap_kinds.LOG_VOTERS.at(
            one.snapshot,
            f"not the {'voters' if of_voters else 'kraft.version'} of {one.before.file} at offset"
            f" {one.before.offset}{changes}",
            position=one.entry.position if one.entry is not None else 0,
            offset=one.offset,
            field="KRaftVoters" if of_voters else "KRaftVersion",
            expected=one.before.words,
            found=one.entry.words if one.entry is not None else "nothing",
        )
    yield from map(log_kinds.NOT_CHECKED.of, history.left_out)


def _told(finding: Finding, has_history: bool) -> Finding:
    """Damage, with what it means for the history."""
    if finding.code not in _DAMAGE or not has_history:
        return finding
    words = "a change of voters may be missing from the history here"
    return finding.saying(f"{finding.text}; {words}")


def relevant(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return those that say something about voters."""
    return tuple(finding for finding in findings if finding.kind.concerns_voters)
