"""The report of `kraftool doctor`: all findings and signatures, directory by directory.

Owns what is said once only: a finding that dump and diff-voters share, and a fact that a signature
tells better.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kraftool.decoders.json_marks import Count, Hidden, in_json, in_json_before
from kraftool.reports.directory.findings import voter_findings
from kraftool.reports.doctor import next_steps, tools
from kraftool.reports.doctor.model import Diagnosis, Examination, ExaminedDirectory
from kraftool.reports.doctor.quorum_advice import emptied_directories, quorum_commands, wiped_voters
from kraftool.reports.doctor.rules import rules
from kraftool.reports.doctor.unexamined import Unexamined, unexamined
from kraftool.reports.election.assessment import Assessment, assess
from kraftool.reports.election.assessment_json import AssessmentObject, assessment_json
from kraftool.reports.election.read import case_of_sources
from kraftool.reports.findings.finding import Finding, Severity, in_order
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.findings.mutes import NOTHING_LEFT_OUT, FindingFilter, MutedFinding
from kraftool.reports.text import shell_text
from kraftool.reports.text.json_forms import FindingCounts, finding_counts
from kraftool.reports.voters.source_differences import home_cluster, is_foreign

_REPLAY = frozenset({log_kinds.REPLAY.code, snap_kinds.REPLAY.code})
_AFTER_SNAPSHOT = (
    "this state began with a snapshot. kraftool verify-log replays the log from its own"
    " beginning. If it does not report the same, the snapshot is wrong and the record is"
    " right: leave the log alone and run kraftool verify-snapshot. If it does: {}"
)
_ABOUT_FILES = ("mv ", "cp ", "kraftool ")
_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryDiagnoses:
    """A directory, or settings without the directory that they name."""

    path: str
    """The name of the node where it is a running one."""
    examined: Hidden[ExaminedDirectory | None] = None
    """None with an empty path, for the diagnoses between directories."""
    diagnoses: tuple[Diagnosis, ...]
    """The worst first."""

    @property
    @in_json_before("diagnoses")
    def settings_file(self) -> str:
        """The server.properties that names the directory; empty without one."""
        return "" if self.examined is None else self.examined.settings_file

    @property
    @in_json_before("diagnoses")
    def node_id(self) -> int | None:
        return None if self.examined is None else self.examined.node_id

    @property
    @in_json_before("diagnoses")
    def is_live(self) -> bool:
        """True if another process holds the directory's lock."""
        return self.examined is not None and self.examined.is_live

    @property
    @in_json_before("diagnoses")
    def is_asked(self) -> bool:
        """True if this is a running node that reported its log, and not a directory."""
        return self.examined is not None and self.examined.source.is_live

    @property
    @in_json_before("diagnoses")
    def is_witness(self) -> bool | None:
        """True for a voter that runs no controller: its ApiVersions lacks CreateTopics. None where
        that is unknown."""
        return None if self.examined is None else self.examined.source.is_witness


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport:
    """The known problems of directories. Offsets are places in the log, positions are bytes in a
    file."""

    sections: Hidden[tuple[DirectoryDiagnoses, ...]]
    """Directories, and last what is between them."""
    is_live: bool = False
    """True if a live quorum was asked."""
    rules: tuple[str, ...]
    """The names of the rules that looked."""
    ignored: Count = 0
    """The number of findings that --ignore left out."""
    muted: tuple[MutedFinding, ...] = ()
    """The findings that --mute left out."""
    unexamined: tuple[Unexamined, ...] = ()
    """The places that the rules could not examine. A report without findings is complete only if
    this is empty."""
    deeper_commands: tuple[str, ...] = ()
    """Commands that look deeper."""
    quorum: Hidden[Assessment | None] = None
    """The judgement of the quorum by the directories; None if no directory was given."""
    stopping: Hidden[tuple[int, ...]] = ()
    """The nodes on which Kafka starts, and exits as soon as its controller reads a record."""
    commands: Hidden[tuple[tuple[str, str], ...]] = ()
    """What to run next for the quorum: why, and the command line."""
    wiped: Hidden[tuple[str, ...]] = ()
    """What voters with an empty log need, in sentences and command lines."""

    @property
    @in_json_before("is_live")
    def directories(self) -> tuple[DirectoryDiagnoses, ...]:
        """One for each directory, in the order of the PATHs."""
        return tuple(section for section in self.sections if section.path)

    @property
    @in_json_before("is_live")
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """Those between directories, and of the PATHs as a whole."""
        return tuple(one for each in self.sections if not each.path for one in each.diagnoses)

    @property
    @in_json_before("rules")
    def assessment(self) -> AssessmentObject | None:
        """None if no directory was given."""
        return None if self.quorum is None else assessment_json(self.quorum)

    @property
    @in_json
    def finding_counts(self) -> FindingCounts:
        return finding_counts(self.findings)

    @property
    def rows(self) -> tuple[Diagnosis, ...]:
        """All diagnoses."""
        return tuple(diagnosis for one in self.sections for diagnosis in one.diagnoses)

    @property
    def is_complete(self) -> bool:
        """True if nothing was left out: only then can a report without findings be a good one."""
        return not (self.unexamined or self.ignored or self.muted or self.not_given)

    @property
    def not_given(self) -> tuple[int, ...]:
        """The voters that were looked at neither on a disk nor over the network."""
        return () if self.quorum is None or self.is_live else self.quorum.not_given

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(diagnosis.finding for diagnosis in self.rows)


def diagnose(examination: Examination, left_out: FindingFilter = NOTHING_LEFT_OUT) -> DoctorReport:
    """Ask every rule, and put what they and the other reports say together."""
    diagnoses = [_runnable(diagnosis, examination) for diagnosis in _once(_all(examination))]
    chosen = left_out.sorted(diagnoses, lambda diagnosis: diagnosis.finding)
    kept = chosen.kept
    sections = [
        DirectoryDiagnoses(
            path=directory.path, diagnoses=_in_order(kept, directory.path), examined=directory
        )
        for directory in examination.directories
    ]
    known = {directory.path for directory in examination.directories}
    rest = [diagnosis for diagnosis in kept if diagnosis.directory not in known]
    if rest:
        rest.sort(key=lambda diagnosis: _RANK[diagnosis.finding.severity])
        sections.append(DirectoryDiagnoses(path="", diagnoses=tuple(rest)))
    own = [examined.judged for examined in examination.directories if not examined.source.is_live]
    case = case_of_sources(own)
    unread = (
        finding.file
        for finding in examination.findings
        if finding.code == dir_kinds.UNREADABLE.code
    )
    assessment = assess(case) if own else None
    stopping = tuple(sorted(_stopping(sections)))
    commands: tuple[tuple[str, str], ...] = ()
    if assessment is not None and assessment.voters and not examination.live:
        commands = tuple(
            quorum_commands(
                assessment,
                examination.paths,
                "doctor",
                examination.without_data,
                stopping=stopping,
                foreign=_foreign(examination),
                own_settings=_without_data(examination),
            )
        )
    return DoctorReport(
        quorum=assessment,
        stopping=stopping,
        commands=commands,
        wiped=() if examination.live else (*wiped_voters(case), *emptied_directories(unread)),
        sections=tuple(sections),
        rules=tuple(rule.name for rule in rules()),
        ignored=chosen.ignored,
        muted=chosen.muted,
        is_live=bool(examination.live),
        unexamined=tuple(unexamined(examination)),
        deeper_commands=tuple(
            command for command in _deeper(examination) if not command.endswith(" -")
        ),
    )


def _foreign(examination: Examination) -> tuple[str, ...]:
    """Return the PATHs of directories of another cluster than the one that is judged."""
    sources = [directory.source for directory in examination.directories]
    home = home_cluster(sources)
    names = (source.name for source in sources if is_foreign(source, home))
    return tuple(name for name in names if name in examination.paths)


def _without_data(examination: Examination) -> dict[int, str]:
    """Return the server.properties of nodes whose data directory is not there, by node id."""
    return {
        directory.source.settings.node_id: directory.settings_file
        for directory in examination.directories
        if directory.source.settings is not None
        and directory.source.settings.node_id is not None
        and directory.settings_file in examination.without_data
    }


def _stopping(sections: Iterable[DirectoryDiagnoses]) -> set[int]:
    """Return the nodes whose controllers exit at what they read, each with a finding that says so.

    The judgement of the quorum counts them as able to start: it replays no records."""
    return {
        section.examined.node_id
        for section in sections
        if section.examined is not None and section.examined.node_id is not None
        if any(diagnosis.finding.kind.stops_controller for diagnosis in section.diagnoses)
    }


def _runnable(diagnosis: Diagnosis, examination: Examination) -> Diagnosis:
    """Without the commands about files, where those lie in an archive and not on this machine.

    Those of a running node that was asked are known by its name.
    """
    commands = [
        command
        for command in diagnosis.commands
        if not command.startswith(_ABOUT_FILES)
        or not any(_is_out_of_reach(command, examined) for examined in examination.directories)
    ]
    return replace(diagnosis, commands=tuple(commands))


def _is_out_of_reach(command: str, examined: ExaminedDirectory) -> bool:
    name = shell_text.quoted(examined.path).removesuffix("'")
    return examined.is_stream or (examined.source.is_live and name in command)


def _in_order(diagnoses: Iterable[Diagnosis], path: str) -> tuple[Diagnosis, ...]:
    own = [diagnosis for diagnosis in diagnoses if diagnosis.directory == path]
    return tuple(sorted(own, key=lambda diagnosis: _RANK[diagnosis.finding.severity]))


def _all(examination: Examination) -> Iterator[Diagnosis]:
    diagnoses = [diagnosis for rule in rules() for diagnosis in rule.find(examination)]
    better = {
        (code, diagnosis.finding.file)
        for diagnosis in diagnoses
        for code in diagnosis.finding.kind.tells_better
    }
    for other_report in _of_other_reports(examination):
        if (other_report.finding.code, other_report.finding.file) not in better:
            yield other_report
    yield from diagnoses


def _of_other_reports(examination: Examination) -> Iterator[Diagnosis]:
    """Yield what dump, diff-voters and the replay of the state say."""
    foreign = {source.source for source in examination.voters.sources if source.is_of_other_cluster}
    for finding in examination.findings:
        yield next_steps.diagnosis(finding, examination, _whose(finding, examination))
    for examined in examination.directories:
        findings = examined.judged.findings
        if examined.source.name in foreign:
            own = replace(examined.source, name=examined.source.path)
            findings = in_order((*findings, *voter_findings(own)))
        for finding in (*findings, *_replayed(examined)):
            yield next_steps.diagnosis(finding, examination, examined)
    for finding in examination.voters.findings:
        yield next_steps.diagnosis(finding, examination, _whose(finding, examination))


def _replayed(examined: ExaminedDirectory) -> Iterator[Finding]:
    """Records that do not fit the state, where the whole state before them is known."""
    state = examined.state
    if state is None or (state.start_offset > 0 and not state.snapshot):
        return
    log = examined.summary.log
    findings = [finding for finding in state.findings if finding.code in _REPLAY]
    misfits = [finding for finding in findings if finding.code == log_kinds.REPLAY.code]
    if misfits and state.snapshot and log is not None and log.start < state.start_offset:
        # One wrong snapshot makes many records that do not fit.
        first, more = misfits[0], len(misfits) - 1
        findings = [finding for finding in findings if finding not in misfits]
        text = f"{first.text}. More records that do not fit: {more}" if more else first.text
        advice = _AFTER_SNAPSHOT.format(log_kinds.REPLAY.advice)
        yield replace(first.saying(text), advice=advice)
    yield from findings


def _whose(finding: Finding, examination: Examination) -> ExaminedDirectory | None:
    """The directory that a finding of diff-voters is about, by its file."""
    for examined in examination.directories:
        names = {examined.path, examined.source.name, examined.settings_file} - {""}
        if finding.file in names or any(file.file == finding.file for file in examined.files):
            return examined
    return None


def _once(diagnoses: Iterable[Diagnosis]) -> Iterator[Diagnosis]:
    seen: set[tuple[object, ...]] = set()
    for diagnosis in diagnoses:
        finding = diagnosis.finding
        key = (finding.code, replace(finding.fault, reason="", expected=""))
        if key not in seen:
            seen.add(key)
            yield diagnosis


def _deeper(examination: Examination) -> Iterator[str]:
    """Yield what doctor leaves to others: every record and index, every snapshot, all voter
    changes.
    """
    if not examination.directories:
        return
    if examination.live:
        yield shell_text.line("kraftool", "quorum", "health", *examination.live)
    if examination.paths:
        yield tools.on_all(examination, "verify-log")
    for examined in examination.directories[:3]:
        newest = examined.summary.newest_snapshot
        on_disk = not examined.source.is_live and not examined.source.name.startswith("-")
        if newest is not None and newest.offset > 0 and on_disk:
            yield shell_text.on(newest.file, "verify-snapshot")
    if len(examination.directories) > 1 or examination.live:
        yield tools.on_all(examination, "diff-voters")
    if sum(not directory.source.is_live for directory in examination.directories) > 1:
        yield tools.on_all(examination, "timeline")
