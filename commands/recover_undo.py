"""`kraftool recover undo`: a data directory as it was before a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import Debug, PlainFormat, PlainOutput, Quiet
from kraftool.commands.output import Output, printable
from kraftool.commands.recover_options import Directory, Host, PlanFile, Yes

if TYPE_CHECKING:
    from rich.text import Text

    from kraftool.repair.plan import Plan
    from kraftool.repair.undo import Undo


def undo(
    plan: PlanFile,
    directory: Directory,
    yes: Yes = "",
    host: Host = "",
    output: PlainOutput = PlainFormat.TABLE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Undo a plan in one data directory.

    Example: kraftool recover undo plan.yaml --dir /var/lib/kafka/data

    kraftool restores the bytes, owner and permissions of every file from the originals that apply
    kept, and removes the files that the plan made. You type the plan's id. Scripts give --yes ID.
    If it is interrupted, run it again to finish.

    It refuses, with exit code 5, once a node has run on the directory. An undo would then forget
    what the node wrote and promised, and the node could vote twice. Kafka must not run on the
    directory. The originals stay in .kraftool-recover. Nothing is written except the files that the
    plan changed.
    """
    import time

    from kraftool.commands.finding_view import GOOD, text
    from kraftool.commands.recover_run import (
        confirm,
        no_action,
        read_plan,
        refuse_other_id,
        refusing,
        telling_interruption,
    )
    from kraftool.commands.text_flow import READABLE, Flow
    from kraftool.repair.undo import Undo
    from kraftool.storage.repair_journal import Stage

    to = Output(quiet=quiet)
    if output is PlainFormat.JSON and not yes:
        raise UsageError("-o json asks no questions", hint="give --yes ID")
    made = read_plan(plan)
    refuse_other_id(made, yes)
    if not made.changes:
        if output is PlainFormat.TABLE:
            to.line(no_action(made))
        else:
            _write_document(to, made)
        to.finish()
    with refusing():
        repair = Undo(made, directory, host=host)
        again = repair.stage is Stage.UNDONE
        if not again:
            with repair:
                repair.check()
                if output is PlainFormat.TABLE:
                    changes = repair.record.changes
                    stage = _plan_in(made, repair.stage.value, directory)
                    to.rich(Flow(stage.append("."), again="  "))
                    for change in reversed(changes):
                        verb = "remove " if change.before is None else "restore"
                        to.line(f"  {verb}  {printable(change.target.name)}")
                    to.flush()
                confirm(made, "undo", directory, yes=yes)
                with telling_interruption(to, repair, plan):
                    repair.carry_out(
                        int(time.time() * 1000), lambda words: to.note(printable(words))
                    )
    if output is PlainFormat.JSON:
        _write_document(to, made, repair, again=again)
    elif again:
        to.rich(Flow(_plan_in(made, "already undone", directory).append("."), again="  "))
    else:
        head = _plan_in(made, "undone", directory)
        words = ": every file that it changed there is as it was before."
        to.rich(Flow(head.append(words, style=GOOD), again="  ", widest=READABLE))
        words = "Do not start the node before you know the next step: make another plan."
        to.rich(Flow(text(words), widest=READABLE))
    to.finish()


def _plan_in(plan: Plan, stage: str, directory: str) -> Text:
    """Return how far a plan is in a directory."""
    from kraftool.commands.finding_view import NAME, text
    from kraftool.repair.plan import SHORT_ID

    line = text("Plan ").append_text(text(plan.id[:SHORT_ID], NAME))
    return line.append(f" is {stage} in ").append_text(text(directory, NAME))


def _write_document(
    to: Output, plan: Plan, repair: Undo | None = None, *, again: bool = True
) -> None:
    from kraftool.commands.recover_apply_json import UndoDocument

    changes = repair.record.changes if repair is not None else ()
    to.document(
        UndoDocument(
            plan_id=plan.id,
            host="" if repair is None else repair.host.name,
            is_already_done=again,
            restored=tuple(change.target.path for change in changes if change.before is not None),
            removed=tuple(change.target.path for change in changes if change.before is None),
            backup=None if repair is None else repair.backup.path,
        )
    )
