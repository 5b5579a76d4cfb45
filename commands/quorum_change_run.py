"""A change to a quorum on the command line: it is carried out, shown, and comes to an exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from rich.table import Table
from rich.text import Text

from kraftool.client.change import ChangeOutcome, CheckResult, QuorumChange
from kraftool.client.quorum_json import change_document
from kraftool.commands.finding_view import BAD, GOOD, NAME, QUIET, WARN, advice_line, style_of, text
from kraftool.commands.options import PlainFormat
from kraftool.commands.output import ExitCode, Output, UnreachableError, json_document
from kraftool.net.errors import NetError
from kraftool.reports.status import Status, worst_status

_STATUSES = {
    CheckResult.FINE: Status.GOOD,
    CheckResult.CAUTION: Status.WARN,
    CheckResult.BLOCKED: Status.BAD,
}
_DONE = {
    "add-controller": "Added",
    "remove-controller": "Removed",
    "endpoints": "Moved",
    "upgrade": "Upgraded",
}


def carry_out(
    to: Output, work: Coroutine[Any, Any, QuorumChange], output: PlainFormat, *, dry_run: bool
) -> None:
    """Do it, and end the run."""
    try:
        change = asyncio.run(work)
    except NetError as error:
        raise UnreachableError(error.message, hint=error.hint) from None
    if output is PlainFormat.JSON:
        to.write(json_document(change_document(change, dry_run=dry_run)))
    else:
        _write(to, change, dry_run=dry_run)
    to.raise_code(_code(change, dry_run=dry_run))
    to.finish()


def _code(change: QuorumChange, *, dry_run: bool) -> ExitCode:
    if not change.is_possible:
        return ExitCode.FINDING if dry_run else ExitCode.REFUSED
    failed = change.outcome in (ChangeOutcome.REFUSED, ChangeOutcome.UNKNOWN)
    return ExitCode.FINDING if failed else ExitCode.FINE


def _write(to: Output, change: QuorumChange, *, dry_run: bool) -> None:
    to.rich(Text(f"{change.kind}: ", style=NAME).append_text(text(change.subject)))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for each in change.checks:
        body = text(each.text)
        if each.advice:
            advice = advice_line(each.advice, _STATUSES[each.verdict])
            body.append("\n").append_text(advice)
        table.add_row(Text(each.verdict.value, style=style_of(_STATUSES[each.verdict])), body)
    if change.checks:
        to.rich(table)
    to.line()
    to.rich(_ending(change, dry_run=dry_run))


def _ending(change: QuorumChange, *, dry_run: bool) -> Text:
    if not change.is_possible:
        return Text("Not done: it is blocked." if not dry_run else "It is blocked.", style=BAD)
    if not change.is_needed:
        return Text("Nothing to do: it is so already.", style=GOOD)
    if dry_run:
        status = worst_status(_STATUSES[each.verdict] for each in change.checks)
        return Text("It could be done; nothing was changed.", style=style_of(status))
    if change.outcome is ChangeOutcome.DONE:
        return (
            Text(f"{_DONE[change.kind]} ", style=GOOD)
            .append_text(text(change.subject))
            .append(".", style=QUIET)
        )
    if change.outcome is ChangeOutcome.REFUSED:
        return text(f"The leader refused: {change.reason}", BAD)
    return Text(
        "No answer came: whether it was done shows in kraftool quorum describe.", style=WARN
    )
