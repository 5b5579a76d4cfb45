"""`kraftool pipeline audit`: doctor, verify-log and verify-snapshot over a whole fleet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from kraftool.commands.exit_code import ExitCode
from kraftool.commands.finding_options import FailOn, FailOnSeverity, IgnoredCodes, ignored_codes
from kraftool.commands.options import Out, PlainFormat, PlainOutput, takes
from kraftool.commands.output import Output
from kraftool.commands.parameter_marks import Option
from kraftool.commands.pipeline_options import PipelineOptions

if TYPE_CHECKING:
    from kraftool.reports.fleet.model import FleetAudit, FleetCounts
    from kraftool.spark.audit.collect import AuditRun


@dataclass(frozen=True, kw_only=True)
class AuditOptions(PipelineOptions):
    """The options of `pipeline audit` as they were written."""

    html: Annotated[
        str,
        Option("--html", metavar="FILE", help="Write an HTML report to this new file."),
    ] = ""
    ignore: IgnoredCodes = None
    fail_on: FailOnSeverity = FailOn.WARNING
    output: PlainOutput = PlainFormat.TABLE
    out: Out = ""


@takes(AuditOptions)
def audit(options: AuditOptions) -> None:
    """Verify every directory of a fleet, alone and together.

    Example: kraftool pipeline audit /var/lib/kafka/data

    Examines each directory as doctor, verify-log and verify-snapshot do. Then it compares all nodes
    of a cluster: the same offset must have the same bytes, and snapshots of one offset the same
    state. Voters must agree, and no cluster, node or directory id may be used twice. The terminal
    and the HTML page show the worst findings, and JSON has all of them. Exits 1 if something is
    wrong, and 3 if something could not be read or decoded.

    Nothing is written to the directories, and nothing is locked. A running Kafka is not disturbed.
    """
    ignored = ignored_codes(options.ignore)

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
    with turned_down():
        check_files(out=options.out, html=options.html, spark_log=options.spark_log)
    to = Output(color=options.color, quiet=options.quiet, out=options.out)
    page = Output(out=options.html) if options.html else None

    def attempt() -> FleetAudit:
        from kraftool.spark.job_progress import StagedProgress

        stages = StagedProgress()
        with (
            turned_down(),
            spark_run(to, options, "audit", classic_only=False, stages=stages) as spark,
        ):
            from kraftool.spark.audit.collect import AuditRequest
            from kraftool.spark.audit.run import audit as run_audit

            wanted = AuditRequest(
                roots=named,
                depth=options.depth,
                storage=storage,
                ignored_codes=ignored,
                fail_on=options.fail_on.value,
            )
            with run_audit(spark, wanted, stages.begin) as run:
                if options.output is PlainFormat.JSON:
                    _write_json(to, run)
                return run.model

    model = with_one_retry(to, attempt)
    if options.output is PlainFormat.TABLE:
        from kraftool.commands.pipeline_audit_view import write_audit

        write_audit(to, model)
    if page is not None:
        _write_page(page, model)
        to.note(f"the report is {options.html}")
    _settle(to, model.counts, options.fail_on)
    to.finish()


def _write_json(to: Output, run: AuditRun) -> None:
    """The document, piece by piece, as it comes from the workers."""
    from kraftool.reports.fleet.document import audit_document

    to.document(audit_document(run.model, run.lists()))


def _write_page(page: Output, model: FleetAudit) -> None:
    from kraftool.reports.fleet.page import page as pieces

    for piece in pieces(model):
        page.write(piece)
    page.flush()


def _settle(to: Output, counts: FleetCounts, fail_on: FailOn) -> None:
    """The exit code; what could not be read weighs more than what is odd."""
    for threshold in FailOn:
        if getattr(counts.undecoded_with, threshold.value):
            to.raise_code(ExitCode.UNREADABLE)
        elif getattr(counts.finding_counts, threshold.value):
            to.raise_code(ExitCode.FINDING)
        if threshold is fail_on:
            return
