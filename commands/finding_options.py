"""Options on findings: which of them count, and from which severity on.

Owns the options for it, and the exit code. It imports nothing that makes findings or shows them.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.output import Output
from kraftool.commands.parameter_marks import Option

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kraftool.reports.findings.finding import Finding


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


def ignored_codes(given: list[str] | None) -> frozenset[str]:
    """The codes of --ignore. One that there is not is the user's mistake."""
    words = (code.strip().upper() for each in given or () for code in each.split(","))
    found = frozenset(filter(None, words))
    if found:
        from kraftool.reports.doctor.explain import codes

        for each in sorted(found - codes()):
            raise UsageError(
                f"--ignore {each} is not a finding code", hint="kraftool doctor --explain list"
            )
    return found


def settle(to: Output, findings: Iterable[Finding], fail_on: FailOn = FailOn.WARNING) -> None:
    """The exit code, of the findings that weigh enough: what was not decoded weighs most."""
    severities = [each.value for each in FailOn]
    counted = severities[: severities.index(fail_on.value) + 1]
    for finding in findings:
        if finding.severity.value in counted:
            to.raise_code(ExitCode.UNREADABLE if finding.undecoded else ExitCode.FINDING)
