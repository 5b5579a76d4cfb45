"""PATHs read into surveys. Nothing is changed, and nothing is raised for what is damaged.

Owns the order of work: the directory is read as every report reads it, then log and snapshots once
more, hashed and up to where they can be trusted. A tar stream is kept in memory for that. It
refuses to keep anything of a record but its type.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftool import __version__
from kraftool.decoders.addresses import shown_address
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import (
    BOOTSTRAP_CHECKPOINT,
    METADATA_FOLDER,
    FileState,
    parse_checkpoint_name,
    parse_segment_name,
    segment_offset,
)
from kraftool.decoders.quorum_state import QuorumStateFile
from kraftool.decoders.wire import ZERO_UUID
from kraftool.image.uuids import is_reserved_directory
from kraftool.raft.endpoints import read_endpoint, shown_endpoints
from kraftool.raft.names import Endpoint, OffsetAndEpoch, Voter
from kraftool.repair.document import DocumentError
from kraftool.repair.fingerprints import whole_fingerprint
from kraftool.repair.half_done import half_done
from kraftool.repair.log_survey import LogSurvey, SegmentFile, survey_log
from kraftool.repair.plan import (
    DirectoryIdentity,
    Fingerprint,
    PlanFile,
    PlanFileKind,
    PlannedEndpoint,
    PlannedVoter,
    target_of,
)
from kraftool.repair.snapshot_survey import complaint_of
from kraftool.repair.state_records import digest_of, records_of
from kraftool.repair.survey import (
    SCHEMA_VERSION,
    Misfit,
    QuorumStateSurvey,
    Slice,
    Survey,
    SurveyedFile,
    SurveyedLog,
    SurveyedSettings,
    SurveyedSnapshot,
    SurveyedState,
)
from kraftool.reports.directory import DirectoryReport, read_location
from kraftool.reports.file_names import misnamed
from kraftool.reports.file_report import FileReport
from kraftool.reports.findings import Severity
from kraftool.reports.kinds import directory as dir_kinds
from kraftool.reports.kinds import log as log_kinds
from kraftool.reports.log_source import LogFile, kind_of
from kraftool.reports.log_summary import LogSummary
from kraftool.reports.state.files import MOST_STREAMED, StateFiles, files_of
from kraftool.reports.state.load import LoadedState, load_from
from kraftool.reports.voters.model import QuorumSettings, VoterSourceReport
from kraftool.reports.voters.read import sources_of
from kraftool.reports.voters.settings import settings_of
from kraftool.storage.entry import Entry, EntryPlace, EntryProblem, is_partition_file
from kraftool.storage.format_plan import META_PROPERTIES
from kraftool.storage.lock import LockState
from kraftool.storage.paths import Location, LocationKind, open_path
from kraftool.storage.source import BytesSource

Progress = Callable[[str, int], None]
_BESIDE_TOPICS = (METADATA_FOLDER, META_PROPERTIES, BOOTSTRAP_CHECKPOINT)
"""What a data directory has of a node's metadata."""
_MOST_MISFITS = 8
_MOST_REPLAYED = 4
"""So many of the newest snapshots are replayed; of the others the form alone is looked at."""


def survey_path(
    path: str,
    *,
    now_ms: int,
    at: int | None = None,
    progress: Progress = lambda name, position: None,
) -> tuple[Survey, ...]:
    """A survey of each data directory that a PATH has. Raises KraftoolError where it has none.

    With `at` the state at that offset is looked at, too.
    """
    location = open_path(_whole(path))
    if location.kind is LocationKind.FILE:
        raise KraftoolError(
            f"{path} is a file and no data directory",
            hint="name the data directory, its server.properties, or a tar of it",
        )
    entries = list(_kept(location))
    for problem in entries:
        if isinstance(problem, EntryProblem) and _hides(problem, location):
            raise KraftoolError(
                f"{problem.name}: {problem.reason}",
                hint=problem.hint or "nothing is planned on a part of a directory: mend this first",
            )
    report = read_location(location, progress=progress, entries=entries)
    settings = settings_of(path, location.server) if location.server is not None else None
    sources = sources_of(location, report, settings)
    found = [
        _Surveying(location, directory, source, entries, progress, at).survey(now_ms)
        for directory, source in zip(report.directories, sources, strict=False)
    ]
    if not found:
        raise KraftoolError(
            f"{path}: there is no data directory in it", hint="name a directory of log.dirs"
        )
    seen = {os.path.realpath(each.path) for each in found}
    for each in location.log_dirs:
        # Every directory of a node has its cluster id, which a plan may change.
        if os.path.realpath(each) not in seen and os.path.isdir(each):
            found += survey_path(each, now_ms=now_ms, progress=progress)
    return tuple(found)


def _hides(problem: EntryProblem, location: Location) -> bool:
    """Whether metadata may be there that could not be got at: it is not to be taken for lost.

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
    for each in location.entries():
        if isinstance(each, EntryProblem) or not location.is_stream:
            yield each
            continue
        left -= each.size
        if left < 0:
            raise KraftoolError(
                f"{location.path}: more than {MOST_STREAMED >> 30} GiB of metadata in a stream",
                hint="unpack the archive and name the directory",
            )
        with each.open() as source:
            data = b"".join(iter(_Reader(source.read_at), b""))
        yield replace(each, opener=_opener(each.name, data), size=len(data))


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
    report: DirectoryReport
    source: VoterSourceReport
    all_entries: Sequence[Entry | EntryProblem]
    progress: Progress
    at: int | None

    def survey(self, now_ms: int) -> Survey:
        entries = [
            each
            for each in self.all_entries
            if isinstance(each, Entry) and each.directory == self.report.path
        ]
        quorum_state = self._quorum_state()
        read = survey_log(_segments(entries), known_epoch=quorum_state.leader_epoch)
        files, unread = _files(entries, read.fingerprints if read is not None else {})
        snapshots = tuple(self._snapshots(entries))
        meta = self._content(FileKind.META_PROPERTIES, MetaProperties)
        node = self.report.summary.node
        begun = Survey(
            schema_version=SCHEMA_VERSION,
            tool=__version__,
            collected_ms=now_ms,
            path=self._path(),
            archived=self.location.is_stream,
            running=self.report.lock is LockState.HELD,
            identity=DirectoryIdentity(
                node_id=node.node_id,
                directory_id=node.directory_id or "",
                cluster_id=node.cluster_id or "",
            ),
            meta_complaint=self._meta_complaint(meta),
            settings=_settings(self.source.settings),
            quorum_state=quorum_state,
            log=read.log if read is not None else None,
            snapshots=snapshots,
            epochs_complaint=self._complaint(dir_kinds.EPOCHS.code, dir_kinds.EPOCHS_DIFFER.code),
            topic_id_complaint=self._complaint(dir_kinds.TOPIC_ID.code),
            bootstrap_complaint=self._bootstrap_complaint(),
            files=files,
            half_done=half_done(self.report.path) if self.location.is_on_disk else "",
            stopping=tuple(self._stopping(entries)),
            unread=unread,
        )
        begun = self._with_voters(begun)
        return self._with_state(begun, entries, read)

    def _path(self) -> str:
        return os.path.abspath(self.report.path) if self.location.is_on_disk else self.source.name

    # Small files

    def _content(self, kind: FileKind, form: type) -> FileReport | None:
        return next(
            (
                each
                for each in self.report.files
                if each.kind is kind and each.is_live and isinstance(each.content, form)
            ),
            None,
        )

    def _meta_complaint(self, file: FileReport | None) -> str:
        if file is None or not isinstance(file.content, MetaProperties):
            return "it is missing"
        if file.content.accepted and file.content.cluster_id and file.content.node_id is not None:
            return ""
        told = [each.sentence() for each in file.findings if each.severity is Severity.ERROR]
        return told[0] if told else "it has no cluster.id or no node.id"

    def _bootstrap_complaint(self) -> str:
        file = self._content(FileKind.BOOTSTRAP_CHECKPOINT, LogSummary)
        told = [each for each in file.findings if each.severity is Severity.ERROR] if file else []
        return told[0].sentence() if told else ""

    def _quorum_state(self) -> QuorumStateSurvey:
        file = self._content(FileKind.QUORUM_STATE, QuorumStateFile)
        if file is None or not isinstance(file.content, QuorumStateFile):
            return QuorumStateSurvey(missing=True)
        state = file.content.state
        if state is None:
            told = [each.sentence() for each in file.findings]
            return QuorumStateSurvey(complaint=told[0] if told else "it cannot be read")
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
        told = [each for each in self.report.findings if each.code in codes]
        return told[0].sentence() if told else ""

    def _stopping(self, entries: Sequence[Entry]) -> Iterator[str]:
        for each in entries:
            if each.place is EntryPlace.PARTITION:
                found = misnamed(each.name)
                if found is not None and "refuses to start" in found.text:
                    yield each.basename

    # Snapshots, voters, state

    def _snapshots(self, entries: Sequence[Entry]) -> Iterator[SurveyedSnapshot]:
        named = []
        for entry in entries:
            name = parse_checkpoint_name(entry.basename)
            if name is None or entry.place is not EntryPlace.PARTITION or not name.canonical:
                continue
            if name.state in (FileState.LIVE, FileState.DELETED):
                named.append((name.offset, name.epoch, entry, name.state))
        named.sort(key=lambda each: each[:2])
        for number, (offset, epoch, entry, state) in enumerate(named):
            is_new = offset > 0 and number >= len(named) - _MOST_REPLAYED
            complaint = complaint_of(entry, epoch, replayed=is_new)
            yield SurveyedSnapshot(
                name=entry.basename,
                offset=offset,
                epoch=epoch,
                deleted=state is FileState.DELETED,
                intact=not complaint,
                complaint=complaint,
            )

    def _with_voters(self, survey: Survey) -> Survey:
        """The newest voters and kraft.version that can be trusted."""
        end = survey.end.offset
        history = [
            each for each in self.source.history if each.offset < end and not each.contradicted
        ]
        sets = [each for each in history if each.voters is not None]
        levels = [each.level for each in history if each.level is not None]
        level = levels[-1] if levels else self.source.kraft_version
        found = replace(survey, kraft_version=level)
        if sets and sets[-1].voters is not None:
            return replace(
                found,
                voters=tuple(planned_voter(each) for each in sets[-1].voters),
                voters_offset=sets[-1].offset,
            )
        told = self.source.told
        if told is not None:
            found = replace(found, voters=tuple(planned_voter(each) for each in told.voters))
        return found

    def _with_state(
        self, survey: Survey, entries: Sequence[Entry], read: LogSurvey | None
    ) -> Survey:
        end = survey.end
        if end.offset == 0:
            return survey
        broken = {each.name for each in survey.live_snapshots if not each.intact}
        files = []
        for entry in entries:
            kind = kind_of(entry, self.location)
            if kind is not None and entry.basename not in broken:
                files.append(LogFile(entry, kind, self.location))
        state_files = files_of(self.report.path, files)
        loaded = self._loaded(state_files, end)
        found = replace(
            survey, state=loaded if isinstance(loaded, SurveyedState) else _state(loaded, end)
        )
        if isinstance(loaded, LoadedState) and survey.node_id is not None:
            broker = loaded.image.cluster.brokers.get(survey.node_id)
            if broker is not None:
                found = replace(found, registered_directories=broker.directories)
        if self.at is not None and survey.log is not None:
            place = OffsetAndEpoch(self.at, _epoch_before(survey.log, self.at))
            then = self._loaded(state_files, place)
            earlier = then if isinstance(then, SurveyedState) else _state(then, place)
            if isinstance(then, LoadedState) and (why := _not_an_end(then, self.at)):
                earlier = replace(earlier, records=0, records_sha256="", complaint=why)
            found = replace(found, earlier=earlier)
        if read is None or found.log is None or isinstance(loaded, SurveyedState):
            return found
        return replace(found, log=_with_replay(found, found.log, loaded, read))

    def _loaded(self, files: StateFiles, end: OffsetAndEpoch) -> LoadedState | SurveyedState:
        """The state at an offset, or why there is none."""
        try:
            return load_from(files, at=end.offset, progress=self.progress)
        except KraftoolError as error:
            return SurveyedState(
                end_offset=end.offset,
                last_epoch=end.epoch,
                last_timestamp_ms=-1,
                whole=False,
                complaint=error.message,
            )


def _not_an_end(loaded: LoadedState, offset: int) -> str:
    """Why no log can end at an offset: what is before it is part of something that is whole or
    nothing. Empty where one can."""
    opened, batch = loaded.open_transaction, loaded.divided_batch
    if opened is not None:
        return (
            f"offset {offset} is inside of the metadata transaction that begins at offset"
            f" {opened.offset}, and is whole or nothing: a log can end at {opened.offset}, or where"
            " the transaction has ended"
        )
    if batch is not None:
        first, last = batch
        return (
            f"offset {offset} is inside of a batch, of the offsets {first} to {last}, which is"
            f" whole or nothing: a log can end at {first} or at {last + 1}"
        )
    return ""


def _epoch_before(log: SurveyedLog, offset: int) -> int:
    """The epoch of the last record below an offset."""
    return max((each.epoch for each in log.epochs if each.start_offset < offset), default=-1)


def _with_replay(
    survey: Survey, log: SurveyedLog, loaded: LoadedState, read: LogSurvey
) -> SurveyedLog:
    """What the replay found out about the log."""
    opened = loaded.open_transaction
    told = [
        each
        for each in loaded.findings
        if each.code == log_kinds.REPLAY.code and each.offset is not None
    ]
    misfits: list[Misfit] = []
    for each in told[:_MOST_MISFITS] if loaded.has_its_beginning else ():
        found = read.misfit(each.offset or 0, each.text)
        if found is not None and all(one.base_offset != found.base_offset for one in misfits):
            misfits.append(found)
    rest: tuple[Slice, ...] = ()
    whole = survey.whole_snapshots
    if log.broken is not None and not log.broken.torn and whole:
        newest = whole[-1]
        if log.intact_end <= newest.offset <= log.broken.end_offset:
            rest = read.rest_from(newest.offset, newest.epoch)
    return replace(
        log,
        open_transaction=opened.offset if opened is not None else None,
        misfits=tuple(misfits),
        rest=rest,
    )


def _state(loaded: LoadedState, end: OffsetAndEpoch) -> SurveyedState:
    image = loaded.image
    complaint, records, digest = "", 0, ""
    try:
        found = digest_of(records_of(image))
        records, digest = found.count, found.sha256
    except KraftoolError as error:
        complaint = error.message
    return SurveyedState(
        end_offset=end.offset,
        last_epoch=end.epoch,
        last_timestamp_ms=image.provenance.last_timestamp,
        records=records,
        records_sha256=digest,
        whole=loaded.has_its_beginning,
        complaint=complaint,
        metadata_version=image.features.metadata_version,
        topics=len(image.topics.by_id),
        brokers=tuple(sorted(image.cluster.brokers)),
        controllers=tuple(sorted(image.cluster.controllers)),
    )


def _files(
    entries: Sequence[Entry], segments: Mapping[int, Fingerprint]
) -> tuple[tuple[SurveyedFile, ...], tuple[str, ...]]:
    """Every file that a plan may name, hashed; segments were, when they were read. Raises
    KraftoolError where one of Kafka's cannot be read: it is neither lost nor damaged."""
    found, unread = [], []
    for each in entries:
        target: PlanFile | None = None
        if each.place is EntryPlace.PARTITION:
            try:
                target = target_of(each.basename)
            except DocumentError as error:
                unread.append(error.message)
        elif each.basename == META_PROPERTIES:
            target = PlanFile(kind=PlanFileKind.META_PROPERTIES, name=META_PROPERTIES)
        elif each.basename == BOOTSTRAP_CHECKPOINT:
            target = PlanFile(kind=PlanFileKind.BOOTSTRAP, name=BOOTSTRAP_CHECKPOINT)
        if target is None:
            continue
        base = segment_offset(each.basename) if target.kind is PlanFileKind.SEGMENT else None
        try:
            fingerprint = _hash(each) if base is None else segments[base]
        except KraftoolError as error:
            if _is_kafkas(target):
                raise
            unread.append(error.message)
            continue
        found.append(SurveyedFile(target=target, fingerprint=fingerprint))
    return tuple(sorted(found, key=lambda each: each.target.path)), tuple(unread)


def _is_kafkas(target: PlanFile) -> bool:
    """Whether Kafka reads such a file, or ends at its name."""
    name = target.name
    if target.kind is not PlanFileKind.OTHER or misnamed(name) is not None:
        return True
    return parse_checkpoint_name(name) is not None or parse_segment_name(name) is not None


def _hash(entry: Entry) -> Fingerprint:
    with entry.open() as source:
        return whole_fingerprint(source)


def _segments(entries: Sequence[Entry]) -> list[SegmentFile]:
    found = []
    for each in entries:
        base = segment_offset(each.basename) if each.place is EntryPlace.PARTITION else None
        if base is not None:
            found.append(SegmentFile(base_offset=base, open=each.open))
    return found


def planned_voter(voter: Voter) -> PlannedVoter:
    """A voter of a report as a plan has it; a static one has an endpoint without a listener."""
    directory_id = voter.directory_id or ZERO_UUID
    return PlannedVoter(
        id=voter.id,
        directory_id="" if is_reserved_directory(directory_id) else directory_id,
        endpoints=tuple(_planned(name, each) for name, each in voter.endpoints.items()),
        min_kraft_version=voter.kraft_version.min,
        max_kraft_version=voter.kraft_version.max,
    )


def planned_endpoint(text: str) -> PlannedEndpoint:
    """`NAME://host:port`, or `host:port`."""
    return _planned(*read_endpoint(text))


def _planned(listener: str, endpoint: Endpoint) -> PlannedEndpoint:
    return PlannedEndpoint(listener=listener, host=endpoint.host, port=endpoint.port)


def _settings(settings: QuorumSettings | None) -> SurveyedSettings | None:
    if settings is None:
        return None
    return SurveyedSettings(
        file=settings.file,
        node_id=settings.node_id,
        roles=settings.roles,
        static_voters=",".join(
            f"{each.id}@{','.join(shown_endpoints(each.endpoints))}"
            for each in settings.static_voters
        ),
        bootstrap_servers=",".join(settings.bootstrap_servers),
        listeners=tuple(
            f"{each.listener}://{shown_address(each.host, each.port or 0)}"
            for each in settings.advertised
        ),
    )
