"""The state of a quorum: whose directories are there, who votes, whether a majority is left.

Owns what is decided before any method is: one cluster, one kraft.version, the newest voters that
can be trusted, and that a voter whose directory was not given is lost only if a person says so.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from kraftool.decoders.errors import KraftoolError
from kraftool.image.metadata_version import METADATA_VERSION, release_name
from kraftool.raft.names import NO_VOTERS, Voter, VoterSet
from kraftool.repair.plan import Risk
from kraftool.repair.ranking import (
    Host,
    hosts_of,
    is_voter,
    parts_in_one_epoch,
)
from kraftool.repair.refusal import PlanRefused
from kraftool.repair.request import Acceptance, PlanRequest
from kraftool.repair.survey import Survey
from kraftool.reports.text.words import listed

_FIRST_SAFE_LEVEL = 22
"""metadata.version 4.0-IV0: whoever runs on it is Kafka 4.0 or later."""
_SAFE = (3, 9, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedQuorum:
    """The quorum, as the directories tell it."""

    request: PlanRequest
    hosts: tuple[Host, ...]
    """The nodes of the one cluster; foreign ones are left out."""
    log_dirs: tuple[Host, ...] = ()
    """Their further log directories, with topics and without metadata: no nodes of their own."""
    foreign: tuple[Host, ...] = ()
    cluster_id: str
    kraft_version: int
    voters: VoterSet
    leader: Host
    """The one that an election would put first, over what can be trusted."""
    present: tuple[Host, ...] = field(default_factory=tuple)
    """Voters whose directory is there and has metadata; not those that are said to be lost, of whom
    a snapshot is left alone."""
    renamed: tuple[Host, ...] = ()
    """Voters by their id, whose directory id is another than the record's."""
    lost: VoterSet = NO_VOTERS
    missing: VoterSet = NO_VOTERS
    """Neither given nor said to be lost."""

    @property
    def majority(self) -> int:
        return self.voters.majority

    @property
    def enough(self) -> int:
        """So many voters have every committed record between them: each majority has one of them.

        Dynamic voters count from the append on. So the others may have added one more that nobody
        here knows of, and be a majority with it: half of an even number is not enough then.
        """
        return self.majority if self.kraft_version > 0 else len(self.voters) - self.majority + 1

    @property
    def is_lost(self) -> bool:
        """True if the voters that are left, however they are, are no majority."""
        return bool(self.voters) and len(self.voters) - len(self.lost) < self.majority

    @property
    def nameless(self) -> tuple[Host, ...]:
        """Directories with metadata that may be voters', but for meta.properties; best first."""
        ids = {None, *self.voters.ids}
        hosts = [
            host
            for host in self.hosts
            if host.survey.meta_complaint and host.has_metadata and host.node_id in ids
        ]
        return tuple(sorted(hosts, key=lambda host: host.rank, reverse=True))

    @property
    def without_log(self) -> tuple[Voter, ...]:
        """Voters whose log is gone, with all that they confirmed: lost ones, and those of whose
        directory nothing or a snapshot is left. Of one that was not given nothing is known."""
        gone = {host.node_id for host in self.hosts if self.votes(host) and host.lost_log}
        return tuple(voter for voter in self.voters if voter.id in self.lost.ids | gone)

    @property
    def reach(self) -> int:
        return max(host.survey.reach for host in self.hosts)

    @property
    def highest_epoch(self) -> int:
        return max(host.survey.highest_epoch for host in self.hosts)

    def votes(self, host: Host) -> bool:
        """True if it is a voter's directory, or one again once its lost meta.properties is back."""
        is_nameless = bool(host.survey.meta_complaint) and not host.survey.identity.directory_id
        return is_voter(host, self.voters) or (
            is_nameless and host.has_metadata and host in self.renamed
        )

    def host_of(self, node_id: int) -> Host | None:
        """A node's directory: the one with metadata, if there is one."""
        own = [host for host in self.hosts if host.node_id == node_id]
        with_metadata = [host for host in own if host.has_metadata]
        return next(iter(with_metadata or own), None)


def with_surveys(quorum: SurveyedQuorum, made: Mapping[str, Survey]) -> SurveyedQuorum:
    """The quorum with other surveys of some hosts, by their names."""

    hosts = {
        host.name: replace(host, survey=made[host.name]) if host.name in made else host
        for host in quorum.hosts
    }
    return replace(
        quorum,
        hosts=tuple(hosts.values()),
        present=tuple(hosts[host.name] for host in quorum.present),
        renamed=tuple(hosts[host.name] for host in quorum.renamed),
        leader=hosts.get(quorum.leader.name, quorum.leader),
    )


def surveyed_quorum(request: PlanRequest) -> SurveyedQuorum:
    """Return how things stand. Raises KraftoolError where too little is known for any plan."""
    hosts = hosts_of(request.surveys, request.restored)
    _refuse_twice(hosts)
    _refuse_half_done(hosts)
    cluster_id = _cluster_id(hosts)
    of_cluster = tuple(host for host in hosts if _cluster(host) in ("", cluster_id))
    foreign = tuple(host for host in hosts if host not in of_cluster)
    own = tuple(host for host in of_cluster if not host.is_log_dir)
    with_metadata = [host for host in own if host.has_metadata]
    if not with_metadata:
        raise KraftoolError(
            "no directory has any metadata: there is nothing to continue from",
            hint="name the metadata directories of all surviving controllers and brokers",
        )
    leader = max(with_metadata, key=lambda host: (host.rank, len(host.survey.voters) > 0))
    knowing = _knowing(leader, with_metadata)
    voter_set = knowing.survey.voters or _told_voters(with_metadata)
    voters = VoterSet.of(*sorted(voter_set, key=lambda voter: voter.id))
    level = knowing.survey.kraft_version
    if level is None:
        level = max((host.survey.kraft_version or 0 for host in with_metadata), default=0)
    present = tuple(
        host
        for host in with_metadata
        if is_voter(host, voters) and not (host.lost_log and host.node_id in request.lost)
    )
    _refuse_one_voter_twice(present)
    ids = {host.node_id for host in present}
    renamed = tuple(host for host in own if host.node_id not in ids and host.node_id in voters.ids)
    absent = [voter for voter in voters if voter.id not in ids]
    _refuse_not_lost(request, voters, ids)
    known = {host.node_id for host in renamed}
    return SurveyedQuorum(
        request=request,
        hosts=own,
        log_dirs=tuple(host for host in of_cluster if host.is_log_dir),
        foreign=foreign,
        cluster_id=cluster_id,
        kraft_version=level,
        voters=voters,
        leader=leader,
        present=present,
        renamed=renamed,
        lost=VoterSet.of(*(voter for voter in absent if voter.id in request.lost)),
        missing=VoterSet.of(*(voter for voter in absent if voter.id not in request.lost | known)),
    )


def _cluster(host: Host) -> str:
    return host.survey.identity.cluster_id


def _cluster_id(hosts: tuple[Host, ...]) -> str:
    """That of most nodes; of those with metadata where as many have another."""
    nodes = [host for host in hosts if host.survey.node is not None] or hosts
    counts = Counter(_cluster(host) for host in nodes if _cluster(host))
    best = max(
        counts,
        key=lambda cluster_id: (
            counts[cluster_id],
            max(host.rank for host in hosts if _cluster(host) == cluster_id),
        ),
        default="",
    )
    return str(best)


def _knowing(leader: Host, hosts: list[Host]) -> Host:
    """Return whose record of the voters counts: the leader's, unless what came before its log is
    missing, and the record with it.
    """
    survey = leader.survey
    if survey.voters_offset is not None or (survey.state is not None and survey.state.whole):
        return leader
    recorded = [host for host in hosts if host.survey.voters_offset is not None]
    return max(recorded, key=lambda host: host.rank, default=leader)


def _told_voters(hosts: list[Host]) -> VoterSet:
    for candidate in sorted(hosts, key=lambda host: host.rank, reverse=True):
        if candidate.survey.voters:
            return candidate.survey.voters
    return NO_VOTERS


def _refuse_twice(hosts: tuple[Host, ...]) -> None:
    seen: dict[tuple[int | None, str, str], Host] = {}
    for host in hosts:
        identity = host.survey.identity
        if host.node_id is None or not identity.directory_id or host.is_log_dir:
            continue
        key = (host.node_id, identity.directory_id, identity.cluster_id)
        if key in seen:
            raise KraftoolError(
                f"{seen[key].survey.path} and {host.survey.path} are the same directory, of"
                f" node {host.node_id}",
                hint="name each directory once, in its newest state",
            )
        seen[key] = host


def _refuse_half_done(hosts: tuple[Host, ...]) -> None:
    """A directory between two states is neither; what it was is in the plan that is half done."""
    for host in hosts:
        if host.survey.half_done:
            raise PlanRefused(
                f"{host.name} ({host.survey.path}): another recovery plan is half done there",
                hint=host.survey.half_done,
            )


def _refuse_one_voter_twice(present: tuple[Host, ...]) -> None:
    """Refuse two directories of one voter: an old copy would count as one more voter."""
    seen: dict[int | None, Host] = {}
    for host in present:
        other = seen.setdefault(host.node_id, host)
        if other is not host:
            raise KraftoolError(
                f"{other.survey.path} and {host.survey.path} both belong to voter {host.node_id}",
                hint="give the one that the node starts on, in its newest state",
            )


def _refuse_not_lost(request: PlanRequest, voters: VoterSet, there: set[int | None]) -> None:
    """Refuse to call lost what is not a voter, or a voter whose directory was given."""
    known = sorted(voters.ids)
    if request.lost and not known:
        raise unknown_voters("kraftool cannot tell whether a majority is lost")
    for id_ in sorted(request.lost):
        if id_ not in known:
            raise KraftoolError(
                f"--set lost={id_}: node {id_} is not a voter",
                hint=f"the voters are {', '.join(map(str, known))}",
            )
        if id_ in there:
            raise KraftoolError(
                f"--set lost={id_}: the directory of voter {id_} was given, and has its log",
                hint="leave it out of lost. To let one voter lead alone although a majority"
                " exists, with the best state of all: --set seed=ID",
            )


def unknown_voters(but: str) -> KraftoolError:
    """Return the refusal of files that name no voters: log, snapshot, quorum-state, settings."""
    return KraftoolError(
        f"no whole file that was given names the voters: {but}",
        hint="give the directories of the other nodes too. If this is a voter's last directory,"
        " and its metadata is gone, count it as lost: leave it out, and declare that with"
        " --set lost=ID,…",
    )


def refuse_missing(quorum: SurveyedQuorum) -> None:
    """Nobody but a person knows that a voter's disk is lost. Raises KraftoolError for those of
    whom nothing was said."""
    if not quorum.missing:
        return
    for host in quorum.nameless:
        refuse_nameless(host)
    ids = listed(voter.id for voter in quorum.missing)
    several = len(quorum.missing) > 1
    lost = ",".join(
        sorted({*map(str, quorum.request.lost), *(str(one.id) for one in quorum.missing)})
    )
    raise KraftoolError(
        f"the director{'ies' if several else 'y'} of voter{'s' if several else ''}"
        f" {ids} {'were' if several else 'was'} not given",
        hint="if their disks can be read, run recover collect there too and give the file. If they"
        f" are gone for good, declare it: --set lost={lost}",
    )


def refuse_nameless(host: Host) -> None:
    if host.node_id is None:
        complaint = host.survey.meta_complaint or "it has no node.id"
        raise KraftoolError(
            f"{host.survey.path} does not show which node it belongs to: meta.properties:"
            f" {complaint}",
            hint="name the node's server.properties instead of the directory",
        )


def common_risks(quorum: SurveyedQuorum) -> Iterator[Risk]:
    """Yield what is said of any plan that changes something."""
    for stray in quorum.foreign:
        yield Risk(
            word=Acceptance.OTHER_CLUSTER.value,
            text=f"{stray.name} ({stray.survey.path}) belongs to cluster {_cluster(stray)}, and the"
            f" others to {quorum.cluster_id}. It is left out of the plan",
        )
    running = [host.name for host in quorum.hosts if host.survey.running]
    if running:
        yield Risk(
            word=Acceptance.RUNNING.value,
            text=f"a process was running on {', '.join(running)} when they were read: the files may"
            " not be as the plan expects",
        )
    for one in quorum.hosts:
        for other in quorum.hosts:
            parted = parts_in_one_epoch(one.survey, other.survey) if one.name < other.name else None
            if parted is not None:
                yield Risk(
                    word=Acceptance.DIVERGED.value,
                    text=f"{one.name} and {other.name} have other records near offset {parted} in"
                    " the same epoch: somebody altered one of the logs, or two leaders wrote",
                )


def kafka_risk(quorum: SurveyedQuorum, state_level: int | None) -> Risk | None:
    """Before 3.9.1 a Kafka that is given voters without an overlap with the old ones dies.

    Raises KraftoolError where the release must be known and nothing tells.
    """
    release = quorum.request.kafka_version
    if not release:
        if state_level is not None and state_level >= _FIRST_SAFE_LEVEL:
            return None
        least = (
            release_name(METADATA_VERSION, state_level) if state_level is not None else "unknown"
        )
        raise KraftoolError(
            f"kraftool cannot tell which Kafka runs here: metadata.version {least} is only a"
            " lower bound, and before 3.9.1 Kafka exits on voters that were changed by force",
            hint="name the oldest release on any controller or broker: --kafka-version 3.9.1",
        )
    numbers = tuple(int(part) for part in release.split(".") if part.isascii() and part.isdigit())
    if len(numbers) < 2:
        raise KraftoolError(f"--kafka-version {release} is not a release", hint="for example 4.1.1")
    if (*numbers, 0)[:3] >= _SAFE:
        return None
    return Risk(
        word=Acceptance.OLD_KAFKA.value,
        text=f"Kafka {release} exits on voters that were changed by force (fixed in 3.9.1): install"
        " 3.9.1 or later on every node first",
    )


def bootstrap_option(quorum: SurveyedQuorum) -> str:
    """The option that names a controller, where one is known: a directory tells of no leader."""
    listeners = [
        quorum.request.endpoints_of(voter.id) or voter.endpoints
        for voter in quorum.voters
        if voter.id not in quorum.lost.ids
    ]
    first = [endpoint for endpoints in listeners for endpoint in islice(endpoints.values(), 1)]
    addresses = ",".join(str(endpoint) for endpoint in first if endpoint.host and endpoint.port)
    return f" --bootstrap-controller {shlex.quote(addresses)}" if addresses else ""
