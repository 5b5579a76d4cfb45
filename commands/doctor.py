"""`kraftool doctor`: what is known to go wrong, looked for in one or several directories."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kraftool.commands.options import Color, Debug, Out, PlainFormat, Quiet
from kraftool.commands.output import ColorWhen, ExitCode, Output, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraftool.reports.findings import Finding


class FailOn(StrEnum):
    """From which severity on findings make the command fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


_SEVERITIES = tuple(FailOn)


def doctor(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH...",
            help="Data directories of one or several nodes, server.properties, tar or -.",
        ),
    ] = None,
    explain: Annotated[
        str,
        typer.Option("--explain", metavar="CODE", help="Say what a code means; `list` has all."),
    ] = "",
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="CODE,…", help="Leave these codes out; may be repeated."),
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="End with 1 from this severity on.")
    ] = FailOn.WARNING,
    output: Annotated[
        PlainFormat, typer.Option("--output", "-o", help="The format of the output.")
    ] = PlainFormat.TABLE,
    out: Out = "",
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Look for known failures in the directories of one or several nodes.

    Example: kraftool doctor /var/lib/kafka/data

    Tells the cause in one sentence, the values that speak for it with file, position and offset,
    and the command to run next. Directories of several nodes are compared; a server.properties
    leads to its directory and adds its settings. With what dump finds, this is where to begin; at
    the end it names the commands that look deeper.

    Nothing is written to the directories, and nothing is locked or repaired.
    """
    ignored = {code.strip().upper() for each in ignore or () for code in each.split(",")} - {""}
    if explain:
        _explain(explain, output, Output(color=color, quiet=quiet, out=out))
        return
    if not paths:
        raise UsageError("no PATH", hint="name a data directory, or --explain CODE")
    if paths.count("-") > 1:
        raise UsageError("stdin can be read once only", hint="name - once")
    _known(ignored)

    from kraftool.commands.read_progress import read_progress
    from kraftool.reports.doctor.read import examine, locations_of
    from kraftool.reports.doctor.report import diagnose
    from kraftool.reports.log_render import quicken

    quicken()
    locations, findings = locations_of(paths)
    to = Output(color=color, quiet=quiet, out=out)
    with read_progress(to, locations) as progress:
        report = diagnose(examine(locations, findings, progress), ignored)
    if output is PlainFormat.JSON:
        from kraftool.commands.output import json_document
        from kraftool.reports.doctor.doctor_json import document

        to.write(json_document(document(report)))
    else:
        from kraftool.commands.doctor_view import write_report

        write_report(to, report)
    _settle(to, report.findings, fail_on)
    to.finish()


def _known(codes: set[str]) -> None:
    from kraftool.reports.doctor.explain import codes as all_codes

    for each in sorted(codes - all_codes()) if codes else ():
        raise UsageError(f"--ignore {each} is no code", hint="--explain list shows all")


def _explain(code: str, output: PlainFormat, to: Output) -> None:
    from kraftool.decoders.errors import KraftoolError
    from kraftool.reports.doctor.explain import explain

    try:
        told = explain(code)
    except KraftoolError as error:
        raise UsageError(error.message, hint=error.hint) from None
    if output is PlainFormat.JSON:
        from kraftool.commands.output import json_document
        from kraftool.reports.doctor.doctor_json import explanations

        to.write(json_document(explanations(told)))
    else:
        from kraftool.commands.doctor_view import write_explanations

        write_explanations(to, told)
    to.finish()


def _settle(to: Output, findings: Iterable[Finding], fail_on: FailOn) -> None:
    """The exit code, of the findings that weigh enough; what could not be read weighs most."""
    counted = {each.value for each in _SEVERITIES[: _SEVERITIES.index(fail_on) + 1]}
    for each in findings:
        if each.severity.value in counted:
            to.raise_code(ExitCode.UNREADABLE if each.undecoded else ExitCode.FINDING)
