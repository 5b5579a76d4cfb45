"""Sources by letters: who has which voter how, and one history of all of them.

Owns the tables of a `VoterDiff`, which diff-voters and the dashboard show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from enum import StrEnum

from kraftool.directory.metadata_summary import SeenVoters, VoterSource
from kraftool.directory.voter_history import Commitment, HistoryEntry, Origin
from kraftool.directory.voter_set import differences, matches, version_range
from kraftool.raft.endpoints import shown_endpoints
from kraftool.raft.names import ReplicaKey, Voter, VoterSet
from kraftool.reports.findings.kinds import live as live_kinds
from kraftool.reports.text.blocks import Cell, Column, Phrase, TableBlock, TableRow, stacked
from kraftool.reports.text.times import iso
from kraftool.reports.voters.diff import ComparedSource, VoterDiff

COMMITMENT_WORDS = {
    Commitment.COMMITTED: "committed",
    Commitment.FORMATTED: "formatted",
    Commitment.ON_MAJORITY: "on a majority",
    Commitment.REPLACED: "replaced",
    Commitment.PENDING: "not yet",
    Commitment.UNKNOWN: "cannot be known",
}
"""Short forms, for a column."""
COMMITMENT_MEANINGS = {
    Commitment.COMMITTED: "good",
    Commitment.FORMATTED: "quiet",
    Commitment.REPLACED: "bad",
    Commitment.ON_MAJORITY: "warn",
    Commitment.PENDING: "warn",
    Commitment.UNKNOWN: "warn",
}
BEHIND_DAMAGE = "x"
HOLDS = {Origin.LOG: "L", Origin.SNAPSHOT: "S", Origin.BOOTSTRAP: "F"}
HOLDS_WORDS = {
    "L": "L in the log",
    "S": "S in a snapshot",
    "F": "F formatted",
    BEHIND_DAMAGE: "x in the log behind damage",
}


class VoterMark(StrEnum):
    """The mark for how a source has a voter of the newest set."""

    SAME = "="
    OTHER = "≠"
    NOT = "-"
    SILENT = "·"


MARK_WORDS = {
    VoterMark.SAME: "the same",
    VoterMark.OTHER: "differs, see below",
    VoterMark.NOT: "not a voter there",
    VoterMark.SILENT: "reports nothing, or is not compared",
}


_MARK_MEANINGS = {
    VoterMark.SAME: "good",
    VoterMark.OTHER: "bad",
    VoterMark.NOT: "warn",
    VoterMark.SILENT: "quiet",
}
_ALWAYS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterRow:
    """One voter, of the newest set or of any other."""

    voter: Voter
    is_known: bool
    """True if the newest set has it."""
    marks: tuple[VoterMark, ...]
    """In the order of the sources."""
    differences: tuple[str, ...] = ()
    """What differs, a sentence a source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRow:
    """An entry of the history, and how each source has it."""

    entry: HistoryEntry
    holders: tuple[str, ...]

    @property
    def key(self) -> str:
        """The same for the same entry in a later report."""
        return "\0".join(map(str, self.entry.identity))


def letters(diff: VoterDiff) -> tuple[str, ...]:
    """A letter for each source: A, B, … Z, AA, AB, …"""
    return tuple(map(_letter, range(len(diff.sources))))


def _letter(number: int) -> str:
    head, last = divmod(number, 26)
    return (_letter(head - 1) if head else "") + chr(ord("A") + last)


def source_table(diff: VoterDiff, stale: Collection[str] = ()) -> TableBlock:
    """The sources by their letters; `stale` are those that are known to be old."""
    silent = {
        finding.file for finding in diff.findings if finding.code == live_kinds.UNREACHED.code
    }
    return TableBlock(
        title="Sources",
        columns=(Column(""), Column("source"), Column("reports", below_until=_ALWAYS)),
        rows=[
            TableRow(
                f"{letter}\0{source.source}",
                (
                    Phrase(letter, "name"),
                    Phrase(source.source),
                    (Phrase("▲ does not answer", "warn"),)
                    if source.source in silent
                    else tuple(_reports(diff, source, is_stale=source.source in stale)),
                ),
            )
            for letter, source in zip(letters(diff), diff.sources, strict=True)
        ],
    )


def _reports(diff: VoterDiff, compared: ComparedSource, *, is_stale: bool) -> Iterator[Phrase]:
    """Yield how a source stands beside the newest voters, and what it is."""
    if compared.is_of_other_cluster:
        yield Phrase("belongs to another cluster: not compared; ", "bad")
    elif compared.is_behind:
        yield Phrase("behind: ends before the newest change; ", "warn")
    elif compared.differences:
        yield Phrase("its voters differ; ", "bad")
    elif compared.directory is diff.newest_directory and any(
        other.differences or other.voter_set is None for other in diff.sources
    ):
        yield Phrase("newest voters; ", "name")
    if is_stale:
        yield Phrase("▲ stale; ", "warn")
    yield Phrase(", ".join(_about(compared)), "quiet")


def _about(compared: ComparedSource) -> Iterator[str]:
    """Yield what a source is, and up to where it tells."""
    source = compared.directory
    node = source.node
    yield source.kind
    if source.missing:
        yield f"{source.missing} does not exist"
    if node.node_id is not None:
        yield f"node {node.node_id}"
        if source.is_witness:
            yield "a witness: it runs no controller"
    if source.log is not None:
        if source.log.end > source.log.start:
            yield f"offsets {source.log.start} to {source.log.end - 1}"
        else:
            yield "an empty log"
    elif source.snapshots:
        yield f"up to offset {source.end}"
    if source.quorum_state is not None:
        yield f"epoch {source.quorum_state.leader_epoch}"
    if source.high_watermark is not None:
        yield f"high watermark {source.high_watermark}"
    if compared.voter_set is None:
        yield "reports no voter set"
    if node.node_id is not None and node.directory_id is not None:
        yield f"directory {node.directory_id}"


def title(diff: VoterDiff, voters: SeenVoters) -> str:
    """Return which voters these are, and since when."""
    origin = f"by {voters.source.value}"
    newest = diff.newest_directory.newest if diff.newest_directory is not None else None
    if voters.source is VoterSource.RECORD and newest is not None:
        origin = f"offset {newest.offset}, epoch {newest.epoch}"
        origin += f", {COMMITMENT_WORDS[newest.commitment]}"
    version = f", kraft.version {diff.kraft_version}" if diff.kraft_version is not None else ""
    return f"Voters: {origin}{version}"


def voter_rows(diff: VoterDiff, newest: SeenVoters) -> Iterator[VoterRow]:
    """Every voter that any source of this cluster knows, by id."""
    known = {voter.id for voter in newest.voters}
    others = {
        voter.id
        for source in diff.sources
        if not source.is_of_other_cluster and source.voter_set is not None
        for voter in source.voter_set.voters
    }
    for id in sorted(known | others):
        voter = newest.of(id) or Voter(key=ReplicaKey(id))
        source_marks = [
            _mark(source, voter, known, recorded=newest.is_recorded) for source in diff.sources
        ]
        yield VoterRow(
            voter=voter,
            is_known=id in known,
            marks=tuple(mark for mark, _ in source_marks),
            differences=tuple(
                f"{id} in {letter}: {words}"
                for letter, (_, words) in zip(letters(diff), source_marks, strict=True)
                if words
            ),
        )


def _mark(
    compared: ComparedSource, voter: Voter, known: set[int], *, recorded: bool
) -> tuple[VoterMark, str]:
    """The mark of a source in a voter's row, and what differs in words."""
    voters = compared.voter_set
    if voters is None or compared.is_of_other_cluster:
        return VoterMark.SILENT, ""
    there = voters.of(voter.id)
    if there is None:
        return (VoterMark.NOT, "") if voter.id in known else (VoterMark.SAME, "")
    if voter.id not in known:
        return VoterMark.OTHER, f"a voter, {there.directory_id or 'no directory id'}"
    both = recorded and voters.is_recorded
    words = [difference.words() for difference in differences(voter, there, recorded=both)]
    node = compared.node
    if node.node_id == voter.id and node.directory_id and not matches(voter, node.directory_id):
        words.append(f"this directory's own id is {node.directory_id}")
    return (VoterMark.OTHER, ", ".join(words)) if words else (VoterMark.SAME, "")


def voter_table(diff: VoterDiff, rows: Collection[VoterRow], title: str) -> TableBlock:
    """A row for each voter, and a column for each source."""
    return TableBlock(
        title=title,
        columns=(
            Column("voter", is_right=True, is_whole=True),
            *(Column(letter, is_whole=True) for letter in letters(diff)),
            Column("directory id"),
            Column("range", is_whole=True),
            Column("endpoints"),
        ),
        rows=[TableRow(str(row.voter.id), tuple(_voter_cells(row))) for row in rows],
    )


def _voter_cells(row: VoterRow) -> Iterator[Cell]:
    voter = row.voter
    yield Phrase(str(voter.id), "name" if row.is_known else "quiet")
    for mark in row.marks:
        yield Phrase(mark.value, _MARK_MEANINGS[mark])
    yield Phrase(voter.directory_id or "") if row.is_known else Phrase("not a voter", "quiet")
    yield Phrase(version_range(voter))
    yield stacked(Phrase(endpoint) for endpoint in shown_endpoints(voter.endpoints))


def history_rows(diff: VoterDiff) -> list[HistoryRow]:
    """Every entry once, by offset and epoch, with the sources that have it."""
    rows: dict[tuple[bool, int, int, str], tuple[HistoryEntry, list[str]]] = {}
    for number, source in enumerate(diff.sources):
        for entry in source.history:
            if source.is_of_other_cluster:
                continue
            row = rows.setdefault(entry.identity, (entry, [" "] * len(diff.sources)))
            row[1][number] = BEHIND_DAMAGE if entry.after_damage else HOLDS[entry.origin]
    ordered = sorted(
        rows.values(), key=lambda row: (row[0].offset, row[0].epoch, row[0].kraft_version is None)
    )
    return [HistoryRow(entry=entry, holders=tuple(holders)) for entry, holders in ordered]


def history_table(diff: VoterDiff, rows: Collection[HistoryRow], zone: tzinfo = UTC) -> TableBlock:
    """A row for each entry of the history, and a column for each source."""
    return TableBlock(
        title="History",
        columns=(
            Column("offset", is_right=True),
            Column("epoch", is_right=True),
            Column("written", from_width=110),
            *(Column(letter, is_whole=True) for letter in letters(diff)),
            Column("commit"),
            Column("change"),
        ),
        rows=[
            TableRow(
                row.key,
                (
                    Phrase(str(row.entry.offset)),
                    Phrase(str(row.entry.epoch)),
                    Phrase("" if row.entry.timestamp is None else iso(row.entry.timestamp, zone)),
                    *map(Phrase, row.holders),
                    commitment_phrase(row.entry),
                    Phrase(change(row.entry)),
                ),
            )
            for row in rows
        ],
    )


def commitment_phrase(entry: HistoryEntry) -> Phrase:
    """Return the word for the commitment of an entry."""
    return Phrase(COMMITMENT_WORDS[entry.commitment], COMMITMENT_MEANINGS[entry.commitment])


def change(entry: HistoryEntry) -> str:
    """Return what an entry changed, in words."""
    words = "; ".join(entry.differences)
    if words != "the same again":
        return words
    if entry.voters is None:
        return f"kraft.version {entry.kraft_version} again"
    return f"the same voters again: {', '.join(str(voter_id) for voter_id in _ids(entry.voters))}"


def _ids(voters: VoterSet) -> list[int]:
    return sorted(voter.id for voter in voters)


def reason(entry: HistoryEntry) -> str:
    """Why nobody can be sure of an entry; empty where one can."""
    if entry.commitment in (Commitment.COMMITTED, Commitment.FORMATTED):
        return ""
    return entry.reason
