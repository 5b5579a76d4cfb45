"""`kraftool pipeline audit`: doctor, verify-log and verify-snapshot over a whole fleet."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.finding_options import (
    FailOn,
    FailOnSeverity,
    IgnoredCodes,
    MuteFile,
    ShowMuted,
    finding_filter,
)
from kraftool.commands.options import Out, PlainFormat, PlainOutput
from kraftool.commands.output import Output
from kraftool.commands.pipeline_options import PipelineOptions

if TYPE_CHECKING:
    from kraftool.reports.fleet.model import FleetAudit, FleetCounts
    from kraftool.spark.audit.collect import AuditRun
    from kraftool.spark.audit.findings_table import FindingsTable


@dataclass(frozen=True, kw_only=True)
class AuditOptions(PipelineOptions):
    """The options of `pipeline audit` as they were written."""

    html: Annotated[
        str,
        Option("--html", metavar="FILE", help="Write an HTML report to this new file."),
    ] = ""
    out_table: Annotated[
        str,
        Option(
            "--out-table",
            metavar="DIR",
            help="Add the findings to this Delta table, a folder or an s3:// URL.",
        ),
    ] = ""
    out_options: Annotated[
        str,
        Option(
            "--out-options",
            metavar="FILE",
            help="File with a JSON object for the object store of --out-table, such as"
            " aws_access_key_id and aws_endpoint_url. By default they come from the environment.",
        ),
    ] = ""
    since: Annotated[
        str,
        Option(
            "--since",
            metavar="RUN",
            help="Show what is new and what is gone since a run of --out-table, by its number or"
            " as last. Exit 1 or 3 only for new findings.",
        ),
    ] = ""
    ignore: IgnoredCodes = None
    mute: MuteFile = ""
    show_muted: ShowMuted = False
    fail_on: FailOnSeverity = FailOn.WARNING
    output: PlainOutput = PlainFormat.TABLE
    out: Out = ""


def audit(options: AuditOptions) -> None:
    """Verify every directory of a fleet, alone and together.

    Example: kraftool pipeline audit /var/lib/kafka/data

    Examines each directory as doctor, verify-log and verify-snapshot do. Then it compares all nodes
    of a cluster: the same offset must have the same bytes, and snapshots of one offset the same
    state. Voters must agree, and no cluster, node or directory id may be used twice. The terminal
    and the HTML page show the worst findings, and JSON has all of them. Exits 1 if something is
    wrong, and 3 if something could not be read or decoded. With --out-table each run adds its
    findings to a table, and --since last shows only what has changed since the run before.

    Nothing is written to the directories, and nothing is locked. A running Kafka is not disturbed.
    """
    left_out = finding_filter(options.ignore, options.mute)

    from kraftool.commands.pipeline_options import (
        absolute,
        check_files,
        spark_run,
        storage_options,
        turned_down,
        with_one_retry,
    )

    named = absolute(options.roots)
    storage = storage_options(options.storage_options)
    out_options = storage_options(options.out_options, "--out-options")
    for option, value in (("--since", options.since), ("--out-options", options.out_options)):
        if value and not options.out_table:
            raise UsageError(f"{option} requires --out-table", hint="--out-table DIR")
    with turned_down():
        check_files(out=options.out, html=options.html, spark_log=options.spark_log)
        history = _History.of(options, out_options) if options.out_table else None
    to = options.printing.open(options.out)
    page = Output(out=options.html) if options.html else None

    def attempt() -> FleetAudit:
        from kraftool.spark.job_progress import StagedProgress

        stages = StagedProgress()
        with turned_down(), spark_run(to, options, "audit", stages) as spark:
            from kraftool.spark.audit.collect import AuditRequest
            from kraftool.spark.audit.run import audit as run_audit

            wanted = AuditRequest(
                roots=named,
                depth=options.depth,
                storage=storage,
                left_out=left_out,
                fail_on=options.fail_on.value,
            )
            with run_audit(spark, wanted, stages.begin) as run:
                if history is not None:
                    run = history.added(run)
                if options.output is PlainFormat.JSON:
                    _write_json(to, run)
                return run.model

    model = with_one_retry(to, attempt)
    if options.output is PlainFormat.TABLE:
        from kraftool.commands.pipeline_audit_view import write_audit

        write_audit(to, model, show_muted=options.show_muted)
    if page is not None:
        _write_page(page, model)
        to.note(f"the report is {options.html}")
    if history is not None:
        to.note(f"the findings are run {history.run} of {history.table.place.root}")
    _set_exit_code(to, _counts_to_fail_on(model), options.fail_on)
    to.finish()


@dataclass(slots=True)
class _History:
    """The table of --out-table, and the run that --since names."""

    table: FindingsTable
    since: int | None
    run: int = 0
    """The number of this run, once it is in the table."""

    @staticmethod
    def of(options: AuditOptions, out_options: Mapping[str, object]) -> _History:
        """Open the table before anything is examined."""
        from kraftool.spark.audit.findings_table import open_table

        table = open_table(os.path.expanduser(options.out_table), out_options)
        return _History(table, table.run_of(options.since) if options.since else None)

    def added(self, run: AuditRun) -> AuditRun:
        """Compare an audit with that run, and add its findings to the table."""
        from kraftool.spark.audit.findings_table import add, compared

        model = run.model
        if self.since is not None:
            model = replace(model, since=compared(self.table, self.since, run.every_finding()))
        self.run = add(self.table, model.run.started_at, run.every_finding)
        return replace(run, model=model)


def _counts_to_fail_on(model: FleetAudit) -> FleetCounts:
    """With --since, those of new findings alone."""
    since = model.since
    if since is None:
        return model.counts
    return replace(
        model.counts, finding_counts=since.new_counts, undecoded_with=since.undecoded_new
    )


def _write_json(to: Output, run: AuditRun) -> None:
    """The document, piece by piece, as it comes from the workers."""
    from kraftool.reports.fleet.document import audit_document

    to.document(audit_document(run.model, run.lists()))


def _write_page(page: Output, model: FleetAudit) -> None:
    from kraftool.reports.fleet.page import page as pieces

    for piece in pieces(model):
        page.write(piece)
    page.flush()


def _set_exit_code(to: Output, counts: FleetCounts, fail_on: FailOn) -> None:
    """The exit code; what could not be read weighs more than what is odd."""
    for threshold in FailOn:
        if getattr(counts.undecoded_with, threshold.value):
            to.raise_code(ExitCode.UNREADABLE)
        elif getattr(counts.finding_counts, threshold.value):
            to.raise_code(ExitCode.FINDING)
        if threshold is fail_on:
            return
