"""Findings for people: where, what, what it means for Kafka, and what to do; then the verdict.

Owns the look of findings, which all commands share. Everything that comes from data goes through
`printable` into Text, which knows no markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from kraftool.commands.output import Output, printable
from kraftool.reports.findings import Finding, Severity, tally
from kraftool.reports.kinds import KINDS
from kraftool.reports.words import many

KEY, NAME, QUIET, GOOD, WARN, BAD, TYPE = (
    "cyan",
    "bold",
    "dim",
    "green",
    "yellow",
    "bold red",
    "magenta",
)
SEVERITY_STYLES = {Severity.ERROR: BAD, Severity.WARNING: WARN, Severity.INFO: QUIET}
_MOST_ALIKE = 3
"""Findings of one kind in one file that are shown in full, and further places that one lists."""


def text(value: object, style: str = "") -> Text:
    """Data as Text: escaped, without markup."""
    return Text(printable(str(value)), style=style)


def headline(path: str, findings: Sequence[Finding]) -> Text:
    """A path with how much is wrong with it."""
    line = text(path, NAME)
    told = _counted(findings)
    line.append("  ")
    for number, (words, style) in enumerate(told):
        line.append(", " if number else "").append(words, style=style)
    return line if told else line.append("nothing wrong seen", style=GOOD)


def _counted(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    counts = tally(findings)
    return [
        (many(counts[severity], severity.value), SEVERITY_STYLES[severity])
        for severity in (Severity.ERROR, Severity.WARNING)
        if counts[severity]
    ]


def verdict(checked: str, findings: Sequence[Finding], *, fine: str) -> Text:
    """The line that ends a verification: the result, then what was checked."""
    counted = _counted(findings)
    line = Text()
    for number, (words, style) in enumerate(counted):
        line.append(" and " if number else "").append(words, style=style)
    if not counted:
        line.append(fine, style=GOOD)
    return line.append(f": {checked}")


def write_findings(
    output: Output, findings: Sequence[Finding], directory: str, *, explain: bool = False
) -> None:
    """The findings, worst first: where, what, and what to do.

    With `explain`, each kind says what it means for Kafka where it is first met.
    """
    if not findings:
        return
    output.line()
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, width=7)
    table.add_column(overflow="fold")
    alike: dict[tuple[str, str], int] = {}
    explained: set[str] = set()
    for each in findings:
        key = (each.code, each.file)
        alike[key] = alike.get(key, 0) + 1
        if alike[key] > _MOST_ALIKE:
            continue
        where = each.where()
        if directory:
            where = _below(directory, where)
        body = Text(each.code, style=NAME)
        if where:
            body.append("  ").append_text(text(where))
        body.append("\n").append_text(text(each.sentence()))
        for place in each.places[:_MOST_ALIKE]:
            body.append("\n").append_text(text(f"also at {place.where()}: {place.text}", QUIET))
        if each.count > 1:
            body.append("\n").append_text(text(_places(each), QUIET))
        if explain and each.code not in explained and each.code in KINDS:
            explained.add(each.code)
            body.append("\n").append(KINDS[each.code].meaning, style=QUIET)
        if each.advice:
            body.append("\n→ ", style=GOOD).append_text(text(each.advice))
        table.add_row(Text(each.severity.value, style=SEVERITY_STYLES[each.severity]), body)
    output.rich(table)
    for (code, file), count in alike.items():
        if count > _MOST_ALIKE:
            words = f"… and {count - _MOST_ALIKE} more {code} in {_below(directory, file)}"
            output.rich(text(words, QUIET))


def _places(finding: Finding) -> str:
    """The number of places for which the finding stands."""
    shown = 1 + len(finding.places[:_MOST_ALIKE])
    hidden = f" ({finding.count - shown} are not shown)" if finding.count > shown else ""
    return f"{finding.count} places in the file{hidden}"


def _below(directory: str, where: str) -> str:
    """A place without the directory that the reader is looking at."""
    if where.partition(":")[0] == directory:
        return where[len(directory) :].lstrip(": ")
    return where.removeprefix(directory.rstrip("/") + "/")
