"""What `kraftool doctor` says to people: cause, evidence and the next command, worst first.

Owns the layout. Everything that comes from data goes through `text`, which knows no markup, and
commands stay on one line so that they can be copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.table import Table
from rich.text import Text

from kraftool.commands.finding_view import (
    BAD,
    COMMAND,
    NAME,
    QUIET,
    SEVERITY_STYLES,
    WARN,
    headline,
    text,
    verdict,
)
from kraftool.commands.output import Output
from kraftool.reports.doctor.explain import Explanation
from kraftool.reports.doctor.model import Diagnosis, Evidence
from kraftool.reports.doctor.report import DirectoryDiagnoses, DoctorReport
from kraftool.reports.election.assessment import Assessment
from kraftool.reports.election.assessment_words import sentences
from kraftool.reports.findings.finding import Severity
from kraftool.reports.text.words import many

_MOST_ALIKE = 3
"""So many diagnoses of one code in a section are told in full; JSON has them all."""
_INDENT = 9
_FINE, _INCOMPLETE = "no problems found", "no problems found in what was looked at"


def write_report(to: Output, report: DoctorReport) -> None:
    """Every section, then the verdict and what looks deeper."""
    left_out = {unexamined.path for unexamined in report.unexamined}
    for section in report.sections:
        is_complete = section.path not in left_out and not report.ignored
        _section(to, section, is_live=report.is_live, is_complete=is_complete)
        to.line()
    assessment = report.assessment
    if report.wiped or (assessment is not None and assessment.voters and not report.is_live):
        _quorum(to, report, assessment)
        to.line()
    names = many(len(report.rules), "rule")
    paths = [
        directory_diagnoses.patient
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
    if report.deeper:
        to.rich(text("To look deeper:", QUIET))
        for each in report.deeper:
            to.rich(text(f"  {each}"), unbroken=True)


def _share(found: Assessment, count: int) -> str:
    """`1 of 3 voters' directories`, and how many of other nodes."""
    given = len(found.given)
    others = f" and {many(count - given, 'other directory')}" if count > given else ""
    whose = "voters' directories" if len(found.voters) > 1 else "voter's directory"
    return f"{given} of {len(found.voters)} {whose}{others}"


def _quorum(to: Output, report: DoctorReport, found: Assessment | None) -> None:
    """Show what the directories prove together, and what to run next."""
    to.rich(Text("The quorum", style=NAME))
    for sentence in sentences(found) if found is not None else ():
        to.rich(text(sentence))
    for each in report.wiped:
        is_command = each.startswith("  ")
        to.rich(text(each, COMMAND if is_command else ""), unbroken=is_command)
    for words, command in report.commands:
        to.rich(text(f"{words}:", QUIET))
        to.rich(text(f"  {command}", COMMAND), unbroken=True)


def _section(to: Output, section: DirectoryDiagnoses, *, is_live: bool, is_complete: bool) -> None:
    findings = [diagnosis.finding for diagnosis in section.diagnoses]
    if section.path:
        fine = _FINE if is_complete else _INCOMPLETE
        head = headline(section.path, findings, fine=fine, is_complete=is_complete)
        patient = section.patient
        if patient is not None and patient.node_id is not None:
            head.append_text(text(f"  node {patient.node_id}", QUIET))
        if patient is not None and patient.source.is_live:
            if patient.source.is_witness:
                head.append("  leads without a controller; its log was read", style=BAD)
            else:
                head.append_text(text("  current leader; its log was read over the network", QUIET))
        elif patient is not None and patient.source.marker is not None:
            head.append("  a witness's: kraftool node runs on it, or was killed", style=WARN)
        if patient is not None and patient.is_live:
            head.append_text(text("  another process holds the lock", QUIET))
        to.rich(head, unbroken=True)
    else:
        whole = "nodes and directories" if is_live else "directories, and of the PATHs as a whole"
        to.rich(headline(f"Between the {whole}", findings))
    alike: dict[tuple[str, Severity], int] = {}
    for diagnosis in section.diagnoses:
        key = diagnosis.finding.code, diagnosis.finding.severity
        alike[key] = alike.get(key, 0) + 1
        if alike[key] <= _MOST_ALIKE:
            to.line()
            _diagnosis(to, diagnosis, section.path)
    for (code, _), count in alike.items():
        if count > _MOST_ALIKE:
            to.rich(text(f"… and {count - _MOST_ALIKE} more {code}", QUIET))


def _diagnosis(to: Output, diagnosis: Diagnosis, directory: str) -> None:
    finding = diagnosis.finding
    head = Text(finding.severity.value.ljust(_INDENT), style=SEVERITY_STYLES[finding.severity])
    head.append(finding.code, style=NAME)
    place = Evidence(file=finding.file, found="", position=finding.position, offset=finding.offset)
    where = _below(directory, place)
    to.rich(head.append_text(text(f"  {where}" if where else "")), unbroken=True)
    _sentence(
        to,
        "cause",
        f"{finding.field}: {finding.text}" if finding.field else finding.text,
    )
    told = []
    for evidence in diagnosis.evidence:
        where = _below(directory, evidence)
        told.append(text(": ".join(part for part in (where, evidence.found) if part)))
    _lines(to, "evidence", told)
    if finding.advice:
        _sentence(to, "next", finding.advice)
    commands = [text(command, COMMAND) for command in diagnosis.commands]
    _lines(to, "" if finding.advice else "next", commands)


def _below(directory: str, evidence: Evidence) -> str:
    """Return where a value stands, without the directory that the reader is looking at."""
    file = evidence.file
    if directory and file == directory:
        file = ""
    elif directory and not directory.endswith("/"):
        file = file.removeprefix(f"{directory}/")
    return replace(evidence, file=file).where()


def _lines(to: Output, name: str, lines: Sequence[Text]) -> None:
    """Values and commands, each on one line however long, so that it can be copied."""
    for number, line in enumerate(lines):
        label = Text((name if not number else "").ljust(_INDENT), style=QUIET)
        to.rich(label.append_text(line), unbroken=True)


def _sentence(to: Output, name: str, words: str) -> None:
    """A sentence, in as many lines as it takes."""
    table = Table.grid()
    table.add_column(no_wrap=True, width=_INDENT)
    table.add_column(overflow="fold")
    table.add_row(Text(name, style=QUIET), text(words))
    to.rich(table)


def write_explanations(to: Output, told: Sequence[Explanation]) -> None:
    """One code in full; of several, a line each."""
    if len(told) > 1:
        for explanation in told:
            style = SEVERITY_STYLES[explanation.severity]
            line = Text(explanation.code.ljust(28), style=NAME)
            to.rich(
                line.append(explanation.severity.ljust(_INDENT), style=style).append(
                    explanation.meaning
                ),
                unbroken=True,
            )
        return
    for explanation in told:
        head = Text(explanation.code, style=NAME)
        to.rich(
            head.append(f"  {explanation.severity}", style=SEVERITY_STYLES[explanation.severity])
        )
        _sentence(to, "meaning", explanation.meaning)
        more = {
            "next": explanation.advice,
            "note": explanation.note,
            "see": ", ".join(explanation.references),
        }
        for name, words in more.items():
            if words:
                _sentence(to, name, words)
