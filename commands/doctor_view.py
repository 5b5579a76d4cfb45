"""The report of `kraftool doctor` for people: problems, evidence and the next command, worst first.

Owns the layout. Everything that comes from data goes through `text`, which knows no markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.text import Text

from kraftool.commands.finding_view import (
    BAD,
    NAME,
    QUIET,
    SEVERITY_STYLES,
    WARN,
    headline,
    page_of,
    text,
    verdict,
    write_commands,
    write_finding,
    write_muted,
    write_notes,
)
from kraftool.commands.output import Output
from kraftool.commands.text_flow import READABLE, Flow
from kraftool.reports.doctor.explain import Explanation
from kraftool.reports.doctor.model import Diagnosis, Evidence, ExaminedDirectory
from kraftool.reports.doctor.parents import Parent
from kraftool.reports.doctor.report import DirectoryDiagnoses, DoctorReport
from kraftool.reports.election.assessment import Assessment
from kraftool.reports.election.assessment_words import sentences
from kraftool.reports.findings.finding import SEVERITY_RANK, Severity
from kraftool.reports.text.words import many, numbered

_MOST_ALIKE = 3
"""Diagnoses of one code in a section that are shown in full; -v and JSON have them all."""
_FINE, _INCOMPLETE = "no problems found", "no problems found in what was looked at"


def write_report(
    to: Output,
    report: DoctorReport,
    parents: Sequence[Parent] = (),
    *,
    verbose: bool = False,
    show_muted: bool = False,
) -> None:
    """The quorum, then every section, worst first, then the verdict and what looks deeper.

    `parents` were given instead of the directories below them.
    """
    for parent in parents:
        _taken(to, parent)
    left_out = {unexamined.path for unexamined in report.unexamined}
    assessment = report.quorum
    if report.wiped or (assessment is not None and assessment.voters and not report.is_live):
        _quorum(to, report, assessment)
        to.line()
    for section in sorted(report.sections, key=_gravity):
        is_complete = section.path not in left_out and not (report.ignored or report.muted)
        _section(to, section, report, is_complete=is_complete, verbose=verbose)
        to.line()
    names = many(len(report.rules), "rule")
    paths = [
        directory_diagnoses.examined
        for directory_diagnoses in report.sections
        if directory_diagnoses.path
    ]
    count = sum(path is None or not path.source.is_live for path in paths)
    directories = many(count, "directory")
    if assessment is not None and report.not_given:
        directories = _share(assessment, count)
    if report.is_live:
        directories = f"{directories} and a live quorum" if count else "a live quorum"
    ignored = f", {report.ignored} ignored" if report.ignored else ""
    to.rich(
        verdict(
            f"{names} looked at {directories}{ignored}",
            report.findings,
            fine=_FINE if report.is_complete else _INCOMPLETE,
            is_complete=report.is_complete,
        )
    )
    for part in report.unexamined:
        to.rich(text(f"not looked at: {part.path}: {part.reason}", WARN))
    write_muted(to, report.muted, is_listed=show_muted)
    if report.deeper_commands:
        to.rich(text("To look deeper:", QUIET))
        write_commands(to, report.deeper_commands, 2)


def _gravity(section: DirectoryDiagnoses) -> tuple[int, bool]:
    """The place of a section: the worst finding first; equal ones as they were given."""
    severities = [diagnosis.finding.severity for diagnosis in section.diagnoses]
    worst = min((SEVERITY_RANK[severity] for severity in severities), default=len(SEVERITY_RANK))
    return worst, not section.path


def _taken(to: Output, parent: Parent) -> None:
    """Show which data directories were found below a PATH that is not one itself."""
    prefix = f"{parent.path.rstrip('/')}/"
    names = ", ".join(directory.removeprefix(prefix) for directory in parent.directories)
    count = many(len(parent.directories), "data directory")
    words = f"{count} below {parent.path}: {names}"
    to.rich(Flow(text(words, QUIET), again="  ", widest=READABLE))
    to.line()


def _share(assessment: Assessment, count: int) -> str:
    """`1 of 3 voters' directories`, and how many of other nodes."""
    given = len(assessment.given)
    others = f" and {many(count - given, 'other directory')}" if count > given else ""
    whose = "voters' directories" if len(assessment.voters) > 1 else "voter's directory"
    return f"{given} of {len(assessment.voters)} {whose}{others}"


def _quorum(to: Output, report: DoctorReport, assessment: Assessment | None) -> None:
    """Show what the directories prove together, and what to run next."""
    to.rich(Text("The quorum", style=NAME))
    for sentence in sentences(assessment) if assessment is not None else ():
        to.rich(text(sentence))
    if report.stopping:
        words = f"Kafka starts on {numbered('node', report.stopping)}, and exits as soon as its"
        to.rich(text(f"{words} controller has read the metadata: see below.", BAD))
    for line in report.wiped:
        if line.startswith("  "):
            write_commands(to, (line.strip(),))
        else:
            to.rich(Flow(text(line), widest=READABLE))
    for words, command in report.commands:
        to.rich(text(f"{words}:", QUIET))
        write_commands(to, (command,), 2)


def _section(
    to: Output,
    section: DirectoryDiagnoses,
    report: DoctorReport,
    *,
    is_complete: bool,
    verbose: bool,
) -> None:
    findings = [diagnosis.finding for diagnosis in section.diagnoses]
    if section.path:
        _directory_head(to, section, is_complete=is_complete)
    else:
        whole = "nodes or directories" if report.is_live else "directories"
        to.rich(headline("", findings, name=f"Several {whole}"))
    alike: dict[tuple[str, Severity], int] = {}
    for diagnosis in section.diagnoses:
        finding = diagnosis.finding
        if finding.severity is Severity.INFO and not verbose:
            continue
        key = finding.code, finding.severity
        alike[key] = alike.get(key, 0) + 1
        if alike[key] <= _MOST_ALIKE or verbose:
            to.line()
            write_finding(to, finding, _details(diagnosis, section.path), diagnosis.commands)
    for (code, _), count in alike.items():
        if count > _MOST_ALIKE and not verbose:
            to.rich(text(f"… and {count - _MOST_ALIKE} more {code}  (-v shows them)", QUIET))
    if not verbose:
        notes = [finding for finding in findings if finding.severity is Severity.INFO]
        if notes and alike:
            to.line()
        write_notes(to, notes)


def _directory_head(to: Output, section: DirectoryDiagnoses, *, is_complete: bool) -> None:
    examined = section.examined
    to.rich(
        headline(
            section.path,
            [diagnosis.finding for diagnosis in section.diagnoses],
            name=_node_name(examined),
            fine=_FINE if is_complete else _INCOMPLETE,
            is_complete=is_complete,
        )
    )
    for words, style in _circumstances(examined) if examined is not None else ():
        to.rich(Flow(text(words, style), lead="  ", widest=READABLE))


def _node_name(examined: ExaminedDirectory | None) -> str:
    if examined is None or examined.node_id is None:
        return ""
    return f"node {examined.node_id}"


def _circumstances(examined: ExaminedDirectory) -> Iterator[tuple[str, str]]:
    """Yield who uses the directory now, and how its log was read, with a style."""
    if examined.source.is_live:
        if examined.source.is_witness:
            yield "leads without a controller; its log was read", BAD
        else:
            yield "current leader; its log was read over the network", QUIET
    elif examined.source.marker is not None:
        yield "a witness's: kraftool node runs on it, or was killed", WARN
    if examined.is_live:
        yield "another process holds the lock", QUIET


def _details(diagnosis: Diagnosis, directory: str) -> Iterator[Text]:
    """The place of a finding, unless the evidence names it, and the evidence."""
    finding = diagnosis.finding
    place = Evidence(file=finding.file, found="", position=finding.position, offset=finding.offset)
    where = _below(directory, place)
    shown = [(_below(directory, evidence), evidence.found) for evidence in diagnosis.evidence]
    if where and all(other != where for other, _ in shown):
        yield text(where)
    for other, observation in shown:
        yield text(": ".join(part for part in (other, observation) if part))


def _below(directory: str, evidence: Evidence) -> str:
    """Return where a value stands, without the directory that the reader is looking at."""
    file = evidence.file
    if directory and file == directory:
        file = ""
    elif directory and not directory.endswith("/"):
        file = file.removeprefix(f"{directory}/")
    return replace(evidence, file=file).where()


def write_explanations(to: Output, explanations: Sequence[Explanation]) -> None:
    """One code in full; of several, a line each."""
    if len(explanations) > 1:
        for explanation in explanations:
            style = SEVERITY_STYLES[explanation.severity]
            lead = Text().append(explanation.code.ljust(28), style=NAME)
            lead.append(explanation.severity.ljust(9), style=style)
            to.rich(Flow(Text(explanation.meaning), lead=lead))
        return
    for explanation in explanations:
        head = Text().append(explanation.code, style=NAME)
        to.rich(
            head.append(f"  {explanation.severity}", style=SEVERITY_STYLES[explanation.severity])
        )
        parts = [
            ("meaning", explanation.meaning),
            ("next", explanation.advice),
            ("note", explanation.note),
            *(("seen", fact) for fact in explanation.observed),
            ("see", ", ".join(explanation.references)),
            ("page", page_of(explanation.code)),
        ]
        for name, words in parts:
            if words:
                to.rich(Flow(text(words), lead=Text(name.ljust(9), style=QUIET), widest=READABLE))
