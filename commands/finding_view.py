"""Findings for people: where, what, what it means for Kafka, and what to do; then the verdict.

Owns the look of findings, which all commands share. Everything that comes from data goes through
`printable` into Text, which knows no markup.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from kraftool.commands.output import Output, printable
from kraftool.reports.findings.finding import Finding, Severity, tally
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.findings.status import Status, overall_status, status_of
from kraftool.reports.text.words import many

KEY, NAME, QUIET, GOOD, WARN, BAD, TYPE = (
    "cyan",
    "bold",
    "dim",
    "green",
    "yellow",
    "bold red",
    "magenta",
)
MEANING_STYLES = {
    "": "", "name": NAME, "quiet": QUIET, "good": GOOD, "warn": WARN, "bad": BAD, "key": KEY,
    "line": KEY,
}  # fmt: skip
"""A style for each meaning that reports and `watching` know."""
COMMAND = KEY
"""What is to be pasted: no verdict, and so in no colour of a verdict."""
_MOST_ALIKE = 3
"""Findings of one kind in one file that are shown in full, and further places that one lists."""


def text(value: object, style: str = "") -> Text:
    """Data as Text: escaped, without markup."""
    return Text(printable(str(value)), style=style)


def style_of(status: Status) -> str:
    """Return the style of a verdict."""
    return MEANING_STYLES[status.meaning]


SEVERITY_STYLES = {each: style_of(status_of(each)) for each in Severity}


def headline(
    path: str, findings: Sequence[Finding], *, fine: str = "", is_complete: bool = True
) -> Text:
    """A path with how much is wrong with it; `fine` where no finding is a warning or an error."""
    line = Text().append_text(text(path, NAME)).append("  ")
    return line.append_text(_outcome(findings, ", ", fine, is_complete=is_complete))


def verdict(
    checked: str, findings: Sequence[Finding], *, fine: str, is_complete: bool = True
) -> Text:
    """The line that ends a verification: the result, then what was checked."""
    outcome = _outcome(findings, " and ", fine, is_complete=is_complete)
    return outcome.append(f": {checked}")


def _outcome(findings: Sequence[Finding], between: str, fine: str, *, is_complete: bool) -> Text:
    """Errors and warnings by number; without any, `fine` in the colour of what is left."""
    counts, line = tally(findings), Text()
    for severity in (Severity.ERROR, Severity.WARNING):
        if counts[severity]:
            line.append(between if line else "")
            line.append(many(counts[severity], severity.value), style=SEVERITY_STYLES[severity])
    if not line:
        status = overall_status((finding.severity for finding in findings), is_complete=is_complete)
        notes = f"{counts[Severity.INFO]} info" if counts[Severity.INFO] else ""
        line.append(", ".join(filter(None, (fine, notes))), style=style_of(status))
    return line


def advice_line(words: str, status: Status) -> Text:
    """Return what to do, behind an arrow in the colour of what it warns of."""
    return Text("→ ", style=style_of(status)).append_text(text(words))


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
    for finding in findings:
        key = (finding.code, finding.file)
        alike[key] = alike.get(key, 0) + 1
        if alike[key] > _MOST_ALIKE:
            continue
        where = finding.where()
        if directory:
            where = _below(directory, where)
        body = Text(finding.code, style=NAME)
        if where:
            body.append("  ").append_text(text(where))
        body.append("\n").append_text(text(finding.sentence()))
        for place in finding.places[:_MOST_ALIKE]:
            body.append("\n").append_text(text(f"also at {place.where()}: {place.reason}", QUIET))
        if finding.count > 1:
            body.append("\n").append_text(text(_places(finding), QUIET))
        if explain and finding.code not in explained and finding.code in KINDS:
            explained.add(finding.code)
            body.append("\n").append(KINDS[finding.code].meaning, style=QUIET)
        if finding.advice:
            body.append("\n").append_text(advice_line(finding.advice, status_of(finding.severity)))
        table.add_row(Text(finding.severity.value, style=SEVERITY_STYLES[finding.severity]), body)
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
