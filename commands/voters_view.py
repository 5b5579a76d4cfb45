"""Voter sets for people: the sources by letters, a matrix of voters, the history, findings.

Owns what stands below the tables of `reports/voters/matrix.py`: what differs, in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from rich.text import Text

from kraftool.commands.block_view import cell_text, natural_width, table
from kraftool.commands.finding_view import BAD, QUIET, WARN, text, write_findings
from kraftool.commands.output import Output
from kraftool.directory.metadata_summary import SeenVoters
from kraftool.reports.voters import matrix
from kraftool.reports.voters.diff import VoterDiff
from kraftool.reports.voters.matrix import HistoryRow


def write_voters(output: Output, diff: VoterDiff, zone: tzinfo) -> None:
    """Write the whole report."""
    output.rich(table(matrix.source_table(diff), output.width))
    output.line()
    if diff.voters is None:
        output.rich(Text("No source names the voters.", style=WARN))
    else:
        _write_matrix(output, diff, diff.voters)
    rows = matrix.history_rows(diff)
    if rows:
        output.line()
        output.rich(table(matrix.history_table(diff, rows, zone), output.width))
        _write_reasons(output, rows)
    write_findings(output, diff.findings, "")


def _write_matrix(output: Output, diff: VoterDiff, newest: SeenVoters) -> None:
    rows = [*matrix.voter_rows(diff, newest)]
    voters = matrix.voter_table(diff, rows, matrix.title(diff, newest))
    if natural_width(voters) <= output.width:
        output.rich(table(voters, output.width))
    else:  # the voters first, then what the sources say of them
        letters = matrix.letters(diff)
        output.rich(table(voters.without(*letters), output.width))
        output.line()
        marks = replace(voters.only(("voter", *letters)), title="In the sources")
        output.rich(table(marks, output.width))
    for line in (difference for row in rows for difference in row.differences):
        output.rich(text(line, BAD))
    used = {voter_mark for row in rows for voter_mark in row.marks}
    legend = [f"{mark.value} {words}" for mark, words in matrix.MARK_WORDS.items() if mark in used]
    output.rich(Text("   ".join(legend), style=QUIET))


def _write_reasons(output: Output, rows: Sequence[HistoryRow]) -> None:
    used = {mark for row in rows for mark in row.holders}
    legend = [words for mark, words in matrix.HOLDS_WORDS.items() if mark in used]
    output.rich(Text("   ".join(legend), style=QUIET))
    for row in rows:
        if reason := matrix.reason(row.entry):
            line = Text(f"offset {row.entry.offset} epoch {row.entry.epoch}: ")
            line.append_text(cell_text(matrix.commitment_phrase(row.entry)))
            output.rich(line.append_text(text(f": {reason}")))
