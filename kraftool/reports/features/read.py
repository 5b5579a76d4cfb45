"""PATHs into one cluster's features: the newest state leads, settings of all of them count.

Owns which directory the report is made from, and what the PATHs say against each other. Each is
read once. It refuses directories of different clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import parse_checkpoint_name
from kraftool.directory.metadata_summary import (
    Feature,
    FinalizedKRaftVersion,
    MetadataSummary,
)
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.reading import settings_alone
from kraftool.image.cluster import ClusterImage, FeatureRange
from kraftool.image.metadata_version import KRAFT_VERSION, METADATA_VERSION
from kraftool.reports.directory.findings import is_topic
from kraftool.reports.directory.report import DumpReport, read_location
from kraftool.reports.directory.states import StatePasses, read_with_states
from kraftool.reports.directory.voter_sources import sources_of
from kraftool.reports.features.model import (
    ClusterFeatures,
    FeatureSource,
    FinalizedLevel,
    LevelSource,
    NodeSupport,
    ProcessRole,
)
from kraftool.reports.files.false_upgrade import false_upgrade
from kraftool.reports.files.locations import open_paths, unopened
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.logs.file_names import misnamed
from kraftool.reports.state.load import LoadedState, load_state
from kraftool.storage.entry import EntryPlace
from kraftool.storage.paths import Location, LocationKind

Progress = Callable[[str, int], None]


def read_features(
    paths: Sequence[str],
    progress: Progress = lambda name, position: None,
    *,
    leader: Location | None = None,
    controllers: Mapping[int, Mapping[str, FeatureRange]] | None = None,
) -> ClusterFeatures:
    """Read every PATH; one that cannot be read is a finding. Raises KraftoolError where there is no
    state in any of them.

    `leader` is the log of a running one, `controllers` the ranges of running nodes by id, which
    count where no registration tells them.
    """
    sources: list[FeatureSource] = []
    locations, findings = open_paths(paths, settings_alone=True)
    for location in [*locations, *([] if leader is None else [leader])]:
        try:
            for source in _read(location, progress):
                if isinstance(source, Finding):
                    findings.append(source)
                else:
                    sources.append(source)
        except KraftoolError as error:
            findings.append(unopened(location.path, error))
    _refuse_clusters(sources)
    states = [source for source in sources if source.state is not None]
    if not states and findings:
        raise KraftoolError(findings[0].text, hint=findings[0].advice)
    if not states:
        raise KraftoolError(
            f"{locations[0].path}: settings only: there is no state to read the features from",
            hint="name a data directory of the cluster too",
        )
    newest = max(states, key=lambda source: (source.last.last_epoch, source.end_offset))
    cluster = _cluster(newest, sources)
    cluster = replace(cluster, nodes=(*_running(cluster, controllers or {}), *cluster.nodes))
    return replace(cluster, findings=(*findings, *cluster.findings)) if findings else cluster


def _running(
    cluster: ClusterFeatures, controllers: Mapping[int, Mapping[str, FeatureRange]]
) -> Iterator[NodeSupport]:
    """Controllers that told their ranges themselves, as those of before 3.7 register nowhere."""
    known = {support.id for support in cluster.of(ProcessRole.CONTROLLER)}
    for node_id, ranges in sorted(controllers.items()):
        if node_id not in known and ranges:
            yield NodeSupport(role=ProcessRole.CONTROLLER, id=node_id, supported=ranges)


def _read(location: Location, progress: Progress) -> Iterator[FeatureSource | Finding]:
    """The directories of a location; one without a state is a finding."""
    if location.kind is LocationKind.PROPERTIES and not location.directory:
        directory = replace(settings_alone(location), missing=location.missing)
        yield FeatureSource(directory=directory)
        return
    if location.kind is LocationKind.FILE:
        report = read_location(location, progress=progress, is_compared=True)
        for judged in sources_of(location, report):
            yield _loaded(judged.directory, report, partial(load_state, location))
        return
    report, passes = read_with_states(location, StatePasses, progress)
    for judged in sources_of(location, report):
        directory = judged.directory
        if directory.path:  # else it is of loose files
            yield _loaded(directory, report, partial(_state, directory, passes, progress))
    if not report.directories:
        unread = (one.text for one in report.findings if one.code == dir_kinds.UNREADABLE.code)
        raise KraftoolError(
            f"{location.path}: {next(unread, 'no log and no snapshot in it')}",
            hint="name a data directory, a checkpoint or a segment",
        )


def _state(directory: NodeDirectory, passes: StatePasses, progress: Progress) -> LoadedState:
    names = (file.basename for file in directory.files)
    if passes.location.kind is LocationKind.PARTITION and is_topic(directory.path, names):
        raise KraftoolError(
            f"{directory.name} is the folder of a topic, which has no metadata",
            hint="name __cluster_metadata-0, or the data directory around it",
        )
    return passes.state(directory, progress)


def _loaded(
    directory: NodeDirectory, report: DumpReport, load: Callable[[], LoadedState]
) -> FeatureSource | Finding:
    try:
        state = load()
    except KraftoolError as error:
        return unopened(directory.name, error)
    in_partition = (file for file in directory.files if file.place is EntryPlace.PARTITION)
    found = (
        *(finding for finding in report.findings if finding.severity is not Severity.INFO),
        *(finding for file in in_partition if (finding := misnamed(file.file)) is not None),
        *state.findings,
    )
    return FeatureSource(directory=directory, state=state, findings=found)


def _refuse_clusters(sources: Sequence[FeatureSource]) -> None:
    members = [source for source in sources if source.cluster_id]
    for source in members[1:]:
        if source.cluster_id != members[0].cluster_id:
            raise KraftoolError(
                f"{source.path} belongs to cluster {source.cluster_id}, {members[0].path} to"
                f" cluster {members[0].cluster_id}",
                hint="name the directories of one cluster",
            )


def _cluster(newest: FeatureSource, sources: Sequence[FeatureSource]) -> ClusterFeatures:
    state, summary = newest.state, newest.directory.summary
    assert state is not None, "the newest one has a state"
    levels = _levels(state, summary)
    voters = state.controls.get(ControlRecordType.KRAFT_VOTERS)
    ranges = _voter_ranges(voters.value) if voters is not None else {}
    leader = state.controls.get(ControlRecordType.LEADER_CHANGE)
    findings = [*newest.findings, *_false_upgrade(newest, levels[KRAFT_VERSION])]
    return ClusterFeatures(
        image=state.image,
        sources=tuple(replace(source, is_newest=source is newest) for source in sources),
        levels=levels,
        nodes=_nodes(state.image.cluster),
        voters=tuple(sorted(ranges)),
        voter_ranges=ranges,
        # The first settings that name any.
        static_voters=None
        if ranges
        else next(filter(None, (source.controller_quorum_voters for source in sources)), None),
        leader_id=leader.value["leaderId"] if leader is not None else None,
        logged=summary.record_types,
        whole=all(finding.severity is Severity.INFO for finding in newest.findings),
        findings=tuple(findings),
    )


def _levels(state: LoadedState, summary: MetadataSummary) -> dict[str, FinalizedLevel]:
    features = state.image.features
    records = {feature.name: feature for feature in summary.feature_levels}
    levels = {}
    if features.metadata_version is not None:
        levels[METADATA_VERSION] = features.metadata_version
    levels |= {name: features.finalized[name] for name in sorted(features.finalized)}
    for name, record in records.items():
        if record.level == 0 and name != KRAFT_VERSION and _is_of(state, record):
            levels.setdefault(name, 0)
    finalized_levels = {
        name: _level(name, level, state, records.get(name)) for name, level in levels.items()
    }
    return finalized_levels | {KRAFT_VERSION: _kraft_version(state, summary)}


def _is_of(state: LoadedState, record: Feature | FinalizedKRaftVersion) -> bool:
    """True if a record of the log is below the end of the state: there may be damage between."""
    return record.timestamp is not None and (record.offset or 0) < state.end_offset


def _level(
    name: str, level: int, state: LoadedState, record: Feature | FinalizedKRaftVersion | None
) -> FinalizedLevel:
    if record is not None and record.level == level and _is_of(state, record):
        return FinalizedLevel(
            name=name,
            level=level,
            source=LevelSource.LOG,
            file=record.file,
            offset=record.offset,
            timestamp=record.timestamp,
        )
    evidence = LevelSource.SNAPSHOT if state.snapshot else LevelSource.LOG
    return FinalizedLevel(name=name, level=level, source=evidence, file=state.snapshot)


def _kraft_version(state: LoadedState, summary: MetadataSummary) -> FinalizedLevel:
    control = state.controls.get(ControlRecordType.KRAFT_VERSION)
    if control is None:
        return FinalizedLevel(name=KRAFT_VERSION, level=0)
    if parse_checkpoint_name(_base(control.file)) is not None:
        level = control.value["kRaftVersion"]
        return _level(KRAFT_VERSION, level, state, summary.finalized_kraft_version)
    return FinalizedLevel(
        name=KRAFT_VERSION,
        level=control.value["kRaftVersion"],
        source=LevelSource.LOG,
        file=control.file,
        offset=control.offset,
        timestamp=control.timestamp,
    )


def _false_upgrade(newest: FeatureSource, kraft: FinalizedLevel) -> list[Finding]:
    claimed, end = newest.directory.summary.feature(KRAFT_VERSION), newest.end_offset
    if claimed is None or (claimed.offset is not None and claimed.offset >= end):
        return []
    finding = false_upgrade(claimed.file, claimed.level, kraft.level, offset=claimed.offset)
    return [finding] if finding is not None else []


def _base(file: str) -> str:
    return file.rpartition("/")[2]


def _voter_ranges(value: Mapping[str, object]) -> dict[int, FeatureRange]:
    voters = value["voters"]
    assert isinstance(voters, list), "as its decoder gives it"
    return {
        voter["voterId"]: FeatureRange(
            voter["kRaftVersionFeature"]["minSupportedVersion"],
            voter["kRaftVersionFeature"]["maxSupportedVersion"],
        )
        for voter in voters
    }


def _nodes(cluster: ClusterImage) -> tuple[NodeSupport, ...]:
    controllers = [
        NodeSupport(role=ProcessRole.CONTROLLER, id=controller.id, supported=controller.features)
        for controller in sorted(cluster.controllers.values(), key=lambda one: one.id)
    ]
    brokers = [
        NodeSupport(
            role=ProcessRole.BROKER,
            id=broker.id,
            supported=broker.features,
            is_fenced=broker.fenced,
            log_directories=len(broker.directories),
        )
        for broker in sorted(cluster.brokers.values(), key=lambda one: one.id)
    ]
    return (*controllers, *brokers)
