"""The layout of a plan for plan, rehearse, apply, verify and guide: its loss first, then labelled
rows.

Owns the layout and the colours of loss. It yields what `Output.rich` and `Output.narrate` write.
The words are the plan's, and go through `printable`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.text import Text

from kraftool.commands.finding_view import BAD, GOOD, NAME, QUIET, WARN, command_lines, text
from kraftool.commands.text_flow import READABLE, Beside, Flow, Unbroken
from kraftool.repair.edits import in_turn
from kraftool.repair.plan import (
    KAFKA_EXITS,
    RECORD_STOPS,
    SHORT_ID,
    UNREADABLE,
    Edit,
    HostPlan,
    LostRecords,
    Method,
    Plan,
    PlanStep,
)
from kraftool.repair.step_commands import with_plan_file
from kraftool.reports.election.assessment import LossBound
from kraftool.reports.findings.status import Status
from kraftool.reports.text.words import many

LABEL = 13
"""Columns of the labels on the left; a loss's fit."""
Line = Flow | Beside | Unbroken
"""What both kinds of output take."""
_MOST_NAMES = 5
"""So many names of a kind are shown; the plan's file has more."""
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
_CONDITION = "none, if "
"""How the text of a plan begins that loses nothing only in a certain order of starts."""


def labelled(
    label: str, rows: Iterable[Text], style: str = NAME, *, hanging: int = 0
) -> Iterator[Flow]:
    """Rows beside one label, each wrapped within its own column, and so much further in."""
    for number, row in enumerate(rows):
        lead = Text(("" if number else label).ljust(LABEL), style=style)
        yield Flow(row, lead=lead, again=" " * (LABEL + hanging), widest=READABLE)


_TITLES = {
    KAFKA_EXITS: "no plan can repair this",
    RECORD_STOPS: "a record stops controllers",
}
"""Of plans that change nothing."""


def plan_head(
    plan: Plan, file: str, words: str = "", *, is_quorum_safe: bool = True
) -> Iterator[Line]:
    """Show which plan it is, by its file's name, and what it may lose: the worst first."""
    title = Text().append("PLAN ", style=QUIET).append(plan.id[:SHORT_ID], style=NAME)
    what = plan.method.value
    if plan.method is Method.NONE:
        what = next((_TITLES[case] for case in plan.cases if case in _TITLES), "nothing to do")
    title.append(f"   {what}")
    if plan.seed:
        title.append_text(text(f", {plan.seed} leads"))
    if words:
        title.append_text(text(f", {words}"))
    yield Beside(title, text(os.path.basename(file), QUIET))
    yield from loss(plan, is_quorum_safe=is_quorum_safe)


def loss(plan: Plan, *, is_quorum_safe: bool = True) -> Iterator[Flow]:
    """Show what may be lost, the records that are given up, and the risks that were accepted."""
    label, style, head = _verdict(plan, is_quorum_safe=is_quorum_safe)
    rows = [head, *(text(sentence) for sentence in _lost(plan.loss.records))]
    for risk in plan.risks:
        row = Text().append(f"accepted ({risk.word}): ", style=WARN)
        rows.append(row.append_text(text(risk.text)))
    yield from labelled(label, rows, style)


def _verdict(plan: Plan, *, is_quorum_safe: bool) -> tuple[str, str, Text]:
    """Return the label of a plan's loss, its style, and the words beside it.

    A plan that loses nothing is green only if the nodes lose nothing without it either.
    """
    verdict = plan.loss.verdict
    words = plan.loss.text.removeprefix(f"{verdict.value}: ")
    style = _LOSS_STYLES[verdict]
    if verdict is LossBound.NONE:
        condition = words.removeprefix(_CONDITION) if words.startswith(_CONDITION) else ""
        if not is_quorum_safe and not condition and (plan.changes or plan.steps):
            condition = f"you carry out this plan: {words}"
        if condition:
            return f"{Status.WARN.mark} No loss if", WARN, text(condition)
        if not is_quorum_safe:
            return f"{Status.WARN.mark} No loss", WARN, text(words)
    if verdict in _LOSS_LABELS:
        return _LOSS_LABELS[verdict], style, text(words)
    head = Text().append(verdict.value, style=style).append(": ").append_text(text(words))
    return f"{Status.WARN.mark} DATA LOSS", style, head


def _lost(records: tuple[LostRecords, ...]) -> Iterator[str]:
    for lost in records:
        types = ", ".join(f"{count.count} {count.type}" for count in lost.types) or "types unknown"
        yield f"{lost.describe()}: {types}"
        for objects in lost.objects:
            names = ", ".join(objects.names[:_MOST_NAMES])
            more = objects.count - min(len(objects.names), _MOST_NAMES)
            yield f"  {objects.kind}: {names}{f' and {more} more' if more else ''}"
        unreadable = sum(count.count for count in lost.types if count.type == UNREADABLE)
        if unreadable:
            yield f"  unknown: the changes of {many(unreadable, 'unreadable record')}"
        if not lost.has_names and lost.has_readable:
            yield "  give its directory to see the names of topics and other objects"


# --- steps ------------------------------------------------------------------------------------


def checklist(
    steps: Sequence[tuple[int, PlanStep]], file: str, label: str = "Steps"
) -> Iterator[Line]:
    """Steps to tick off, each with its number in the plan, its hosts, its text and its commands."""
    width = max((len(step.action.value) for _, step in steps), default=0)
    digits = max((len(str(number)) for number, _ in steps), default=0)
    for number, step in steps:
        box = f"[ ] {number:>{digits}}  "
        indent = LABEL + len(box)
        is_first = number == steps[0][0]
        lead = Text().append((label if is_first else "").ljust(LABEL), style=NAME).append(box)
        head = Text().append(step.action.value, style=NAME)
        if step.hosts:
            head.append(" " * (width - head.cell_len + 2)).append_text(text(", ".join(step.hosts)))
        yield Flow(head, lead=lead, widest=READABLE)
        yield Flow(text(step.text), lead=" " * indent, widest=READABLE)
        yield from command_lines(commands_of(step, file), indent)


def commands_of(step: PlanStep, file: str) -> tuple[str, ...]:
    """Return the commands of a step with the name of the plan's file, ready for a shell."""
    return tuple(with_plan_file(command, file or "plan.yaml") for command in step.commands)


# --- a host -----------------------------------------------------------------------------------


def edit_rows(edits: tuple[Edit, ...]) -> Iterator[Flow]:
    """Show what happens to each file, in that order; a reason that several share comes
    once, below them."""
    rows: list[Text] = []
    for (verb, why), group in groupby(in_turn(edits), lambda edit: (_verb(edit), edit.why)):
        name, style = verb
        for number, edit in enumerate(group):
            row = Text().append(("" if number else name).ljust(9), style=style)
            rows.append(row.append_text(text(edit.target.name)).append(_sizes(edit), style=QUIET))
        if why:
            rows.append(Text(" " * 9).append_text(text(why, QUIET)))
    for number, row in enumerate(rows):
        lead = Text(("" if number else "Files").ljust(LABEL), style=NAME)
        yield Flow(row, lead=lead, again=" " * (LABEL + 9), widest=READABLE)


def _verb(edit: Edit) -> tuple[str, str]:
    if edit.is_removal:
        return "remove", WARN
    return ("create", GOOD) if edit.before is None else ("replace", WARN)


def _sizes(edit: Edit) -> str:
    before = "" if edit.before is None else f"{edit.before.size} B"
    if edit.is_removal:
        return f"  {before}"
    if edit.snapshot is not None:
        return f"  {edit.snapshot.records} records"
    after = f"{edit.after.size} B" if edit.after is not None else ""
    return f"  {before} → {after}" if before else f"  {after}"


def setting_rows(host: HostPlan) -> Iterator[Line]:
    """Show what server.properties must say; the reader writes it."""
    if not host.settings:
        return
    words = "Edit server.properties yourself before the node starts:"
    yield from labelled("Settings", [Text(words)])
    for setting in host.settings:
        row = f"{setting.key}={setting.value}" if setting.value else f"no line {setting.key}"
        yield Unbroken(Text(" " * (LABEL + 2)).append_text(text(row)))


def host_row(host: HostPlan, directory: str) -> Iterator[Flow]:
    """Show which host of the plan a directory is."""
    row = Text().append_text(text(directory, NAME)).append(" is ")
    row.append_text(text(host.name, NAME))
    node = host.identity.node_id
    words = f" in the plan: {host.role.value}" + ("" if node is None else f", node {node}")
    yield from labelled("Directory", [row.append(words)])
