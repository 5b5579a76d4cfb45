"""A majority of the voters is lost: which survivor leads, with whose state, by which method.

Owns the choice:

- append: a VotersRecord under a higher epoch, in a new segment at the end of the log. Only where
  nobody is ahead of the seed, and every registered node was looked at.
- snapshot jump: the whole state as a checkpoint at a higher offset and epoch than anybody has, and
  the log dropped. Whoever was ahead takes it, and with it the new voters.
- static properties: with kraft.version 0 the voters are a setting; with a jump where somebody is,
  or may be, ahead.

Each of them may be fenced off by a new cluster id. It refuses to make edits (`majority.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from kraftool.decoders.errors import KraftoolError
from kraftool.raft.endpoints import read_endpoint
from kraftool.raft.names import NO_VOTERS, Endpoints, ReplicaKey, VersionRange, Voter, VoterSet
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION
from kraftool.repair.edit_builder import (
    LARGEST_EPOCH,
    Frame,
)
from kraftool.repair.plan import LostRecords, Method
from kraftool.repair.ranking import Host, beyond, is_ahead, is_voter
from kraftool.repair.survey import Misfit, SurveyedState
from kraftool.repair.surveyed_quorum import SurveyedQuorum, refuse_nameless

EPOCH_MARGIN = 1000
"""Beyond every epoch that is known: an election a minute, for most of a day, on nodes that nobody
can look at."""
OFFSET_MARGIN = 1_000_000
"""Beyond every offset that is known, for records on nodes that nobody can look at."""
_LARGEST_OFFSET = 1 << 62
_JUMPING = frozenset({Method.SNAPSHOT_JUMP, Method.STATIC_PROPERTIES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The decision on the seed."""

    quorum: SurveyedQuorum
    method: Method
    seed: Host
    source: Host
    """Whose state it is."""
    state: SurveyedState
    state_offset: int
    jumps: bool
    """True if the state goes into a checkpoint beyond every log."""
    voter: Voter
    frame: Frame
    lost_records: tuple[LostRecords, ...]
    left_out: tuple[Misfit, ...] = ()
    """Records that kill controllers: a checkpoint of the state is without them."""
    cluster_id: str
    """From now on."""

    @property
    def is_fenced(self) -> bool:
        return self.cluster_id != self.quorum.cluster_id

    @property
    def voters_after(self) -> VoterSet:
        return VoterSet.of(self.voter)

    @property
    def static(self) -> bool:
        return self.quorum.kraft_version == 0

    @property
    def fenced_log_dirs(self) -> tuple[Host, ...]:
        """Further log directories of kept nodes, which get the new cluster id too."""
        log_dirs = self.quorum.log_dirs if self.is_fenced else ()
        return tuple(log_dir for log_dir in log_dirs if not log_dir.survey.meta_complaint)

    @property
    def quarantined(self) -> tuple[Voter, ...]:
        """The old voters: all but the seed, and the seed with another directory id."""
        own = (None, self.voter.directory_id)
        return tuple(
            voter
            for voter in self.quorum.voters
            if voter.id != self.voter.id or voter.directory_id not in own
        )

    @property
    def brokers(self) -> frozenset[int]:
        """The brokers of the state, and given nodes that their own state or settings call one."""
        own = {
            host.node_id
            for host in self.quorum.hosts
            if host.node_id is not None and host.survey.is_broker
        }
        return frozenset({*self.state.brokers, *own})

    @property
    def quarantined_brokers(self) -> frozenset[int]:
        """Old voters that are brokers too: their topics stay, and their metadata must go."""
        return self.brokers & ({voter.id for voter in self.quarantined} - {self.voter.id})


def choose(quorum: SurveyedQuorum) -> Choice:
    request = quorum.request
    seed = _seed(quorum)
    source = _source(quorum, seed)
    state = source.survey.state
    if request.rollback is not None and source.survey.earlier is not None:
        state = source.survey.earlier
    if state is not None and request.rollback not in (None, state.end_offset):
        raise KraftoolError(
            f"the state of {source.name} at offset {request.rollback} was not collected",
            hint=f"name its directory, or run recover collect there with --at {request.rollback}",
        )
    if state is None or not state.records_sha256:
        why = state.complaint if state is not None else "there is none"
        raise KraftoolError(
            f"the state of {source.name} cannot be used: {why}",
            hint="use another's with --set state=ID"
            + (", or give another --set rollback=OFFSET" if request.rollback is not None else ""),
        )
    _refuse_others_endpoints(quorum, seed)
    if request.fence and request.cluster_id == quorum.cluster_id:
        raise KraftoolError(
            f"--set cluster.id={request.cluster_id} is already the cluster's id, so it fences"
            " nothing off",
            hint="leave it out: --fence generates a new one",
        )
    left_out = _left_out(quorum, source, state.end_offset)
    method = _method(quorum, seed, source)
    jumps = method is not Method.APPEND and not (
        method is Method.STATIC_PROPERTIES
        and request.method is not Method.SNAPSHOT_JUMP
        and _can_stay(quorum, seed, source)
        and _all_known(quorum, state)
    )
    epoch = _epoch(quorum)
    voter = _voter(quorum, seed)
    lost = [
        beyond(host, source.survey, state.end_offset, state.last_epoch)
        for host in (source, *quorum.hosts)
    ]
    by_host = {lost_records.host: lost_records for lost_records in lost if lost_records is not None}
    return Choice(
        quorum=quorum,
        method=method,
        seed=seed,
        source=source,
        state=state,
        state_offset=state.end_offset,
        jumps=jumps,
        voter=voter,
        frame=Frame(
            offset=_offset(quorum) if jumps else seed.survey.end.offset,
            epoch=epoch,
            kraft_version=quorum.kraft_version,
            voters=VoterSet.of(voter) if quorum.kraft_version > 0 else NO_VOTERS,
            timestamp_ms=request.now_ms,
        ),
        lost_records=tuple(by_host.values()),
        left_out=left_out if jumps else (),
        cluster_id=request.cluster_id if request.fence else quorum.cluster_id,
    )


def _seed(quorum: SurveyedQuorum) -> Host:
    """The best voter that is left: the last valid epoch first, then the offset."""
    wanted = quorum.request.seed
    if wanted is not None:
        host = quorum.host_of(wanted)
        if host is None:
            raise KraftoolError(
                f"--set seed={wanted}: no directory of node {wanted} was given",
                hint="give its directory, formatted for this cluster if it is a new controller",
            )
        return host
    candidates = [host for host in quorum.present if host.survey.state is not None]
    if not candidates:
        for nameless_host in quorum.nameless:
            refuse_nameless(nameless_host)
            _refuse_without_ids(quorum, nameless_host)
        raise KraftoolError(
            "no voter's directory is left that could be the seed",
            hint="format a new controller for this cluster (kraftool format -N), give its"
            " directory too, and choose it: --set seed=ID. It gets the state of the best"
            " broker",
        )
    return max(candidates, key=lambda host: (host.rank, host.survey.intact))


def _source(quorum: SurveyedQuorum, seed: Host) -> Host:
    """Return whose state it is: the best one, also a broker's, so that nothing that is left is
    lost.
    """
    wanted = quorum.request.state
    if wanted is not None:
        host = quorum.host_of(wanted)
        if host is None or host.survey.state is None:
            raise KraftoolError(
                f"--set state={wanted}: there is no state of node {wanted}",
                hint="give its directory, or leave it out: kraftool then uses the best state",
            )
        return host
    usable = [
        host
        for host in quorum.hosts
        if host.survey.state is not None
        and host.survey.state.records_sha256
        and host.survey.state.whole
    ]
    if not usable:
        return seed
    best = max(usable, key=lambda host: (host.rank, host is seed))
    return seed if seed in usable and seed.rank == best.rank else best


def _refuse_others_endpoints(quorum: SurveyedQuorum, seed: Host) -> None:
    """Only the one voter of the new quorum is written down with its endpoints."""
    others = [id_ for id_, _ in quorum.request.endpoints if id_ != seed.node_id]
    if others:
        raise KraftoolError(
            f"--set endpoint.{others[0]}=…: {seed.name} is the only voter from now on, and no"
            " other node has an endpoint",
            hint=f"leave it out, or choose that one: --set seed={others[0]}",
        )


def _left_out(quorum: SurveyedQuorum, source: Host, end: int) -> tuple[Misfit, ...]:
    """Records of the state's log that do not fit it, which a replay passed over. One that was asked
    for has to be among them."""
    log, wanted = source.survey.log, quorum.request.poison
    known = log.misfits if log is not None else ()
    if wanted is not None and not any(
        misfit.base_offset <= wanted <= misfit.last_offset for misfit in known
    ):
        raise KraftoolError(
            f"--set poison={wanted}: {source.name}, whose state is used, has no record at"
            f" offset {wanted} that could not be applied",
            hint="leave it out, or go back before it: --set rollback=OFFSET keeps the records"
            " below that offset. kraftool verify-log names records that do not fit",
        )
    return tuple(misfit for misfit in known if misfit.offset < end)


def _nobody_ahead(quorum: SurveyedQuorum, seed: Host, source: Host) -> bool:
    end = seed.survey.end
    return source is seed and not any(
        is_ahead(host.survey, end) for host in quorum.hosts if host is not seed
    )


def _can_stay(quorum: SurveyedQuorum, seed: Host, source: Host) -> bool:
    """True if the seed can go on with its own log: whole, all of it wanted, and nobody ahead."""
    log = seed.survey.log
    return (
        _nobody_ahead(quorum, seed, source)
        and log is not None
        and log.intact_end == seed.survey.end.offset
        and seed.survey.intact
        and quorum.request.rollback is None
        and not log.misfits
    )


def _all_known(quorum: SurveyedQuorum, state: SurveyedState) -> bool:
    """True if every registered node was looked at, but for voters that are lost."""
    known = {host.node_id for host in quorum.hosts if host.has_metadata}
    registered = {*state.brokers, *state.controllers} - quorum.lost.ids
    return registered <= known


def _method(quorum: SurveyedQuorum, seed: Host, source: Host) -> Method:
    request, state = quorum.request, source.survey.state
    if quorum.kraft_version == 0:
        if request.method not in (None, *_JUMPING):
            raise KraftoolError(
                f"--method {request.method}: at kraft.version 0 the voters are a setting",
                hint="use --method static-properties",
            )
        return Method.STATIC_PROPERTIES
    can_append = _can_stay(quorum, seed, source) and is_voter(seed, quorum.voters)
    if request.method is Method.APPEND:
        if not can_append:
            raise KraftoolError(
                "--method append: another node is ahead of the seed, or the seed's log is not"
                " whole. A node that is ahead would return with the old voters, or exit",
                hint="use the snapshot jump, which is the default here",
            )
        return Method.APPEND
    if request.method not in (None, Method.SNAPSHOT_JUMP):
        raise KraftoolError(
            f"--method {request.method} cannot restore a lost majority",
            hint="use snapshot-jump, or append if no node is ahead",
        )
    if request.method is Method.SNAPSHOT_JUMP or request.fence or not can_append:
        return Method.SNAPSHOT_JUMP
    known = state is not None and _all_known(quorum, state)
    return Method.APPEND if known else Method.SNAPSHOT_JUMP


def _epoch(quorum: SurveyedQuorum) -> int:
    """Above every epoch that is known; one that leaves no room above it is false."""
    highest, wanted = quorum.highest_epoch, quorum.request.epoch
    has_room = highest < LARGEST_EPOCH - EPOCH_MARGIN
    least = highest if has_room else 0
    if wanted is not None:
        if not least < wanted < LARGEST_EPOCH:
            raise KraftoolError(
                f"--set epoch={wanted}: it must be above {least}, and below {LARGEST_EPOCH}"
            )
        return wanted
    if not has_room:
        raise KraftoolError(
            f"epoch {highest} is too close to the highest possible epoch",
            hint="one of the files has a false epoch: find it with kraftool doctor, and name one"
            " above all others: --set epoch=N",
        )
    return highest + EPOCH_MARGIN


def _offset(quorum: SurveyedQuorum) -> int:
    """Above every offset that is known; one that leaves no room above it is false."""
    reach, wanted = quorum.reach, quorum.request.offset
    has_room = reach < _LARGEST_OFFSET - OFFSET_MARGIN
    least = reach if has_room else max(host.survey.end.offset for host in quorum.hosts)
    if wanted is not None:
        if not least < wanted < _LARGEST_OFFSET:
            raise KraftoolError(
                f"--set offset={wanted}: it must be above {least}, and below {_LARGEST_OFFSET}"
            )
        return wanted
    if not has_room:
        raise KraftoolError(
            f"offset {reach} is too close to the highest possible offset",
            hint="one of the files has a false offset, for example in a checkpoint's name: find it"
            " with kraftool doctor, and name one above all others: --set offset=N",
        )
    return reach + OFFSET_MARGIN


def _voter(quorum: SurveyedQuorum, seed: Host) -> Voter:
    """The seed as the one voter, with where it is reached."""
    known = quorum.voters.get(seed.node_id)
    refuse_nameless(seed)
    assert seed.node_id is not None, "or it is refused"
    endpoints = quorum.request.endpoints_of(seed.node_id)
    if not endpoints and known is not None:
        endpoints = _reachable(known.endpoints)
    if not endpoints and seed.survey.settings is not None:
        endpoints = _reachable(dict(map(read_endpoint, seed.survey.settings.listeners)))
    if not endpoints:
        raise KraftoolError(
            f"kraftool does not know the controller endpoint of node {seed.node_id}",
            hint=f"set it: --set endpoint.{seed.node_id}=CONTROLLER://host:9093, or name its"
            " server.properties instead of the directory",
        )
    _refuse_without_ids(quorum, seed)
    if quorum.kraft_version == 0:
        return Voter(
            key=ReplicaKey(seed.node_id),
            endpoints=dict(islice(endpoints.items(), 1)),
            kraft_version=SUPPORTED_KRAFT_VERSION,
        )
    supported = known.kraft_version if known is not None else SUPPORTED_KRAFT_VERSION
    return Voter(
        key=ReplicaKey(seed.node_id, seed.survey.identity.directory_id),
        endpoints=endpoints,
        kraft_version=VersionRange(supported.min, max(supported.max, quorum.kraft_version)),
    )


def _reachable(endpoints: Endpoints) -> Endpoints:
    return {
        name: endpoint for name, endpoint in endpoints.items() if endpoint.host and endpoint.port
    }


def _refuse_without_ids(quorum: SurveyedQuorum, seed: Host) -> None:
    """A voter of the new quorum goes by its meta.properties, which a plan relies on."""
    survey = seed.survey
    has_ids = quorum.kraft_version == 0 or survey.identity.directory_id
    if not survey.meta_complaint and has_ids:
        return
    known = quorum.voters.get(seed.node_id)
    cluster_id = quorum.cluster_id or "CLUSTER_ID"
    lines = ["version=1", f"cluster.id={cluster_id}", f"node.id={seed.node_id}"]
    if known is not None and known.directory_id:
        lines.append(f"directory.id={known.directory_id}")
    hint = f"write it by hand first, and plan again: {', '.join(lines)}, one per line"
    if not quorum.cluster_id:
        hint += "; CLUSTER_ID is in the meta.properties of every other node, brokers too"
    why = survey.meta_complaint or "it has no directory.id, but a voter needs one"
    raise KraftoolError(f"{survey.path} cannot be the seed: meta.properties: {why}", hint=hint)
