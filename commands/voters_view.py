"""Voter sets for people: the sources by letters, a matrix of voters, the history, findings.

Owns layout and colour. Sources are letters, so that a matrix of many fits a narrow terminal; what
differs is told in words below its voter. Everything from data goes through `printable`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import BAD, GOOD, NAME, QUIET, WARN, text, write_findings
from kraftool.commands.output import Output
from kraftool.commands.plain_tables import heading, plain_table
from kraftool.commands.times import iso
from kraftool.directory.metadata_summary import SeenVoters
from kraftool.directory.voter_history import Commitment
from kraftool.directory.voter_set import version_range
from kraftool.raft.endpoints import shown_endpoints
from kraftool.reports.voters import matrix
from kraftool.reports.voters.diff import VoterDiff
from kraftool.reports.voters.matrix import HistoryRow, VoterMark, VoterRow

_STYLES = {VoterMark.SAME: GOOD, VoterMark.OTHER: BAD, VoterMark.NOT: WARN, VoterMark.SILENT: QUIET}
_COMMITMENTS = {
    Commitment.COMMITTED: GOOD,
    Commitment.FORMATTED: QUIET,
    Commitment.ON_MAJORITY: WARN,
    Commitment.REPLACED: BAD,
    Commitment.PENDING: WARN,
    Commitment.UNKNOWN: WARN,
}


def write_voters(output: Output, diff: VoterDiff, zone: tzinfo) -> None:
    """Write the whole report."""
    letters = matrix.letters(diff)
    output.rich(_sources(diff, letters))
    output.line()
    if diff.voters is None:
        output.rich(Text("No source names the voters.", style=WARN))
    else:
        _write_matrix(output, diff, diff.voters, letters)
    rows = matrix.history_rows(diff)
    if rows:
        output.line()
        output.rich(_history(rows, letters, zone, output.width))
        _write_reasons(output, rows)
    write_findings(output, diff.findings, "")


def _sources(diff: VoterDiff, letters: Sequence[str]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.title = heading("Sources")
    table.title_justify = "left"
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for letter, source in zip(letters, diff.sources, strict=True):
        body = text(source.source)
        words = ", ".join(matrix.about(source))
        if words:
            body.append("\n").append_text(text(words, QUIET))
        standing, is_bad = matrix.standing(source)
        if standing and source.directory is not diff.newest_directory:
            body.append(f"\n{standing}", style=BAD if is_bad else WARN)
        table.add_row(Text(letter, style=NAME), body)
    return table


def _write_matrix(
    output: Output, diff: VoterDiff, newest: SeenVoters, letters: Sequence[str]
) -> None:
    title, rows = matrix.title(diff, newest), list(matrix.voter_rows(diff, newest))
    if _width(rows) + _MARK_WIDTH * len(letters) <= output.width:
        output.rich(_voters(title, rows, letters))
    else:  # the voters first, then what the sources say of them
        output.rich(_voters(title, rows, ()))
        output.line()
        table = plain_table("In the sources", "voter", *letters, right=("voter",))
        for column in table.columns:
            column.no_wrap = True
        for row in rows:
            table.add_row(_voter(row), *_marks(row))
        output.rich(table)
    for line in (difference for row in rows for difference in row.differences):
        output.rich(text(line, BAD))
    used = {voter_mark for row in rows for voter_mark in row.marks}
    legend = [f"{mark.value} {words}" for mark, words in matrix.MARK_WORDS.items() if mark in used]
    output.rich(Text("   ".join(legend), style=QUIET))


_MARK_WIDTH = 3
_WIDTH = len("voter  ") + 22 + 2 + 2 + len("range")
"""What the columns take beside the endpoints; a directory id has 22 characters."""


def _width(rows: Sequence[VoterRow]) -> int:
    endpoints = (len(one) for row in rows for one in shown_endpoints(row.voter.endpoints))
    return _WIDTH + max((len("endpoints"), *endpoints))


def _voters(title: str, rows: Sequence[VoterRow], letters: Sequence[str]) -> Table:
    table = plain_table(
        title, "voter", "directory id", "endpoints", "range", *letters, right=("voter",)
    )
    for column in (table.columns[0], *table.columns[3:]):
        column.no_wrap = True
    for row in rows:
        known = text(row.voter.directory_id or "")
        table.add_row(
            _voter(row),
            known if row.is_known else Text("not a voter", style=QUIET),
            Text("\n").join(text(endpoint) for endpoint in shown_endpoints(row.voter.endpoints)),
            text(version_range(row.voter)),
            *(_marks(row) if letters else ()),
        )
    return table


def _voter(row: VoterRow) -> Text:
    return text(row.voter.id, NAME if row.is_known else QUIET)


def _marks(row: VoterRow) -> Iterator[Text]:
    return (Text(mark.value, style=_STYLES[mark]) for mark in row.marks)


def _history(rows: Sequence[HistoryRow], letters: Sequence[str], zone: tzinfo, width: int) -> Table:
    wide = width >= 110
    table = plain_table(
        "History", "offset", "epoch", *(["written"] if wide else []), "change", "commit", *letters,
        right=("offset", "epoch"),
    )  # fmt: skip
    for column in table.columns[-len(letters) :]:
        column.no_wrap = True
    for row in rows:
        entry = row.entry
        commitment = entry.commitment
        when = [iso(entry.timestamp, zone) if entry.timestamp is not None else ""] if wide else []
        table.add_row(
            text(entry.offset),
            text(entry.epoch),
            *when,
            text(matrix.change(entry)),
            Text(matrix.COMMITMENT_WORDS[commitment], style=_COMMITMENTS[commitment]),
            *(Text(holder) for holder in row.holders),
        )
    return table


def _write_reasons(output: Output, rows: Sequence[HistoryRow]) -> None:
    used = {mark for row in rows for mark in row.holders}
    legend = [words for mark, words in matrix.HOLDS_WORDS.items() if mark in used]
    output.rich(Text("   ".join(legend), style=QUIET))
    for row in rows:
        reason = matrix.reason(row.entry)
        if not reason:
            continue
        commitment = row.entry.commitment
        line = Text(f"offset {row.entry.offset} epoch {row.entry.epoch}: ")
        line.append(matrix.COMMITMENT_WORDS[commitment], style=_COMMITMENTS[commitment])
        output.rich(line.append_text(text(f": {reason}")))
