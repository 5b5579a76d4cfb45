"""Shared parts of apply, undo and verify: reading the plan, asking before a change, next steps.

Owns the confirmation: the plan's id is typed, so that nobody applies another plan than the one that
was read, with the words of the risks that it takes. Everything from the plan goes through
`printable`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from kraftool.commands.exit_code import ExitCode, RefusedError, UsageError
from kraftool.commands.output import Output, printable
from kraftool.commands.typed_answer import asked
from kraftool.decoders.errors import KraftoolError
from kraftool.repair.apply import Repair
from kraftool.repair.disk import RepairRefused
from kraftool.repair.plan import SHORT_ID, Action, HostPlan, Plan, PlanStep
from kraftool.repair.plan_yaml import MOST_BYTES, PlanError, plan_from_yaml
from kraftool.repair.record import record_of
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
                outcome = f"the plan is {stage.value} in {where}: do not start the node, and run"
                outcome += f" kraftool recover {again} {plan} again to finish it"
                outcome += ", or recover undo" if stage is Stage.CHANGING else ""
            case Stage.APPLIED:
                outcome = f"the plan is applied in {where}"
            case _:
                outcome = f"nothing is changed in {where}"
        to.problem(f"interrupted; {outcome}", code=ExitCode.INTERRUPTED)
        raise


# --- saying ----------------------------------------------------------------------------------


def steps_after(plan: Plan, host: HostPlan) -> list[tuple[int, PlanStep]]:
    """Return what a person does once the plan is applied to this directory, with the plan's
    numbers; where it has nothing for this one, from applying it to the others on: a start before
    that would be one of the old directory.
    """
    applying = [number for number, step in enumerate(plan.steps) if step.action is Action.APPLY]
    ours = [number for number in applying if host.name in plan.steps[number].hosts]
    begin = max(ours) + 1 if ours else min(applying, default=0)
    return steps_from(plan, begin)


def steps_from(plan: Plan, begin: int) -> list[tuple[int, PlanStep]]:
    """Return the steps from one on, with their numbers, and what stays stopped all the time."""
    return [
        (number, step)
        for number, step in enumerate(plan.steps, 1)
        if number > begin or step.action is Action.KEEP_STOPPED
    ]


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
                hint=" ".join(f"--accept {word}" for word in missing),
            )
        return
    if sys.stdin is None or not sys.stdin.isatty():
        options = " ".join((f"--yes {plan.id[:SHORT_ID]}", *(f"--accept {word}" for word in words)))
        raise RefusedError(
            f"to {verb} a plan its id has to be typed, and there is no terminal to ask on",
            hint=f"read it, then give {options}",
        )
    wanted = " ".join([plan.id[:SHORT_ID], *words])
    _ask_about_other_hosts(directory)
    answer = asked(f"To {verb} the plan here type {printable(wanted)}: ").split()
    if not answer or not _is_id(plan, answer[0]) or sorted(answer[1:]) != sorted(words):
        raise RefusedError("that is not it; nothing was changed")


def _ask_about_other_hosts(directory: str) -> None:
    """A lock that another host holds on a shared file system may not show."""
    where = printable(os.path.realpath(directory))
    answer = asked(
        f"A Kafka on another host that has {where} too cannot be seen from here.\n"
        "Is every Kafka stopped that could write there? Type yes: "
    )
    if answer.strip().lower() != "yes":
        raise RefusedError("stop it first; nothing was changed")


def _is_id(plan: Plan, given: str) -> bool:
    return len(given) >= SHORT_ID and plan.id.startswith(given.lower())


def sources_of(given: Iterable[str]) -> dict[str, str]:
    """Return what --source says, by host."""
    sources = {}
    for source in given:
        host, mark, path = source.partition("=")
        if not mark or not host or not path:
            raise UsageError(f"--source {source} is not HOST=PATH")
        sources[host] = path
    return sources
