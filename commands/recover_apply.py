"""`kraftool recover apply`: what a plan has for one data directory, done there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import Debug, PlainFormat, PlainOutput, Quiet
from kraftool.commands.output import Output, printable
from kraftool.commands.recover_options import (
    Accept,
    Config,
    Directory,
    Host,
    PlanFile,
    Yes,
    refuse_unknown_words,
)

if TYPE_CHECKING:
    from kraftool.commands.recover_apply_json import ApplyDocument
    from kraftool.repair.apply import Apply
    from kraftool.repair.plan import Plan
    from kraftool.repair.verify import DirectoryCheck


def apply(
    plan: PlanFile,
    directory: Directory,
    yes: Yes = "",
    accept: Accept = None,
    host: Host = "",
    source: Annotated[
        list[str] | None,
        Option(
            "--source",
            metavar="HOST=PATH",
            help="Directory of another host that files are made from. Repeat it for more hosts.",
        ),
    ] = None,
    config: Config = "",
    dry_run: Annotated[
        bool,
        Option("--dry-run", help="Check, and report what would be done. Change nothing."),
    ] = False,
    output: PlainOutput = PlainFormat.TABLE,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Apply a plan to one data directory of this host.

    \b
    Examples:
    $ kraftool recover apply plan.yaml --dir /var/lib/kafka/data --dry-run
    $ kraftool recover apply plan.yaml --dir /var/lib/kafka/data

    The plan identifies the directory by its meta.properties, and every file by its hash. kraftool
    changes nothing if a file differs, if Kafka would use a file that the plan does not know, or if
    Kafka runs on the directory. It also refuses if another plan is unfinished, or if there is too
    little space. It shows the plan, and you type its id. Scripts give --yes ID.

    kraftool first copies the originals into .kraftool-recover in the metadata partition's folder,
    where Kafka does not look. There it also writes and verifies the new files. Only then it puts
    them in place, and it writes each step to a journal first. If it is interrupted, run it again to
    finish, or run recover undo. A plan that was applied is not applied twice.

    Only the directory's metadata files are written: never topics, never server.properties.
    Afterwards kraftool reads the directory as a node would. Exits 5 if it refuses.
    """
    import time

    from kraftool import __version__
    from kraftool.commands.recover_run import (
        confirm,
        read_plan,
        refuse_other_id,
        refusing,
        sources_of,
        telling_interruption,
    )
    from kraftool.repair.apply import Apply
    from kraftool.repair.verify import check_directory
    from kraftool.storage.repair_journal import Stage

    to = Output(quiet=quiet)
    if output is PlainFormat.JSON and not (yes or dry_run):
        raise UsageError("-o json asks no questions", hint="give --yes ID, or --dry-run")
    refuse_unknown_words(accept or ())
    made = read_plan(plan)
    refuse_other_id(made, yes)
    if not made.changes:
        _nothing(to, made, output)
        to.finish()
    with refusing():
        repair = Apply(made, directory, host=host, sources=sources_of(source or ()))
        for name in repair.unneeded:
            note = f"--source {name} is not used: {repair.host.name} needs no file of it"
            to.note(printable(note))
        if repair.host.edits and repair.stage is not Stage.APPLIED:
            if dry_run:
                repair.check()
                _would(to, repair, plan, config, output)
                to.finish()
            with repair:
                repair.check()
                if output is PlainFormat.TABLE:
                    _tell(to, repair, plan, config)
                    to.flush()
                words = [risk.word for risk in made.risks]
                confirm(made, "apply", directory, yes=yes, words=words, accepted=accept or ())
                with telling_interruption(to, repair, plan):
                    repair.carry_out(
                        int(time.time() * 1000),
                        __version__,
                        lambda words: to.note(printable(words)),
                    )
            was_applied = False
        else:
            was_applied = True
        checked = check_directory(made, directory, host=repair.host.name, config=config)
    if output is PlainFormat.JSON:
        to.document(_document(repair, checked, plan, dry_run=False, again=was_applied))
    else:
        _done(to, repair, checked, plan, again=was_applied)
    _set_exit_code(to, checked)
    to.finish()


def _tell(to: Output, repair: Apply, plan: str, config: str) -> None:
    from rich.text import Text

    from kraftool.commands.finding_view import text
    from kraftool.commands.recover_layout import (
        edit_rows,
        host_row,
        labelled,
        plan_head,
        setting_rows,
    )
    from kraftool.storage.repair_journal import Stage

    to.rich(*plan_head(repair.plan, plan))
    to.rich(*labelled("Plan", [text(line) for line in repair.plan.summary]))
    to.rich(*host_row(repair.host, repair.directory.name))
    if repair.stage is Stage.CHANGING:
        to.rich(*labelled("", [Text("It was interrupted. This finishes it.")]))
    to.rich(*edit_rows(repair.host.edits))
    if not config:
        to.rich(*setting_rows(repair.host))
    to.line()


def _would(to: Output, repair: Apply, plan: str, config: str, output: PlainFormat) -> None:
    from kraftool.repair.verify import settings_missing

    findings = list(settings_missing(repair.host, config)) if config else []
    if output is PlainFormat.JSON:
        to.document(_document(repair, None, plan, dry_run=True, again=False))
    else:
        from kraftool.commands.finding_view import write_findings

        _tell(to, repair, plan, config)
        write_findings(to, findings, "")
        to.line("It can be applied now. Nothing was changed.")


def _done(to: Output, repair: Apply, checked: DirectoryCheck, plan: str, *, again: bool) -> None:
    from kraftool.commands.finding_view import GOOD, text, write_findings
    from kraftool.commands.recover_layout import checklist, setting_rows
    from kraftool.commands.recover_run import steps_after
    from kraftool.commands.times import iso
    from kraftool.repair.plan import SHORT_ID

    name, short = repair.directory.name, repair.plan.id[:SHORT_ID]
    if not repair.host.edits:
        to.rich(text(f"Plan {short} changes no file of {name} ({repair.host.name})."))
        to.rich(*setting_rows(repair.host))
    elif again:
        since = iso(checked.ended or 0)
        to.rich(text(f"Plan {short} is already applied to {name}, since {since}."))
    else:
        to.rich(text(f"Plan {short} is applied to {name}.", GOOD))
        to.rich(text(f"The originals are in {repair.backup.path}/old."))
    write_findings(to, checked.findings, "")
    if not checked.is_wrong:
        if steps := steps_after(repair.plan, repair.host):
            to.line()
            to.rich(*checklist(steps, plan, "Next"))
        return
    undo = "" if checked.has_moved_on else "kraftool recover undo, then "
    to.line()
    to.rich(
        text("Do not start the node before the problems above are solved."),
        text(f"If the directory is not as planned: {undo}collect and plan again."),
    )


def _set_exit_code(to: Output, checked: DirectoryCheck) -> None:
    from kraftool.reports.findings.finding import Severity

    if any(finding.severity is not Severity.INFO for finding in checked.findings):
        to.raise_code(ExitCode.FINDING)


def _document(
    repair: Apply, checked: DirectoryCheck | None, file: str, *, dry_run: bool, again: bool
) -> ApplyDocument:
    from kraftool.commands.recover_apply_json import ApplyDocument, steps
    from kraftool.commands.recover_run import steps_after
    from kraftool.repair.edits import in_turn

    is_next = checked is None or not checked.is_wrong
    return ApplyDocument(
        plan_id=repair.plan.id,
        host=repair.host.name,
        is_dry_run=dry_run,
        is_already_done=again,
        edits=tuple(in_turn(repair.host.edits)),
        needed_settings=repair.host.settings,
        backup=repair.backup.path if repair.host.edits else None,
        checked=checked,
        next_steps=steps(steps_after(repair.plan, repair.host) if is_next else [], file),
    )


def _nothing(to: Output, plan: Plan, output: PlainFormat) -> None:
    """A plan that changes nothing anywhere."""
    from kraftool.commands.recover_run import no_action

    if output is not PlainFormat.JSON:
        to.line(no_action(plan))
        return
    from kraftool.commands.recover_apply_json import ApplyDocument

    to.document(
        ApplyDocument(
            plan_id=plan.id,
            host="",
            is_dry_run=False,
            is_already_done=True,
            edits=(),
            needed_settings=(),
            backup=None,
            checked=None,
            next_steps=(),
        )
    )
