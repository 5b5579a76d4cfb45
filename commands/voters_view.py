"""Voter sets for people: the sources by letters, a matrix of voters, the history, findings.

Owns layout and colour. Sources are letters, so that a matrix of many fits a narrow terminal; what
differs is told in words below its voter. Everything from data goes through `printable`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from rich.table import Table
from rich.text import Text

from kraftool.commands.dump_view import heading, plain_table
from kraftool.commands.finding_view import BAD, GOOD, NAME, QUIET, WARN, text, write_findings
from kraftool.commands.output import Output
from kraftool.commands.times import iso
from kraftool.reports.metadata_summary import Voter, Voters, VoterSource
from kraftool.reports.voters.diff import ComparedSource, VoterDiff
from kraftool.reports.voters.model import Commitment, HistoryEntry, Origin
from kraftool.reports.voters.voter_set import differences, directory_id, matches, voter_range

_SAME, _OTHER, _NOT, _SILENT = "=", "≠", "-", "·"
_STYLES = {_SAME: GOOD, _OTHER: BAD, _NOT: WARN, _SILENT: QUIET}
_LEGEND = (
    (_SAME, "the same"),
    (_OTHER, "differs, see below it"),
    (_NOT, "not a voter there"),
    (_SILENT, "tells nothing, or is not compared"),
)
_COMMITMENTS = {
    Commitment.COMMITTED: ("committed", GOOD),
    Commitment.FORMATTED: ("formatted", QUIET),
    Commitment.ON_MAJORITY: ("on a majority", WARN),
    Commitment.REPLACED: ("replaced", BAD),
    Commitment.UNKNOWN: ("cannot be known", WARN),
}


def write_voters(output: Output, diff: VoterDiff, zone: tzinfo) -> None:
    """Write the whole report."""
    letters = [_letter(number) for number in range(len(diff.sources))]
    output.rich(_sources(diff, letters))
    output.line()
    if diff.voters is None:
        output.rich(Text("No source tells who votes.", style=WARN))
    else:
        _write_matrix(output, diff, diff.voters, letters)
    rows = _merged(diff)
    if rows:
        output.line()
        output.rich(_history(rows, letters, zone, output.width))
        _write_reasons(output, rows)
    write_findings(output, diff.findings, "")


def _letter(number: int) -> str:
    """A, B, … Z, AA, AB, …"""
    head, last = divmod(number, 26)
    return (_letter(head - 1) if head else "") + chr(ord("A") + last)


def _sources(diff: VoterDiff, letters: Sequence[str]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.title = heading("Sources")
    table.title_justify = "left"
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for letter, each in zip(letters, diff.sources, strict=True):
        body = text(each.source.name)
        words = ", ".join(_about(each))
        if words:
            body.append("\n").append_text(text(words, QUIET))
        if each.source is not diff.newest:
            body.append_text(_standing(each))
        table.add_row(Text(letter, style=NAME), body)
    return table


def _about(compared: ComparedSource) -> Iterator[str]:
    source = compared.source
    node = source.node
    yield source.kind
    if node.node_id is not None:
        yield f"node {node.node_id}"
        if node.directory_id is not None:
            yield f"directory {node.directory_id}"
    if source.log is not None:
        if source.log.end > source.log.start:
            yield f"offsets {source.log.start} to {source.log.end - 1}"
        else:
            yield "an empty log"
    elif source.snapshots:
        yield f"up to offset {source.end}"
    if source.quorum_state is not None:
        yield f"epoch {source.quorum_state.leader_epoch}"


def _standing(compared: ComparedSource) -> Text:
    if compared.foreign:
        return Text("\nof another cluster: not compared", style=BAD)
    if compared.behind:
        return Text("\nbehind: ends before the newest change", style=WARN)
    return Text("\nits voters differ", style=BAD) if compared.differences else Text()


def _write_matrix(output: Output, diff: VoterDiff, newest: Voters, letters: Sequence[str]) -> None:
    table = plain_table(
        _title(diff, newest), "voter", "directory id", "endpoints", "range", *letters,
        right=("voter",),
    )  # fmt: skip
    for column in (table.columns[0], table.columns[3], *table.columns[4:]):
        column.no_wrap = True
    used = set()
    known = {each.id for each in newest.voters}
    others = {
        voter.id
        for each in diff.sources
        if not each.foreign and each.source.in_force is not None
        for voter in each.source.in_force.voters
    }
    below: list[Text] = []
    for id in sorted(known | others):
        voter = newest.of(id) or Voter(id=id)
        marks = []
        for letter, each in zip(letters, diff.sources, strict=True):
            mark, words = _mark(each, newest, voter, known)
            marks.append(Text(mark, style=_STYLES[mark]))
            used.add(mark)
            if words:
                below.append(text(f"{id} in {letter}: {words}", BAD))
        table.add_row(
            text(id, NAME if id in known else QUIET),
            text(directory_id(voter) or "") if id in known else Text("not a voter", style=QUIET),
            Text("\n").join(text(each) for each in voter.endpoints),
            text(voter_range(voter)),
            *marks,
        )
    output.rich(table)
    for line in below:
        output.rich(line)
    legend = [f"{mark} {words}" for mark, words in _LEGEND if mark in used]
    output.rich(Text("   ".join(legend), style=QUIET))


def _title(diff: VoterDiff, voters: Voters) -> str:
    told = f"by {voters.source.value}"
    newest = diff.newest.newest if diff.newest is not None else None
    if voters.source is VoterSource.RECORD and newest is not None:
        told = f"offset {newest.offset}, epoch {newest.epoch}"
        told += f", {_COMMITMENTS[newest.verdict.commitment][0]}"
    version = f", kraft.version {diff.kraft_version}" if diff.kraft_version is not None else ""
    return f"Voters: {told}{version}"


def _mark(
    compared: ComparedSource, newest: Voters, voter: Voter, known: set[int]
) -> tuple[str, str]:
    """The mark of a source in a voter's row, and what differs in words."""
    voters = compared.source.in_force
    if voters is None or compared.foreign:
        return _SILENT, ""
    there = voters.of(voter.id)
    if there is None:
        return (_NOT, "") if voter.id in known else (_SAME, "")
    if voter.id not in known:
        return _OTHER, f"a voter, {directory_id(there) or 'no directory id'}"
    words = [each.words() for each in differences(voter, there)]
    node = compared.source.node
    if node.node_id == voter.id and node.directory_id and not matches(voter, node.directory_id):
        words.append(f"this directory's own id is {node.directory_id}")
    return (_OTHER, ", ".join(words)) if words else (_SAME, "")


_Row = tuple[HistoryEntry, list[str]]
"""An entry, and how each source has it."""


def _merged(diff: VoterDiff) -> list[_Row]:
    """Every entry once, by offset and epoch, with the sources that have it."""
    rows: dict[tuple[bool, int, int, str], _Row] = {}
    for number, each in enumerate(diff.sources):
        for entry in each.source.history:
            if each.foreign:
                continue
            row = rows.setdefault(entry.identity, (entry, [" "] * len(diff.sources)))
            row[1][number] = "x" if entry.after_damage else _HOLDS[entry.origin]
    return sorted(
        rows.values(), key=lambda each: (each[0].offset, each[0].epoch, each[0].level is None)
    )


_HOLDS = {Origin.LOG: "L", Origin.SNAPSHOT: "S", Origin.BOOTSTRAP: "F"}


def _history(rows: Sequence[_Row], letters: Sequence[str], zone: tzinfo, width: int) -> Table:
    wide = width >= 110
    table = plain_table(
        "History", "offset", "epoch", *(["written"] if wide else []), "change", "commit", *letters,
        right=("offset", "epoch"),
    )  # fmt: skip
    for column in table.columns[-len(letters) :]:
        column.no_wrap = True
    for entry, holders in rows:
        words, style = _COMMITMENTS[entry.verdict.commitment]
        when = [iso(entry.timestamp, zone) if entry.timestamp is not None else ""] if wide else []
        table.add_row(
            text(entry.offset),
            text(entry.epoch),
            *when,
            text(_change(entry)),
            Text(words, style=style),
            *(Text(each) for each in holders),
        )
    return table


def _change(entry: HistoryEntry) -> str:
    words = "; ".join(entry.changes)
    if words != "the same again":
        return words
    if entry.voters is None:
        return f"kraft.version {entry.level} again"
    return f"the same voters again: {', '.join(str(v.id) for v in _by_id(entry.voters))}"


def _by_id(voters: Sequence[Voter]) -> list[Voter]:
    return sorted(voters, key=lambda each: each.id)


def _write_reasons(output: Output, rows: Sequence[_Row]) -> None:
    used = {mark for _, holders in rows for mark in holders}
    legend = [
        words
        for mark, words in (
            ("L", "L in the log"), ("S", "S in a snapshot"), ("F", "F formatted"),
            ("x", "x in the log behind damage"),
        )
        if mark in used
    ]  # fmt: skip
    output.rich(Text("   ".join(legend), style=QUIET))
    for entry, _ in rows:
        if entry.verdict.commitment in (Commitment.COMMITTED, Commitment.FORMATTED):
            continue
        words, style = _COMMITMENTS[entry.verdict.commitment]
        line = Text(f"offset {entry.offset} epoch {entry.epoch}: ")
        line.append(words, style=style).append_text(text(f": {entry.verdict.reason}"))
        output.rich(line)
