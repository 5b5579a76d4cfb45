"""A change to a quorum on the command line: it is carried out, shown, and comes to an exit code."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from kraftool.client.change import ChangeOutcome, Check, CheckResult, QuorumChange
from kraftool.client.quorum_json import ChangeDocument
from kraftool.client.readiness import Readiness
from kraftool.client.stopping import StopPermission, StopVerdict
from kraftool.commands.exit_code import ExitCode, RefusedError, UnreachableError
from kraftool.commands.finding_view import BAD, GOOD, NAME, QUIET, WARN, advice_line, style_of, text
from kraftool.commands.options import PlainFormat
from kraftool.commands.output import Output
from kraftool.commands.typed_answer import asked
from kraftool.decoders.error_codes import Error
from kraftool.net.errors import NetError
from kraftool.reports.findings.status import Status, worst_status

_STATUSES = {
    CheckResult.FINE: Status.GOOD,
    CheckResult.CAUTION: Status.WARN,
    CheckResult.BLOCKED: Status.BAD,
}
_LOOK_FIRST = (
    " The change may still be committed. Look at the voters with kraftool quorum describe before"
    " you try again: with two changes under way the voters can end up as in neither."
)
_DONE = {
    "add-controller": "Added",
    "remove-controller": "Removed",
    "endpoints": "Moved",
    "upgrade": "Upgraded",
    "unregister-controller": "Removed",
    "renew-registration": "Renewed",
}


def confirm_id(node_id: int, yes: str, plan: Coroutine[Any, Any, QuorumChange], to: Output) -> None:
    """Have the id of the node, by --yes or typed, if the plan can be carried out. Raises
    RefusedError."""
    if yes and yes.strip() != str(node_id):
        plan.close()
        raise RefusedError(f"--yes {yes} is not the id {node_id}; nothing was changed")
    if yes:
        plan.close()
        return
    if sys.stdin is None or not sys.stdin.isatty():
        plan.close()
        raise RefusedError(
            "the id has to be typed, and there is no terminal to ask on",
            hint=f"read the checks of --dry-run, then give --yes {node_id}",
        )
    change = _outcome(plan)
    if not (change.is_possible and change.is_needed):
        return
    write_checks(to, change.checks)
    if asked(f"To register controller {node_id} again type {node_id}: ").strip() != str(node_id):
        raise RefusedError("that is not it; nothing was changed")


def _outcome(work: Coroutine[Any, Any, QuorumChange]) -> QuorumChange:
    try:
        return asyncio.run(work)
    except NetError as error:
        raise UnreachableError(error.message, hint=error.hint) from None


def carry_out(
    to: Output, work: Coroutine[Any, Any, QuorumChange], output: PlainFormat, *, dry_run: bool
) -> None:
    """Do it, and end the run."""
    change = _outcome(work)
    if output is PlainFormat.JSON:
        to.document(ChangeDocument(quorum_change=change, is_dry_run=dry_run))
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
    write_checks(to, change.checks)
    to.line()
    to.rich(_ending(change, dry_run=dry_run))


def write_checks(to: Output, checks: Sequence[Check]) -> None:
    """Show each check with its verdict and advice."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        body = text(check.reason)
        if check.advice:
            advice = advice_line(check.advice, _STATUSES[check.verdict])
            body.append("\n").append_text(advice)
        table.add_row(Text(check.verdict.value, style=style_of(_STATUSES[check.verdict])), body)
    if checks:
        to.rich(table)


def _ending(change: QuorumChange, *, dry_run: bool) -> Text:
    if not change.is_possible:
        return Text(
            "Not done: a check blocks it." if not dry_run else "A check blocks it.", style=BAD
        )
    if not change.is_needed:
        return Text("Nothing to do: it is already done.", style=GOOD)
    if dry_run:
        status = worst_status(_STATUSES[check.verdict] for check in change.checks)
        return Text("It can be done. Nothing was changed.", style=style_of(status))
    if change.outcome is ChangeOutcome.DONE:
        return (
            Text(f"{_DONE[change.kind]} ", style=GOOD)
            .append_text(text(change.subject))
            .append(".", style=QUIET)
        )
    if change.outcome is ChangeOutcome.REFUSED:
        refused = text(f"The leader refused: {change.reason}", BAD)
        if change.reason.startswith(Error.REQUEST_TIMED_OUT.name):
            refused.append(_LOOK_FIRST, style=WARN)
        return refused
    return Text(
        "kraftool does not know whether this was done: no answer came, or no commit was seen."
        f"{_LOOK_FIRST}",
        style=WARN,
    )


def write_permission(to: Output, permission: StopPermission) -> None:
    """Show whether a node may stop, and why."""
    write_checks(to, permission.checks)
    to.line()
    name = f"Node {permission.node_id}"
    ending = {
        StopVerdict.YES: Text(f"{name} may stop now.", style=GOOD),
        StopVerdict.NOT_NOW: Text(f"{name} must not stop now.", style=BAD),
        StopVerdict.NEVER: Text(f"{name} must not stop. Waiting does not help.", style=BAD),
    }
    to.rich(ending[permission.verdict])


def write_readiness(to: Output, readiness: Readiness) -> None:
    """Show whether a node is ready, and why."""
    write_checks(to, readiness.checks)
    to.line()
    name = "The node" if readiness.node_id is None else f"Node {readiness.node_id}"
    if readiness.is_ready:
        to.rich(Text(f"{name} is ready.", style=GOOD))
    else:
        to.rich(Text(f"{name} is not ready.", style=BAD))
