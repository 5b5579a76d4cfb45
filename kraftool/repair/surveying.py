"""PATHs read into surveys. Nothing is changed, and nothing is raised for what is damaged.

Owns the order of work: the directory is read as every report reads it, and a `SurveyPass` observes
the one walk over each log and snapshot. A tar stream is kept in memory, since its files come in any
order. It refuses to keep anything of a record but its type.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from kraftool import __version__
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import BOOTSTRAP_CHECKPOINT, META_PROPERTIES, METADATA_FOLDER
from kraftool.decoders.quorum_state import QuorumStateFile
from kraftool.decoders.wire import ZERO_UUID
from kraftool.directory.file_report import FileReport
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import QuorumSettings
from kraftool.image.uuids import is_reserved_directory
from kraftool.raft.endpoints import shown_endpoints, shown_voter
from kraftool.raft.names import OffsetAndEpoch, ReplicaKey, VoterSet
from kraftool.repair.bit_survey import flipped_files
from kraftool.repair.half_done import half_done
from kraftool.repair.log_survey import LogSurvey
from kraftool.repair.plan import DirectoryIdentity, Edit, Piece
from kraftool.repair.plan_file import PlanFile
from kraftool.repair.read_directory import ReadDirectory
from kraftool.repair.restored_file import PieceOpener, openers_of, with_content
from kraftool.repair.state_records import beginning_at
from kraftool.repair.survey import (
    SCHEMA_VERSION,
    QuorumStateSurvey,
    Survey,
    SurveyedLog,
    SurveyedSettings,
    SurveyedState,
)
from kraftool.repair.survey_pass import SurveyPass, segments_of
from kraftool.repair.surveyed_files import hashed_files
from kraftool.repair.surveyed_state import epoch_before, replayed_state, why_no_end, with_replay
from kraftool.reports.directory.report import DumpReport, read_location
from kraftool.reports.directory.voter_sources import sources_of
from kraftool.reports.election.case import NodeCase
from kraftool.reports.election.read import node_case
from kraftool.reports.files.file_findings import file_findings
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.logs.file_names import misnamed
from kraftool.reports.state.files import MOST_STREAMED
from kraftool.reports.state.load import LoadedState, load_from
from kraftool.reports.state.one_pass import ordered
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.storage.entry import Entry, EntryPlace, EntryProblem, is_partition_file
from kraftool.storage.paths import Location, LocationKind, open_path
from kraftool.storage.source import ByteSource, BytesSource

Progress = Callable[[str, int], None]
_MOST_LEADERS = 4096
_BESIDE_TOPICS = (METADATA_FOLDER, META_PROPERTIES, BOOTSTRAP_CHECKPOINT)
"""What a data directory has of a node's metadata."""


def read_directories(
    path: str,
    *,
    now_ms: int,
    at: int | None = None,
    progress: Progress = lambda name, position: None,
    has_log: bool = True,
) -> tuple[ReadDirectory, ...]:
    """Each data directory that a PATH has. Raises KraftoolError where it has none.

    With `at` the state at that offset is looked at, too.
    Without `has_log` Kafka does not look for the metadata log there, whatever the directory has.
    """
    location = open_path(_whole(path))
    if location.kind is LocationKind.FILE:
        raise KraftoolError(
            f"{path} is a file, not a data directory",
            hint="name the data directory, its server.properties, or a tar of it",
        )
    entries = list(_kept(location))
    for problem in entries:
        if isinstance(problem, EntryProblem) and _hides(problem, location):
            raise KraftoolError(
                f"{problem.name}: {problem.reason}",
                hint=problem.hint
                or "kraftool makes no plan for part of a directory: repair this first",
            )
    report, passes = _read(location, entries, progress)
    sources = sources_of(location, report)
    directories = []
    for source in islice(sources, len(report.directories)):
        passed = passes[source.directory.path]
        surveying = _Surveying(location, source, entries, passed, progress, at, has_log)
        directories.append(surveying.read(now_ms))
    if not directories:
        raise KraftoolError(
            f"{path}: there is no data directory in it", hint="name a directory of log.dirs"
        )
    seen = {os.path.realpath(read_directory.survey.path) for read_directory in directories}
    for log_dir in location.log_dirs:
        # Every directory of a node has its cluster id, which a plan may change. One without
        # anything of a node, such as one whose disk is not mounted, is the doctor's to report.
        if os.path.realpath(log_dir) not in seen and _is_data_directory(log_dir):
            directories += [
                replace(other, survey=_other_log_dir(other.survey, directories[0].survey))
                for other in read_directories(
                    log_dir, now_ms=now_ms, progress=progress, has_log=False
                )
            ]
    return tuple(directories)


def _is_data_directory(path: str) -> bool:
    return any(os.path.lexists(os.path.join(path, name)) for name in _BESIDE_TOPICS)


def _other_log_dir(survey: Survey, first: Survey) -> Survey:
    """A further directory of a node, whose server.properties names its node."""
    return replace(survey, other_log_dir=True, settings=survey.settings or first.settings)


def _read(
    location: Location, entries: Sequence[Entry | EntryProblem], progress: Progress
) -> tuple[DumpReport, dict[str, SurveyPass]]:
    """The report of a location, and of each directory what passed for its survey."""
    files = [entry for entry in entries if isinstance(entry, Entry)]
    own: dict[str, list[Entry]] = {}
    for file in files:
        own.setdefault(file.directory, []).append(file)
    passes = {path: SurveyPass(path, entries, location) for path, entries in own.items()}
    report = read_location(
        location,
        progress=progress,
        entries=[*(entry for entry in entries if isinstance(entry, EntryProblem)), *ordered(files)],
        read=lambda entry, options: passes[entry.directory].read(entry, options),
        is_compared=True,
    )
    return report, passes


def _hides(problem: EntryProblem, location: Location) -> bool:
    """True if metadata may be there that could not be got at: it is not to be taken for lost.

    A link that leads nowhere, say, is a disk that is not mounted; half an archive has half a log.
    """
    if location.is_stream and problem.severity is Severity.ERROR:
        return True
    folder, name = os.path.split(os.path.normpath(problem.name))
    if name in _BESIDE_TOPICS or problem.name == location.directory:
        return problem.severity is not Severity.INFO
    in_partition = os.path.basename(folder) == METADATA_FOLDER
    if location.kind is LocationKind.PARTITION:  # whose folder may have another name
        in_partition = folder == os.path.normpath(location.directory)
    return in_partition and is_partition_file(name)


def _whole(path: str) -> str:
    """The data directory, where its metadata partition was named."""
    folder = os.path.normpath(path)
    if folder == os.curdir:
        folder = os.path.abspath(path)
    if os.path.basename(folder) == METADATA_FOLDER and os.path.isdir(folder):
        return os.path.dirname(folder) or "."
    return path


def _kept(location: Location) -> Iterator[Entry | EntryProblem]:
    """The files; those of a stream in memory, since they are read more than once."""
    left = MOST_STREAMED
    for entry in location.entries():
        if isinstance(entry, EntryProblem) or not location.is_stream:
            yield entry
            continue
        left -= entry.size
        if left < 0:
            raise KraftoolError(
                f"{location.path}: more than {MOST_STREAMED >> 30} GiB of metadata in a stream",
                hint="unpack the archive and name the directory",
            )
        with entry.open() as source:
            data = b"".join(iter(_Reader(source.read_at), b""))
        yield replace(entry, opener=_opener(entry.name, data), size=len(data))


@dataclass(slots=True)
class _Reader:
    read_at: Callable[[int, int], bytes]
    at: int = 0

    def __call__(self) -> bytes:
        data = self.read_at(self.at, 1 << 20)
        self.at += len(data)
        return data


def _opener(name: str, data: bytes) -> Callable[[], BytesSource]:
    return lambda: BytesSource(name, data)


@dataclass(slots=True)
class _Surveying:
    """One directory."""

    location: Location
    judged: JudgedDirectory
    all_entries: Sequence[Entry | EntryProblem]
    passed: SurveyPass
    progress: Progress
    at: int | None
    has_log: bool

    @property
    def source(self) -> NodeDirectory:
        return self.judged.directory

    def read(self, now_ms: int) -> ReadDirectory:
        """The survey of the directory, also with its flipped bits put back if there are any."""
        survey = self.survey(now_ms)
        own = self._entries()
        by_name = {entry.basename: entry for entry in own if entry.place is EntryPlace.PARTITION}
        flipped = flipped_files(survey, segments_of(own), own)

        def opened(target: PlanFile) -> ByteSource:
            return by_name[target.name].open()

        def opened_piece(piece: Piece) -> ByteSource:
            assert piece.file is not None, "a piece that is opened is of a file"
            return opened(piece.file)

        bits = openers_of(flipped, opened_piece)

        def again(restored: Sequence[Edit], open_piece: PieceOpener) -> Survey | None:
            openers = {**bits, **openers_of(restored, open_piece)}
            entries = [
                with_content(entry, openers) if entry in own else entry
                for entry in self.all_entries
            ]
            left = self._again(entries, now_ms)
            if left is None:
                return None
            return replace(left, files=survey.files, restored=(*flipped, *restored))

        return ReadDirectory(
            survey=replace(survey, flipped=flipped),
            restored=again((), opened_piece) if flipped else None,
            segments=sorted(
                segments_of([with_content(entry, bits) for entry in own]),
                key=lambda segment_file: segment_file.base_offset,
            ),
            open=opened,
            again=again,
            path="" if survey.archived else survey.path,
        )

    def _again(self, entries: Sequence[Entry | EntryProblem], now_ms: int) -> Survey | None:
        """The survey of the directory with other content of some files."""
        report, passes = _read(self.location, entries, self.progress)
        sources = sources_of(self.location, report)
        for source in islice(sources, len(report.directories)):
            path = source.directory.path
            if path == self.source.path:
                passed = passes[path]
                again = replace(self, judged=source, all_entries=entries, passed=passed)
                return again.survey(now_ms)
        return None

    def _entries(self) -> list[Entry]:
        return [
            entry
            for entry in self.all_entries
            if isinstance(entry, Entry) and entry.directory == self.source.path
        ]

    def survey(self, now_ms: int) -> Survey:
        entries = self._entries()
        quorum_state = self._quorum_state()
        read = self.passed.log.finish(quorum_state.leader_epoch)
        files, unread = hashed_files(entries, self.passed.fingerprints)
        snapshots = sorted(
            self.passed.snapshots, key=lambda snapshot: (snapshot.offset, snapshot.epoch)
        )
        meta = self.source.one(FileKind.META_PROPERTIES)
        node = self.source.summary.node
        begun = Survey(
            schema_version=SCHEMA_VERSION,
            tool=__version__,
            collected_ms=now_ms,
            path=self._path(),
            archived=self.location.is_stream,
            running=self.source.is_running,
            identity=DirectoryIdentity(
                node_id=node.node_id,
                directory_id=node.directory_id or "",
                cluster_id=node.cluster_id or "",
            ),
            edited_from=self.source.edited_from,
            meta_complaint=self._meta_complaint(meta),
            settings=_settings(self.source.settings),
            quorum_state=quorum_state,
            log=read.log if read is not None else None,
            snapshots=tuple(snapshots),
            epochs_complaint=self._complaint(dir_kinds.EPOCHS.code, dir_kinds.EPOCHS_DIFFER.code),
            topic_id_complaint=self._complaint(dir_kinds.TOPIC_ID.code),
            bootstrap_complaint=self._bootstrap_complaint(),
            files=files,
            half_done=half_done(self.source.path) if self.location.is_on_disk else "",
            stopping=tuple(self._stopping(entries)),
            unread=unread,
            node=_carried(node_case(self.judged)) if self.has_log else None,
        )
        begun = self._with_voters(begun)
        return self._with_state(begun, read)

    def _path(self) -> str:
        return os.path.abspath(self.source.path) if self.location.is_on_disk else self.source.name

    # Small files

    def _meta_complaint(self, file: FileReport | None) -> str:
        if file is None or not isinstance(file.content, MetaProperties):
            return "it is missing"
        if file.content.accepted and file.content.cluster_id and file.content.node_id is not None:
            edited_from = self.source.edited_from
            if edited_from is None:
                return ""
            return (
                f"node.id was changed from {edited_from} to {file.content.node_id}:"
                f" server.properties has {edited_from}, and the directory.id is that voter's"
            )
        errors = [
            finding.sentence()
            for finding in file_findings(file)
            if finding.severity is Severity.ERROR
        ]
        return errors[0] if errors else "it has no cluster.id or no node.id"

    def _bootstrap_complaint(self) -> str:
        file = self.source.one(FileKind.BOOTSTRAP_CHECKPOINT)
        findings = (
            [finding for finding in file_findings(file) if finding.severity is Severity.ERROR]
            if file is not None and file.log is not None
            else []
        )
        return findings[0].sentence() if findings else ""

    def _quorum_state(self) -> QuorumStateSurvey:
        file = self.source.one(FileKind.QUORUM_STATE)
        if file is None or not isinstance(file.content, QuorumStateFile):
            return QuorumStateSurvey(missing=True)
        state = file.content.quorum_state
        if state is None:
            complaints = [finding.sentence() for finding in file_findings(file)]
            return QuorumStateSurvey(complaint=complaints[0] if complaints else "it cannot be read")
        return QuorumStateSurvey(
            data_version=state.data_version,
            leader_epoch=state.leader_epoch,
            leader_id=state.leader_id,
            voted_id=state.voted_id,
            voted_directory_id=state.voted_directory_id
            if state.voted_directory_id != ZERO_UUID
            else "",
        )

    def _complaint(self, *codes: str) -> str:
        findings = [finding for finding in self.judged.findings if finding.code in codes]
        return findings[0].sentence() if findings else ""

    def _stopping(self, entries: Sequence[Entry]) -> Iterator[str]:
        for entry in entries:
            if entry.place is EntryPlace.PARTITION:
                finding = misnamed(entry.name)
                if finding is not None and finding.keeps_from_starting:
                    yield entry.basename

    # Snapshots, voters, state

    def _with_voters(self, survey: Survey) -> Survey:
        """The newest voters and kraft.version that can be trusted."""
        end = survey.end.offset
        history = [
            entry
            for entry in self.source.history.entries
            if entry.offset < end and not entry.contradicted
        ]
        sets = [entry for entry in history if entry.voters is not None]
        levels = [entry.kraft_version for entry in history if entry.kraft_version is not None]
        level = levels[-1] if levels else self.source.kraft_version
        new_survey = replace(survey, kraft_version=level)
        if sets and sets[-1].voters is not None:
            return replace(
                new_survey,
                voters=_without_reserved(sets[-1].voters),
                voters_offset=sets[-1].offset,
            )
        voters = self.source.seen_voters
        if voters is not None:
            new_survey = replace(new_survey, voters=_without_reserved(voters.voters))
        return new_survey

    def _with_state(self, survey: Survey, read: LogSurvey | None) -> Survey:
        end = survey.end
        if end.offset == 0:
            return survey
        loaded = self.passed.state(end.offset) or self._loaded(end)
        new_survey = replace(
            survey,
            state=loaded if isinstance(loaded, SurveyedState) else replayed_state(loaded, end),
        )
        if isinstance(loaded, LoadedState) and survey.node_id is not None:
            broker = loaded.image.cluster.brokers.get(survey.node_id)
            if broker is not None:
                new_survey = replace(new_survey, registered_directories=broker.directories)
        if self.at is not None and survey.log is not None:
            place = OffsetAndEpoch(self.at, epoch_before(survey.log, self.at))
            then = self._loaded(place)
            earlier = then if isinstance(then, SurveyedState) else replayed_state(then, place)
            if isinstance(then, LoadedState) and (why := why_no_end(then, self.at)):
                earlier = replace(earlier, records=0, records_sha256="", complaint=why)
            new_survey = replace(new_survey, earlier=earlier)
        if read is None or new_survey.log is None or isinstance(loaded, SurveyedState):
            return new_survey
        log = with_replay(new_survey, new_survey.log, loaded, read)
        return replace(new_survey, log=log, rest_state=self._rest_state(new_survey, log))

    def _rest_state(self, survey: Survey, log: SurveyedLog) -> SurveyedState | None:
        """The state at the end of what is whole behind the newest snapshot, if records fit it."""
        start = log.rest_start
        if start is None or log.broken is None:
            return None
        files = beginning_at(self.passed.state_files(), start)
        try:
            loaded = load_from(files, at=log.broken.end_offset, progress=self.progress)
        except KraftoolError:
            return None
        is_odd = loaded.open_transaction is not None or any(
            finding.code == log_kinds.REPLAY.code for finding in loaded.findings
        )
        end = OffsetAndEpoch(log.broken.end_offset, max(survey.end.epoch, log.broken.highest_epoch))
        if is_odd or loaded.end_offset != end.offset:
            return None
        return replayed_state(loaded, end)

    def _loaded(self, end: OffsetAndEpoch) -> LoadedState | SurveyedState:
        """The state at an offset, or why there is none.

        It reads again: for an earlier offset, which is a question of its own, and for a directory
        whose end is not where all that passed leads to.
        """
        try:
            return load_from(self.passed.state_files(), at=end.offset, progress=self.progress)
        except KraftoolError as error:
            return SurveyedState(
                end_offset=end.offset,
                last_epoch=end.epoch,
                last_timestamp_ms=-1,
                whole=False,
                complaint=error.message,
            )


def _carried(node: NodeCase | None) -> NodeCase | None:
    """The node without what nothing is judged by, and with its newest leaders."""
    if node is None:
        return None
    log = replace(node.log, leaders=node.log.leaders[-_MOST_LEADERS:])
    return replace(node, log=log, notes=())


def _without_reserved(voters: VoterSet) -> VoterSet:
    """The voters as a plan has them: a directory id that no directory can have is not known."""
    return VoterSet.of(
        *(
            replace(voter, key=ReplicaKey(voter.id))
            if voter.directory_id is not None and is_reserved_directory(voter.directory_id)
            else voter
            for voter in voters
        )
    )


def _settings(settings: QuorumSettings | None) -> SurveyedSettings | None:
    if settings is None:
        return None
    return SurveyedSettings(
        file=settings.file,
        node_id=settings.node_id,
        roles=settings.roles,
        static_voters=",".join(map(shown_voter, settings.static_voters)),
        bootstrap_servers=",".join(settings.bootstrap_servers),
        listeners=shown_endpoints(settings.advertised_endpoints),
    )
