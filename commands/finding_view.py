"""Findings for people: what, where, what it means for Kafka, and what to do; then the verdict.

Owns the look of findings, which all commands share. Everything that comes from data goes through
`printable` into Text, which knows no markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from rich.text import Text

from kraftool.commands.output import Output, printable
from kraftool.commands.text_flow import READABLE, Beside, Flow, Unbroken
from kraftool.reports.findings.finding import Finding, Severity, tally
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.findings.mutes import MutedFinding
from kraftool.reports.findings.status import Status, overall_status, status_of, worst_status
from kraftool.reports.text.times import utc
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
MOST_ALIKE = 3
"""Findings of one kind in one file that are shown in full, and further places that one lists."""
SITE_FILE = Path(__file__).with_name("site.txt")
"""The site's address. setup.py writes it if KRAFTOOL_SITE names one."""
_PLAIN_AREAS = ("SIG", "DIR")
"""Areas of codes whose names say enough without the area."""
_LEAST_TITLE = 36
"""Columns of a title beside its code."""
_LEAST_WORDS = 3
"""Blanks in a statement that stands for itself; what is shorter is the name of a field or type."""


def text(value: object, style: str = "") -> Text:
    """Data as Text: escaped, without markup."""
    return Text(printable(str(value)), style=style)


def style_of(status: Status) -> str:
    """Return the style of a verdict."""
    return MEANING_STYLES[status.meaning]


SEVERITY_STYLES = {severity: style_of(status_of(severity)) for severity in Severity}


def headline(
    path: str,
    findings: Sequence[Finding],
    *,
    name: str = "",
    fine: str = "",
    is_complete: bool = True,
    is_judged: bool = True,
) -> Beside:
    """Return how much is wrong with a path; `fine` if no finding is a warning or an error.

    What is not judged is not called right or unknown.
    """
    status = overall_status((finding.severity for finding in findings), is_complete=is_complete)
    if not is_judged:
        status = worst_status([Status.NOTE, *(status_of(finding.severity) for finding in findings)])
    body = Text().append(f"{name}   " if name else "", style=NAME)
    outcome = _outcome(findings, ", ", fine, is_complete=is_complete and is_judged)
    return Beside(
        body.append_text(outcome),
        text(path, NAME),
        lead=Text(f"{status.mark} ", style=style_of(status)),
    )


def verdict(
    checked: str, findings: Sequence[Finding], *, fine: str, is_complete: bool = True
) -> Text:
    """The line that ends a verification: the result, then what was checked."""
    outcome = _outcome(findings, " and ", fine, is_complete=is_complete)
    return outcome.append(f": {checked}")


def _outcome(findings: Sequence[Finding], between: str, fine: str, *, is_complete: bool) -> Text:
    """Errors and warnings by number; without any, `fine` in the colour of what is left; notes."""
    counts, line = tally(findings), Text()
    for severity in (Severity.ERROR, Severity.WARNING):
        if counts[severity]:
            line.append(between if line else "")
            line.append(many(counts[severity], severity.value), style=SEVERITY_STYLES[severity])
    status = overall_status((finding.severity for finding in findings), is_complete=is_complete)
    if not line and fine:
        line.append(fine, style=style_of(status))
    if counts[Severity.INFO]:
        style = QUIET if counts[Severity.ERROR] or counts[Severity.WARNING] else style_of(status)
        line.append(", " if line else "", style=style)
        line.append(many(counts[Severity.INFO], "note"), style=style)
    return line


def advice_line(words: str, status: Status) -> Text:
    """Return what to do, after an arrow in the colour of what it warns of."""
    return Text().append("→ ", style=style_of(status)).append_text(text(words))


def advice_flow(words: str, status: Status, indent: int = 0) -> Flow:
    """`advice_line` in as many lines as it takes."""
    lead = Text(" " * indent).append("→ ", style=style_of(status))
    return Flow(text(words), lead=lead, widest=READABLE)


def command_lines(commands: Iterable[str], indent: int = 4) -> Iterator[Flow | Unbroken]:
    """Commands, each on one line however long, so that it can be copied; comments are wrapped."""
    blank = " " * indent
    for command in commands:
        if command.startswith("# "):
            lead = Text(f"{blank}# ", style=QUIET)
            yield Flow(text(command[2:], QUIET), lead=lead, again=f"{blank}# ", widest=READABLE)
        else:
            line = Text(blank).append("$ ", style=QUIET).append_text(text(command, COMMAND))
            yield Unbroken(line)


def write_commands(output: Output, commands: Iterable[str], indent: int = 4) -> None:
    """Write commands to be copied."""
    output.rich(*command_lines(commands, indent))


@cache
def _site() -> str:
    try:
        return SITE_FILE.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def page_of(code: str) -> str:
    """Return the address of a finding's page; nothing if the build was given no site."""
    return f"{_site()}/reference/findings/{code}.html" if _site() else ""


def write_finding(
    output: Output,
    finding: Finding,
    details: Iterable[Text],
    commands: Iterable[str] = (),
) -> None:
    """One finding: its title with the code beside it, details, what to do, commands."""
    status = status_of(finding.severity)
    style = style_of(status)
    title, rest = _titled(f"{finding.field}: {finding.text}" if finding.field else finding.text)
    output.rich(
        Beside(
            text(title, NAME),
            Text(f"{finding.severity.value} {finding.code}", style=QUIET),
            lead=Text(f"{status.mark} ", style=style),
            least=_LEAST_TITLE,
        )
    )
    for detail in (text(rest), *details):
        if detail:
            output.rich(Flow(detail, lead="    ", again="      ", widest=READABLE))
    if finding.advice:
        output.rich(advice_flow(finding.advice, status, 2))
    write_commands(output, commands)
    if page := page_of(finding.code):
        output.rich(Unbroken(text(f"    {page}", QUIET)))


def _titled(words: str) -> tuple[str, str]:
    """The statement that a finding begins with, and the rest: where it lists or explains."""
    ends = [end for mark in ("; ", ": ", ". ") if (end := words.find(mark)) >= 0]
    for end in sorted(ends):
        if words.count(" ", 0, end) >= _LEAST_WORDS:
            return words[:end], words[end + 2 :]
    return words, ""


def write_muted(output: Output, muted: Sequence[MutedFinding], *, is_listed: bool) -> None:
    """Write the number of muted findings, or list them with until when and why."""
    if not muted:
        return
    more = "" if is_listed else ". --show-muted lists them"
    output.line()
    output.rich(text(f"{many(len(muted), 'finding')} muted{more}", QUIET))
    for one in muted if is_listed else ():
        finding, mute = one.finding, one.mute
        where = f" {finding.file}:" if finding.file else ""
        words = f"{finding.code}{where} {finding.text}"
        until = f"until {utc(mute.until, '%Y-%m-%d %H:%M')}: {mute.reason}"
        output.rich(text(f"  {words}", QUIET))
        output.rich(text(f"    {until}", QUIET))


def write_notes(output: Output, notes: Sequence[Finding]) -> None:
    """One line for all notes, with what each is about; -v shows them."""
    if not notes:
        return
    names = list(dict.fromkeys(_short_name(note) for note in notes))
    head, tail = f"· {many(len(notes), 'note')}: ", "  (-v shows them)"
    room = min(output.width, READABLE) - len(head) - len(tail)
    shown = names
    while len(shown) > 1 and len(_together(shown, names)) > room:
        shown = shown[:-1]
    output.rich(text(f"{head}{_together(shown, names)}{tail}", QUIET))


def _together(shown: Sequence[str], names: Sequence[str]) -> str:
    more = f" · {len(names) - len(shown)} more" if len(shown) < len(names) else ""
    return " · ".join(shown) + more


def _short_name(finding: Finding) -> str:
    """`broker fenced` of KT-SIG-BROKER-FENCED, `log none` of KT-LOG-NONE."""
    _, area, *rest = finding.code.split("-")
    return " ".join(rest if area in _PLAIN_AREAS else [area, *rest]).lower()


def write_findings(
    output: Output,
    findings: Sequence[Finding],
    directory: str,
    *,
    explain: bool = False,
    with_notes: bool = True,
    most_alike: int | None = MOST_ALIKE,
) -> None:
    """The findings, worst first: what, where, and what to do.

    With `explain`, each kind says what it means for Kafka where it is first met. Without
    `with_notes`, the notes are one line. After
    `most_alike` of one kind in one file, the others are only counted.
    """
    alike: dict[tuple[str, str], int] = {}
    explained: set[str] = set()
    for finding in findings:
        if finding.severity is Severity.INFO and not with_notes:
            continue
        key = (finding.code, finding.file)
        alike[key] = alike.get(key, 0) + 1
        if most_alike is not None and alike[key] > most_alike:
            continue
        meaning = ""
        if explain and finding.code not in explained and finding.code in KINDS:
            explained.add(finding.code)
            meaning = KINDS[finding.code].meaning
        output.line()
        write_finding(output, finding, _details(finding, directory, meaning))
    for (code, file), count in alike.items():
        if most_alike is not None and count > most_alike:
            words = f"… and {count - most_alike} more {code} in {_below(directory, file)}"
            output.rich(text(words, QUIET))
    if not with_notes:
        notes = [finding for finding in findings if finding.severity is Severity.INFO]
        if notes:
            output.line()
        write_notes(output, notes)


def _details(finding: Finding, directory: str, meaning: str) -> Iterator[Text]:
    where = finding.where()
    if directory:
        where = _below(directory, where)
    yield text(f"{where}{finding.fault.sides()}".strip())
    for place in finding.places[:MOST_ALIKE]:
        yield text(f"also at {place.where()}: {place.reason}", QUIET)
    if finding.count > 1:
        yield text(_places(finding), QUIET)
    yield text(meaning, QUIET)


def _places(finding: Finding) -> str:
    """The number of places for which the finding stands."""
    shown = 1 + len(finding.places[:MOST_ALIKE])
    hidden = f" ({finding.count - shown} are not shown)" if finding.count > shown else ""
    return f"{finding.count} places in the file{hidden}"


def _below(directory: str, where: str) -> str:
    """A place without the directory that the reader is looking at."""
    if where.partition(":")[0] == directory:
        return where[len(directory) :].lstrip(": ")
    return where.removeprefix(directory.rstrip("/") + "/")
