"""What apply, undo and verify share: reading the plan, telling it, asking before anything is done.

Owns the confirmation: the plan's id is typed, so that nobody applies another plan than the one that
was read, with the words of the risks that it takes. Everything from the plan goes through
`printable`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.table import Table
from rich.text import Text

from kraftool.commands.exit_code import ExitCode, RefusedError, UsageError
from kraftool.commands.finding_view import GOOD, NAME, QUIET, WARN, text
from kraftool.commands.output import Output, printable
from kraftool.decoders.errors import KraftoolError
from kraftool.repair.apply import Repair
from kraftool.repair.disk import RepairRefused
from kraftool.repair.edits import in_turn
from kraftool.repair.plan import SHORT_ID, Action, Edit, HostPlan, Plan, PlanStep
from kraftool.repair.plan_yaml import MOST_BYTES, PlanError, plan_from_yaml
from kraftool.repair.record import record_of
from kraftool.repair.step_commands import with_plan_file
from kraftool.reports.election.assessment import LossBound
from kraftool.storage.files import Files, read_whole
from kraftool.storage.repair_journal import Stage


def read_plan(path: str) -> Plan:
    """The plan in a file. One that was changed is refused."""
    try:
        data = read_whole(Files(), path, MOST_BYTES + 1)
    except OSError as error:
        raise KraftoolError(f"{path} cannot be read: {error.strerror or error}") from error
    if data is None:
        raise KraftoolError(f"{path} is not there")
    try:
        return plan_from_yaml(data, path)
    except PlanError as error:
        raise RefusedError(error.message, hint=error.hint) from None


@contextmanager
def refusing() -> Iterator[None]:
    """Exit as refused for safety if a repair refuses."""
    try:
        yield
    except RepairRefused as error:
        raise RefusedError(error.message, hint=error.hint) from error


@contextmanager
def telling_interruption(to: Output, repair: Repair, plan: str) -> Iterator[None]:
    """Ctrl-C says how far it came, also with --quiet: a half-done directory must not be started."""
    try:
        yield
    except KeyboardInterrupt:
        where = repair.directory.name
        match record_of(repair.backup.entries(), repair.backup.path).stage:
            case Stage.CHANGING | Stage.UNDOING as stage:
                again = "apply" if stage is Stage.CHANGING else "undo"
                told = f"the plan is {stage.value} in {where}: do not start the node, and run"
                told += f" kraftool recover {again} {plan} again to finish it"
                told += ", or recover undo" if stage is Stage.CHANGING else ""
            case Stage.APPLIED:
                told = f"the plan is applied in {where}"
            case _:
                told = f"nothing is changed in {where}"
        to.problem(f"interrupted; {told}", code=ExitCode.INTERRUPTED)
        raise


# --- telling ---------------------------------------------------------------------------------


def write_head(to: Output, plan: Plan, host: HostPlan, directory: str) -> None:
    """The plan, and what it has for this directory."""
    line = Text("Plan ", style=QUIET).append(plan.id[:SHORT_ID], style=NAME)
    line.append(f"  {plan.method.value}").append(f", made by kraftool {printable(plan.tool)}")
    to.rich(line)
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column(overflow="fold")
    for sentence in plan.summary:
        table.add_row("", text(sentence))
    verdict, said = plan.loss.verdict, plan.loss.text
    loss = Text("may be lost: ").append(
        verdict.value, style=GOOD if verdict is LossBound.NONE else WARN
    )
    table.add_row("", loss.append_text(text(f"; {said.removeprefix(f'{verdict.value}: ')}")))
    for risk in plan.risks:
        table.add_row("", Text("risk ", style=WARN).append_text(text(f"{risk.word}: {risk.text}")))
    to.rich(table)
    line = text(directory, NAME).append(" is ").append_text(text(host.name, NAME))
    node = host.identity.node_id
    line.append(f" in the plan: {host.role.value}" + ("" if node is None else f", node {node}"))
    to.rich(line)


def write_edits(to: Output, edits: tuple[Edit, ...]) -> None:
    """Show what happens to each file, in its order."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True)
    for edit in in_turn(edits):
        body = text(edit.target.name)
        if edit.why:
            body.append("\n").append_text(text(edit.why, QUIET))
        table.add_row(*_sizes(edit, body))
    to.rich(table)


def _sizes(edit: Edit, body: Text) -> tuple[Text, Text, Text]:
    before = "" if edit.before is None else f"{edit.before.size} B"
    if edit.is_removal:
        return Text("  remove", style=WARN), body, Text(before, style=QUIET)
    if edit.snapshot is not None:
        size = f"{edit.snapshot.records} records"
    else:
        size = f"{edit.after.size} B" if edit.after is not None else ""
    if edit.before is None:
        return Text("  create", style=GOOD), body, Text(size, style=QUIET)
    return Text("  replace", style=WARN), body, Text(f"{before} → {size}", style=QUIET)


def write_settings(to: Output, host: HostPlan) -> None:
    """Show the settings that server.properties needs; the reader writes them."""
    if not host.settings:
        return
    to.line("server.properties, before the node is started (kraftool does not write it):")
    for setting in host.settings:
        if setting.value:
            to.line(f"  {printable(setting.key)}={printable(setting.value)}")
        else:
            to.line(f"  no line {printable(setting.key)}")


def steps_after(plan: Plan, host: HostPlan) -> list[PlanStep]:
    """Return what a person does once the plan is applied to this directory; where it has nothing
    for this one, from applying it to the others on: a start before that would be one of the old
    directory.
    """
    applying = [number for number, step in enumerate(plan.steps) if step.action is Action.APPLY]
    ours = [number for number in applying if host.name in plan.steps[number].hosts]
    begin = max(ours) + 1 if ours else min(applying, default=0)
    return list(plan.steps[begin:])


def write_steps(to: Output, steps: Sequence[PlanStep], file: str) -> None:
    """Steps with their commands, which name the plan's file."""
    if not steps:
        return
    to.line()
    to.line("Next:")
    for number, step in enumerate(steps, 1):
        where = f" on {', '.join(step.hosts)}" if step.hosts else ""
        body = Text(f"{step.action.value}", style=NAME).append_text(text(f"{where}: ", QUIET))
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True, width=4, justify="right")
        table.add_column(overflow="fold")
        table.add_row(Text(f"{number}."), body.append_text(text(step.text)))
        to.rich(table)
        for command in commands_of(step, file):  # not folded: it is there to be copied
            to.line(f"     $ {printable(command)}")


def commands_of(step: PlanStep, file: str) -> tuple[str, ...]:
    """Return the commands of a step with the name of the plan's file, ready for a shell."""
    return tuple(with_plan_file(command, file or "plan.yaml") for command in step.commands)


def no_action(plan: Plan) -> str:
    """Return what is said, whatever the directory, where a plan changes nothing anywhere."""
    return f"Plan {plan.id[:SHORT_ID]}: no action is needed, on no host."


# --- asking ----------------------------------------------------------------------------------


def refuse_other_id(plan: Plan, yes: str) -> None:
    """Raise RefusedError where --yes names another plan, also where nothing is left to do."""
    if yes and not _is_id(plan, yes):
        raise RefusedError(
            f"--yes {yes} is not the id of this plan, which is {plan.id[:SHORT_ID]}",
            hint="read the plan, then give its id",
        )


def confirm(
    plan: Plan,
    verb: str,
    directory: str,
    *,
    yes: str,
    words: Sequence[str] = (),
    accepted: Iterable[str] = (),
) -> None:
    """Have the plan's id and these words, by --yes or typed. Raises RefusedError."""
    refuse_other_id(plan, yes)
    if yes:
        missing = sorted(set(words) - set(accepted))
        if missing:
            raise RefusedError(
                f"the plan takes a risk that is not accepted here: {', '.join(missing)}",
                hint=" ".join(f"--accept {each}" for each in missing),
            )
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise RefusedError(
            f"to {verb} a plan its id has to be typed, and there is no terminal to ask on",
            hint=f"read it, then give --yes {plan.id[:SHORT_ID]}",
        )
    wanted = " ".join([plan.id[:SHORT_ID], *words])
    _ask_about_other_hosts(directory)
    answer = _asked(f"To {verb} the plan here type {printable(wanted)}: ").split()
    if not answer or not _is_id(plan, answer[0]) or sorted(answer[1:]) != sorted(words):
        raise RefusedError("that is not it; nothing was changed")


def _ask_about_other_hosts(directory: str) -> None:
    """A lock that another host holds on a shared file system may not show."""
    where = printable(os.path.realpath(directory))
    answer = _asked(
        f"A Kafka on another host that has {where} too cannot be seen from here.\n"
        "Is every Kafka stopped that could write there? Type yes: "
    )
    if answer.strip().lower() != "yes":
        raise RefusedError("stop it first; nothing was changed")


def _asked(question: str) -> str:
    import typer

    try:
        answer: str = typer.prompt(
            question, default="", show_default=False, prompt_suffix="", err=True
        )
    except typer.Abort:
        raise RefusedError("nothing was typed, and nothing was changed") from None
    return answer


def _is_id(plan: Plan, given: str) -> bool:
    return len(given) >= SHORT_ID and plan.id.startswith(given.lower())


def sources_of(given: Iterable[str]) -> dict[str, str]:
    """Return what --source says, by host."""
    found = {}
    for each in given:
        host, mark, path = each.partition("=")
        if not mark or not host or not path:
            raise UsageError(f"--source {each} is not HOST=PATH")
        found[host] = path
    return found
