"""Options on findings: which of them count, and from which severity on.

Owns the options for it, and the exit code. It imports nothing that makes findings or shows them.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.output import Output

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraftool.reports.findings.finding import Finding
    from kraftool.reports.findings.mutes import FindingFilter


class FailOn(StrEnum):
    """From which severity on findings make a command fail."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


FailOnSeverity = Annotated[
    FailOn, Option("--fail-on", help="Exit 1 if a finding has at least this severity.")
]
IgnoredCodes = Annotated[
    list[str] | None,
    Option(
        "--ignore",
        metavar="CODE,…",
        help="Leave out findings with this code. Repeat it for more codes.",
    ),
]
MuteFile = Annotated[
    str,
    Option(
        "--mute",
        metavar="FILE",
        help="Leave out the findings that a file names, each until a date (docs/exporter.md).",
    ),
]
ShowMuted = Annotated[
    bool, Option("--show-muted", help="Also list the findings that --mute leaves out.")
]


def finding_filter(ignore: list[str] | None, mute: str) -> FindingFilter:
    """Return the filter of --ignore and --mute. A file that cannot be used is a usage error."""
    from kraftool.reports.findings.mutes import FindingFilter, MuteError, read_mutes

    codes = ignored_codes(ignore)
    if not mute:
        return FindingFilter(ignored_codes=codes)
    from kraftool.reports.doctor.explain import codes as all_codes

    try:
        with open(os.path.expanduser(mute), "rb") as file:
            mutes = read_mutes(file.read(), mute, frozenset(all_codes()))
    except MuteError as error:
        raise UsageError(error.message, hint=error.hint) from None
    except OSError as error:
        raise UsageError(f"--mute {mute}: {error.strerror}") from None
    return FindingFilter(ignored_codes=codes, mutes=mutes)


def ignored_codes(given: list[str] | None) -> frozenset[str]:
    """The codes of --ignore. One that there is not is the user's mistake."""
    words = (code.strip().upper() for code_list in given or () for code in code_list.split(","))
    ignored = frozenset(filter(None, words))
    if ignored:
        from kraftool.reports.doctor.explain import codes

        for code in sorted(ignored - codes()):
            raise UsageError(
                f"--ignore {code} is not a finding code", hint="kraftool doctor --explain list"
            )
    return ignored


def set_exit_code(
    to: Output, findings: Iterable[Finding], fail_on: FailOn = FailOn.WARNING
) -> None:
    """End with the code of the findings that weigh enough: what was not decoded weighs most."""
    severities = [threshold.value for threshold in FailOn]
    counted = severities[: severities.index(fail_on.value) + 1]
    for finding in findings:
        if finding.severity.value in counted:
            to.raise_code(ExitCode.UNREADABLE if finding.undecoded else ExitCode.FINDING)
