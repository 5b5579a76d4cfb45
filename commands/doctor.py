"""`kraftool doctor`: what is known to go wrong, looked for in one or several directories."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.finding_options import (
    FailOn,
    FailOnSeverity,
    IgnoredCodes,
    MuteFile,
    ShowMuted,
    finding_filter,
    set_exit_code,
)
from kraftool.commands.options import (
    OutputOptions,
    RowFormat,
    RowOutput,
    Verbose,
)
from kraftool.commands.output import Output
from kraftool.commands.quorum_options import (
    LiveOptions,
)


def doctor(
    *,
    paths: Annotated[
        list[str] | None,
        Argument(
            metavar="PATH",
            help="Data directories of one or several nodes, a folder above them,"
            " server.properties, tar or -.",
        ),
    ] = None,
    explain: Annotated[
        str,
        Option(
            "--explain",
            metavar="CODE",
            help="Explain a finding code. `list`, or no code, explains all of them.",
        ),
    ] = "",
    ignore: IgnoredCodes = None,
    mute: MuteFile = "",
    show_muted: ShowMuted = False,
    fail_on: FailOnSeverity = FailOn.WARNING,
    quorum: LiveOptions,
    verbose: Verbose = False,
    output: RowOutput = RowFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Look for known failures in directories and live quorums.

    \b
    Example: kraftool doctor /var/lib/kafka/data
    Example: kraftool doctor --bootstrap-controller ctl-1:9093

    For each failure kraftool shows the cause in one sentence, the evidence with file, position and
    offset, and the next command to run. Without -v a note takes one line. Directories of several
    nodes are compared with each other. If PATH is a folder above data directories, kraftool
    examines all of them, up to three folders below it. For a server.properties kraftool examines
    its directory and its settings. Start here: doctor includes what dump finds, and at the end it
    names the commands that look deeper.

    With --bootstrap-controller, alone or in addition to directories, kraftool asks every controller
    twice, as quorum health does. It reads the leader's log without joining as a replica, and
    examines it like a directory. It compares the leader's voters and high watermark with the
    directories. Exits 4 if no node could be reached; the directories are still reported.

    Nothing is written to the directories. Nothing is locked or repaired.
    """
    left_out = finding_filter(ignore, mute)
    from kraftool.commands.live_reading import live_quorum, refuse_nothing

    if explain:
        _explain(explain, output, printing.open())
        return
    named = paths or []
    refuse_nothing(named, quorum.bootstrap_controller, "PATH")
    if named.count("-") > 1:
        raise UsageError("stdin can be read only once", hint="name - once")

    from kraftool.commands.read_progress import read_progress
    from kraftool.reports.doctor.parents import with_directories_below
    from kraftool.reports.doctor.read import examine, locations_of
    from kraftool.reports.doctor.report import diagnose
    from kraftool.reports.logs.processes import quicken

    quicken()
    named, parents, passed_over = with_directories_below(named)
    locations, unread = locations_of(named)
    findings = (*unread, *passed_over)
    to = printing.open()
    with (
        live_quorum(to, quorum, judged=True, shown=lambda view: view.asked) as live,
        read_progress(to, locations) as progress,
    ):
        if live is None:
            examination = examine(locations, findings, progress)
        else:
            from kraftool.client.live_doctor import examine_live

            examination = examine_live(live, quorum.again, locations, findings, progress)
        report = diagnose(examination, left_out)
    if output is RowFormat.TABLE:
        from kraftool.commands.doctor_view import write_report

        write_report(to, report, parents, verbose=verbose, show_muted=show_muted)
    else:
        to.document(report, output)
    set_exit_code(to, report.findings, fail_on)
    to.finish()


def _explain(code: str, output: RowFormat, to: Output) -> None:
    from kraftool.decoders.errors import KraftoolError
    from kraftool.reports.doctor.explain import explain

    try:
        explanations = explain(code)
    except KraftoolError as error:
        raise UsageError(error.message, hint=error.hint) from None
    if output is RowFormat.TABLE:
        from kraftool.commands.doctor_view import write_explanations

        write_explanations(to, explanations)
    else:
        from kraftool.reports.doctor.explain import ExplanationsDocument

        to.document(ExplanationsDocument(codes=explanations), output)
    to.finish()
