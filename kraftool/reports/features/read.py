"""PATHs into one cluster's features: the newest state leads, settings of all of them count.

Owns which PATH the report is made from, and what the PATHs say against each other. It refuses
directories of different clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from kraftool.decoders import meta_properties
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.dataclass import dataclass
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import parse_checkpoint_name
from kraftool.directory.quorum_settings import settings_of
from kraftool.image.cluster import ClusterImage, FeatureRange
from kraftool.image.metadata_version import KRAFT_VERSION, METADATA_VERSION
from kraftool.reports.features.history import FeatureHistory, read_history
from kraftool.reports.features.model import (
    ClusterFeatures,
    FinalizedLevel,
    LevelSource,
    NodeSupport,
    ProcessRole,
    Source,
    StaticVoters,
)
from kraftool.reports.files.false_upgrade import false_upgrade
from kraftool.reports.files.locations import open_paths
from kraftool.reports.files.locations import unopened as unreadable
from kraftool.reports.findings.finding import Finding
from kraftool.reports.state.load import LoadedState, load_state
from kraftool.storage.entry import Entry, EntryPlace
from kraftool.storage.paths import Location, LocationKind

Progress = Callable[[str, int], None]
_WITH_META = (LocationKind.DATA_DIRECTORY, LocationKind.PROPERTIES, LocationKind.LIVE)


@dataclass(frozen=True, slots=True)
class _Loaded:
    source: Source
    state: LoadedState | None
    history: FeatureHistory


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
    loaded: list[_Loaded] = []
    locations, findings = open_paths(paths, settings_alone=True)
    for location in [*locations, *([] if leader is None else [leader])]:
        try:
            loaded.append(_load(location, progress))
        except KraftoolError as error:
            findings.append(unreadable(location.path, error))
    _refuse_clusters([reading.source for reading in loaded])
    states = [reading for reading in loaded if reading.state is not None]
    if not states and findings:
        raise KraftoolError(findings[0].text, hint=findings[0].advice)
    if not states:
        raise KraftoolError(
            f"{locations[0].path}: settings only: there is no state to read the features from",
            hint="name a data directory of the cluster too",
        )
    newest = max(states, key=lambda reading: (reading.source.epoch, reading.source.end_offset))
    cluster = _cluster(newest, [reading.source for reading in loaded])
    cluster = replace(cluster, nodes=(*_running(cluster, controllers or {}), *cluster.nodes))
    return replace(cluster, findings=(*findings, *cluster.findings)) if findings else cluster


def _running(
    cluster: ClusterFeatures, controllers: Mapping[int, Mapping[str, FeatureRange]]
) -> Iterator[NodeSupport]:
    """Controllers that told their ranges themselves, as those of before 3.7 register nowhere."""
    known = {support.id for support in cluster.of(ProcessRole.CONTROLLER)}
    for node_id, ranges in sorted(controllers.items()):
        if node_id not in known and ranges:
            yield NodeSupport(role=ProcessRole.CONTROLLER, id=node_id, ranges=ranges)


def _load(location: Location, progress: Progress) -> _Loaded:
    path = location.path
    source = _source(path, location)
    if location.kind is LocationKind.PROPERTIES and not location.directory:
        return _Loaded(source, None, FeatureHistory())
    where = location if location.kind is LocationKind.LIVE else path
    state = load_state(where, progress=progress)
    last = state.image.provenance
    source = replace(
        source,
        end_offset=state.end_offset,
        epoch=last.last_epoch,
        timestamp=last.last_timestamp,
        metadata_version=state.image.features.metadata_version,
    )
    return _Loaded(source, state, read_history(where, state.snapshot, state.end_offset, progress))


def _source(path: str, location: Location) -> Source:
    source = Source(path=path, missing=location.missing)
    if location.server is not None:
        quorum_settings = settings_of(path, location.server)
        ids = tuple(sorted(static_voter.id for static_voter in quorum_settings.static_voters))
        listed = location.server.get("log.dirs") or location.server.get("log.dir") or ""
        source = replace(
            source,
            node_id=quorum_settings.node_id,
            broker="broker" in quorum_settings.roles,
            log_dirs=len([part for part in listed.split(",") if part.strip()]),
            static_voters=StaticVoters(ids=ids, file=path) if ids else None,
        )
    if location.kind in _WITH_META:
        for entry in location.entries():
            if isinstance(entry, Entry) and entry.basename == "meta.properties":
                if entry.place is EntryPlace.ROOT:
                    with entry.open() as content:
                        meta, _ = meta_properties.decode(content.read_at(0, 1 << 16))
                    source = replace(source, node_id=meta.node_id, cluster_id=meta.cluster_id)
                break
    return source


def _refuse_clusters(sources: Sequence[Source]) -> None:
    members = [source for source in sources if source.cluster_id]
    for source in members[1:]:
        if source.cluster_id != members[0].cluster_id:
            raise KraftoolError(
                f"{source.path} belongs to cluster {source.cluster_id}, {members[0].path} to"
                f" cluster {members[0].cluster_id}",
                hint="name the directories of one cluster",
            )


def _cluster(newest: _Loaded, sources: Sequence[Source]) -> ClusterFeatures:
    state, history = newest.state, newest.history
    assert state is not None, "the newest one has a state"
    levels = _levels(state, history)
    voters = state.controls.get(ControlRecordType.KRAFT_VOTERS)
    ranges = _voter_ranges(voters.value) if voters is not None else {}
    leader = state.controls.get(ControlRecordType.LEADER_CHANGE)
    findings = [*state.findings, *_false_upgrade(state.path, levels[KRAFT_VERSION], history)]
    return ClusterFeatures(
        image=state.image,
        sources=tuple(replace(source, newest=source is newest.source) for source in sources),
        levels=levels,
        nodes=_nodes(state.image.cluster),
        voters=tuple(sorted(ranges)),
        voter_ranges=ranges,
        static_voters=None if ranges else _static(sources),
        leader_id=leader.value["leaderId"] if leader is not None else None,
        logged=history.types,
        whole=state.is_whole,
        findings=tuple(findings),
    )


def _levels(state: LoadedState, history: FeatureHistory) -> dict[str, FinalizedLevel]:
    features = state.image.features
    levels = {}
    if features.metadata_version is not None:
        levels[METADATA_VERSION] = features.metadata_version
    levels |= {name: features.finalized[name] for name in sorted(features.finalized)}
    for name, setting in sorted(history.settings.items()):
        if setting.level == 0 and name != KRAFT_VERSION:
            levels.setdefault(name, 0)
    finalized_levels = {name: _level(name, level, state, history) for name, level in levels.items()}
    return finalized_levels | {KRAFT_VERSION: _kraft_version(state, history)}


def _level(name: str, level: int, state: LoadedState, history: FeatureHistory) -> FinalizedLevel:
    setting = history.settings.get(name)
    if setting is None or setting.level != level:
        return FinalizedLevel(
            name=name, level=level, evidence=LevelSource.SNAPSHOT, file=state.snapshot
        )
    return FinalizedLevel(
        name=name,
        level=level,
        evidence=LevelSource.LOG,
        file=setting.file,
        offset=setting.offset,
        timestamp=setting.timestamp,
    )


def _kraft_version(state: LoadedState, history: FeatureHistory) -> FinalizedLevel:
    control = state.controls.get(ControlRecordType.KRAFT_VERSION)
    if control is not None and parse_checkpoint_name(_base(control.file)) is None:
        return FinalizedLevel(
            name=KRAFT_VERSION,
            level=control.value["kRaftVersion"],
            evidence=LevelSource.LOG,
            file=control.file,
            offset=control.offset,
            timestamp=control.timestamp,
        )
    if control is not None:
        return _level(KRAFT_VERSION, control.value["kRaftVersion"], state, history)
    setting = history.settings.get(KRAFT_VERSION)
    if setting is not None:
        return _level(KRAFT_VERSION, setting.level, state, history)
    return FinalizedLevel(name=KRAFT_VERSION, level=0)


def _false_upgrade(path: str, kraft: FinalizedLevel, history: FeatureHistory) -> list[Finding]:
    claimed = history.claimed_kraft_version
    if claimed is None:
        return []
    in_log = parse_checkpoint_name(_base(claimed.file)) is None
    where, offset = claimed.file or path, claimed.offset if in_log else None
    finding = false_upgrade(where, claimed.level, kraft.level, offset=offset)
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


def _static(sources: Sequence[Source]) -> StaticVoters | None:
    """The voters of the first settings that name any."""
    return next(
        (source.static_voters for source in sources if source.static_voters is not None), None
    )


def _nodes(cluster: ClusterImage) -> tuple[NodeSupport, ...]:
    controllers = [
        NodeSupport(role=ProcessRole.CONTROLLER, id=controller.id, ranges=controller.features)
        for controller in sorted(cluster.controllers.values(), key=lambda one: one.id)
    ]
    brokers = [
        NodeSupport(
            role=ProcessRole.BROKER,
            id=broker.id,
            ranges=broker.features,
            fenced=broker.fenced,
            directories=len(broker.directories),
        )
        for broker in sorted(cluster.brokers.values(), key=lambda one: one.id)
    ]
    return (*controllers, *brokers)
