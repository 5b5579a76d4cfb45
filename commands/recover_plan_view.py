"""What `recover plan` shows people: the loss, the survivors, then the steps as a checklist.

Owns layout and colour. The words are the plan's, and go through `printable`. The plan's file is the
data on stdout; this is the narration on stderr.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import BAD, COMMAND, GOOD, NAME, QUIET, WARN, text
from kraftool.commands.output import Output
from kraftool.commands.recover_run import commands_of
from kraftool.repair.plan import SHORT_ID, Action, LostRecords, Plan, PlanStep, Ranked
from kraftool.reports.election.assessment import LossBound
from kraftool.reports.findings.status import Status

_LABEL = 11
"""Columns of the labels on the left."""
_LOSS_STYLES = {
    LossBound.NONE: GOOD,
    LossBound.POSSIBLE: WARN,
    LossBound.BOUNDED: WARN,
    LossBound.UNBOUNDED: BAD,
}
_LOSS_LABELS = {
    LossBound.NONE: f"{Status.GOOD.mark} No loss",
    LossBound.POSSIBLE: f"{Status.WARN.mark} Loss?",
}
"""Labels that say the verdict; others are followed by it."""


def write_plan(to: Output, plan: Plan, file: str, judgement: Sequence[str] = ()) -> None:
    """Narrate a plan that was written to `file`, or to stdout if that is empty."""
    to.narrate(_loss(plan))
    if judgement:
        to.narrate(_rows("Quorum", [text(each) for each in judgement]))
    to.narrate(_rows("Plan", [text(each) for each in plan.summary]))
    if plan.ranking:
        to.narrate(_survivors(plan))
    if plan.steps:
        to.narrate(Text())
    for number, step in enumerate(plan.steps, 1):
        to.narrate(_step(number, step))
        for command in commands_of(step, file):
            _command(to, command)
    if plan.changes:
        _next(to, plan, file)


def _rows(label: str, rows: list[Text], style: str = NAME) -> Table:
    """Rows beside one label, each wrapped within its own column."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, width=_LABEL)
    table.add_column(overflow="fold")
    for number, row in enumerate(rows):
        table.add_row(Text("" if number else label, style=style), row)
    return table


def _loss(plan: Plan) -> RenderableType:
    """Return what may be lost, the records that are given up, and the risks that were accepted."""
    verdict = plan.loss.verdict
    style = _LOSS_STYLES[verdict]
    head = Text()
    if verdict not in _LOSS_LABELS:
        head.append(verdict.value, style=style).append(": ")
    head.append_text(text(plan.loss.text.removeprefix(f"{verdict.value}: ")))
    rows = [head, *(text(each) for each in _lost(plan.loss.records))]
    for risk in plan.risks:
        row = Text().append(f"accepted ({risk.word}): ", style=WARN)
        rows.append(row.append_text(text(risk.text)))
    return _rows(_LOSS_LABELS.get(verdict, f"{Status.WARN.mark} DATA LOSS"), rows, style)


def _lost(records: tuple[LostRecords, ...]) -> Iterator[str]:
    for lost in records:
        types = ", ".join(f"{each.count} {each.type}" for each in lost.types) or "types unknown"
        yield f"{lost.host} has offsets {lost.first_offset} to {lost.end_offset - 1}: {types}"


def _survivors(plan: Plan) -> Table:
    """The directories that were given, the next leader first."""
    rows = sorted(plan.ranking, key=lambda each: each.host != plan.seed)
    return _rows("Survivors", [_survivor(row, is_seed=row.host == plan.seed) for row in rows])


def _survivor(ranked: Ranked, *, is_seed: bool) -> Text:
    line = Text().append_text(text(ranked.host, NAME))
    line.append("  voter" if ranked.voter else "  observer")
    if ranked.end_offset:
        line.append(f"  readable up to offset {ranked.end_offset} of epoch {ranked.last_epoch}")
    else:
        line.append("  has no record", style=WARN)
    if ranked.note:
        line.append_text(text(f"; {ranked.note}"))
    return line.append("  ← leads", style=GOOD) if is_seed else line


def _step(number: int, step: PlanStep) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, width=_LABEL)
    table.add_column(no_wrap=True, width=6)
    table.add_column(overflow="fold")
    body = Text().append(step.action.value, style=NAME)
    if step.hosts:
        body.append_text(text(f" {', '.join(step.hosts)}"))
    body.append_text(text(f": {step.text}"))
    table.add_row(Text("Steps" if number == 1 else "", style=NAME), f"[ ] {number}", body)
    return table


def _command(to: Output, command: str) -> None:
    """A command on a line of its own, which is never broken: it is there to be copied."""
    line = Text(" " * 4).append("$ ", style=QUIET).append_text(text(command, COMMAND))
    to.narrate(line, unbroken=True)


def _next(to: Output, plan: Plan, file: str) -> None:
    to.narrate(Text())
    words = f"Read {file or 'the plan'} (id {plan.id[:SHORT_ID]}, method {plan.method.value})."
    applying = [
        command.split(" ", 4)[4]
        for step in plan.steps
        if step.action is Action.APPLY
        for command in commands_of(step, "PLAN")
    ]
    if not applying:
        to.narrate(_rows("Next", [text(words)]))
        return
    words += " Then rehearse it: only copies change."
    to.narrate(_rows("Next", [text(words)]))
    name = shlex.quote(file or "plan.yaml")
    _command(to, f"kraftool recover rehearse {name} {shlex.join(_directories(plan, applying))}")


def _directories(plan: Plan, applying: Iterable[str]) -> Iterator[str]:
    """The options of all applies, once each; a host that is rehearsed needs no copy of itself."""
    hosts = {name for step in plan.steps if step.action is Action.APPLY for name in step.hosts}
    words = [word for each in applying for word in shlex.split(each)]
    for option, value in dict.fromkeys(zip(words[::2], words[1::2], strict=True)):
        if option != "--source" or value.partition("=")[0] not in hosts:
            yield from (option, value)
