"""`kraftool backup restore`: the metadata of a backup into a running cluster, by requests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.backup.restore import RestorePart, StepOutcome
from kraftool.commands.backup_options import BackupOrStore, opened
from kraftool.commands.exit_code import ExitCode, UnreachableError
from kraftool.commands.options import (
    OutputOptions,
    PlainFormat,
    PlainOutput,
)
from kraftool.commands.output import Output, printable
from kraftool.commands.quorum_options import (
    AccessOptions,
    Bootstrap,
)

if TYPE_CHECKING:
    from kraftool.backup.restoring import RestoreReport

_STYLES = {
    StepOutcome.UNCHECKED: "quiet",
    StepOutcome.POSSIBLE: "",
    StepOutcome.DONE: "good",
    StepOutcome.REFUSED: "bad",
    StepOutcome.UNKNOWN: "warn",
}


def restore(
    *,
    backup: BackupOrStore,
    bootstrap_controller: Bootstrap,
    apply: Annotated[
        bool,
        Option("--apply", help="Send the requests. Without it kraftool only shows them."),
    ] = False,
    only: Annotated[
        list[RestorePart] | None,
        Option("--only", help="Restore only this. Repeat it for more."),
    ] = None,
    topic: Annotated[
        list[str] | None,
        Option(
            "--topic",
            metavar="PATTERN",
            help="Restore only these topics: a name, or a pattern such as 'orders-*'. Repeat it"
            " for more.",
        ),
    ] = None,
    replication_factor: Annotated[
        int | None,
        Option(
            "--replication-factor",
            metavar="N",
            min=1,
            help="Number of replicas of new topics (default: as many as each topic had).",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        Option("--overwrite", help="Replace configs and quotas that have another value."),
    ] = False,
    access: AccessOptions,
    output: PlainOutput = PlainFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Restore topics, configs, ACLs and quotas of a backup into a running cluster.

    \b
    Example: kraftool backup restore /backup/prod --bootstrap-controller ctl-1:9093
    Example: kraftool backup restore /backup/prod --bootstrap-controller ctl-1:9093 --apply

    kraftool compares the backup with the cluster, and shows what is missing. The controller checks
    the requests without carrying them out; only ACLs it cannot check. With --apply kraftool sends
    them. What is already there is left alone, so that you can run the command again after an
    interruption. If BACKUP is a STORE, kraftool takes its newest backup.

    Topics get new ids, no records, and no offsets of consumer groups. The controller chooses the
    brokers of their replicas. Broker configs are restored if the broker is registered. kraftool
    lists what it cannot restore: SCRAM users (kraftool format --scram-from takes them into a new
    cluster), delegation tokens, and levels of features.

    The requests go to the active controller. --command-config has to name a user who may do all of
    it. A controller without an authorizer refuses ACLs.

    Exits 1 if something was refused, or has another value in the cluster. Exits 4 if no controller
    was reached. Without --apply nothing is changed. No file is written.
    """
    from kraftool.backup.manifest import newest
    from kraftool.backup.restore import RestoreScope
    from kraftool.backup.restoring import restored
    from kraftool.client.observing import UnobservableError
    from kraftool.net.errors import NetError

    target = access.target_at(bootstrap_controller)
    to = printing.open()
    files, name = opened(backup)
    manifest = newest(files, name)
    scope = RestoreScope(
        parts=tuple(only or RestorePart),
        topics=tuple(topic or ()),
        replication_factor=replication_factor,
        overwrites=overwrite,
    )
    try:
        report = asyncio.run(restored(files, manifest, target, scope, apply=apply))
    except UnobservableError:
        raise
    except NetError as error:
        raise UnreachableError(error.message, hint=error.hint) from None
    if output is PlainFormat.JSON:
        to.document(report)
    else:
        _write(to, report)
    outcomes = {step.outcome for step in report.restore.steps}
    if outcomes & {StepOutcome.REFUSED, StepOutcome.UNKNOWN} or any(
        one.is_difference for one in report.restore.not_restored
    ):
        to.raise_code(ExitCode.FINDING)
    to.finish()


def _write(to: Output, report: RestoreReport) -> None:
    from rich.text import Text

    from kraftool.commands.finding_view import MEANING_STYLES, QUIET, text
    from kraftool.commands.text_flow import Flow
    from kraftool.reports.text.words import many

    restore = report.restore
    to.line(printable(f"{report.backup} into cluster {report.cluster_id or 'without an id'}"))
    for step in restore.steps:
        mark = Text(f"{step.outcome.value:<9}  ", style=MEANING_STYLES[_STYLES[step.outcome]])
        to.rich(Flow(text(step.subject), lead=mark, again=" " * 11))
        if step.reason:
            to.rich(Flow(text(step.reason, QUIET), lead=" " * 11, again=" " * 11))
    if restore.not_restored:
        to.line()
        to.line("Not restored")
    for one in restore.not_restored:
        style = MEANING_STYLES["warn" if one.is_difference else ""]
        to.rich(Flow(text(one.subject, style), lead="  ", again="    "))
        to.rich(Flow(text(one.reason, QUIET), lead="    ", again="    "))
    to.line()
    done = sum(step.outcome is StepOutcome.DONE for step in restore.steps)
    there = f"{restore.already_there} already there"
    if report.is_dry_run:
        count = many(len(restore.steps), "step")
        to.line(f"{count} to do, {there}. Nothing was changed: --apply sends the requests.")
    else:
        to.line(f"{done} of {many(len(restore.steps), 'step')} done, {there}.")
