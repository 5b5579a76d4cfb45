"""The directories that belong together, whatever their meta.properties say.

Owns the traces that a directory's log and snapshots leave, and what follows from them: a directory
that holds another cluster's log than its cluster.id says, and two clusters under one cluster.id.
The same bytes at the same offset are a trace: a batch's CRC covers times and ids. It refuses to
compare logs batch by batch; that is `divergence.py`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, takewhile
from os.path import dirname
from typing import NamedTuple

from kraftool.raft.names import majority_of
from kraftool.reports.doctor.log_statistics import LogStatistics
from kraftool.reports.verify.snapshot_values import VerifiedSnapshot

_MOST = 1000
"""So many traces are kept of each kind, the newest ones."""
_SAMPLED = 0xFF
"""One batch in 256 is a trace as well, chosen by its CRC: on every node the same ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """The traces by which a log differs from any other."""

    tokens: frozenset[int] = frozenset()
    epochs: Mapping[int, int] = field(default_factory=dict)
    """By epoch, the token of the batch that begins it."""

    def contradict(self, other: Traces) -> bool:
        """True if these are logs of different quorums: an epoch begins otherwise, and all else
        differs too. Where logs merely have no part in common, nothing is known."""
        if self.tokens & other.tokens:
            return False
        return any(other.epochs.get(epoch, token) != token for epoch, token in self.epochs.items())

    def parted_from(self, other: Traces) -> bool:
        """True if the newest epoch that both have begins with different batches."""
        both = self.epochs.keys() & other.epochs.keys()
        return bool(both) and self.epochs[max(both)] != other.epochs[max(both)]


NO_TRACES = Traces()


def traces_of(statistics: LogStatistics | None, snapshots: Iterable[VerifiedSnapshot]) -> Traces:
    """The traces of a directory's log and snapshots."""
    epochs, sampled = _of_log(statistics) if statistics is not None else ({}, [])
    states = [
        _token(snapshot.offset, snapshot.epoch, snapshot.state_hash)
        for snapshot in snapshots
        if snapshot.broker_epochs  # registrations have random ids; an empty state is like any other
    ]
    tokens = frozenset((*epochs.values(), *sampled, *states[-_MOST:]))
    return Traces(tokens=tokens, epochs=epochs)


def _of_log(statistics: LogStatistics) -> tuple[dict[int, int], list[int]]:
    epochs: dict[int, int] = {}
    sampled: list[int] = []
    last: int | None = None
    for offset, epoch, crc in zip(
        statistics.offsets, statistics.epochs, statistics.crcs, strict=True
    ):
        # The first batch of a cleaned log need not begin its epoch.
        if epoch != last and (last is not None or offset == 0):
            epochs[epoch] = _token(offset, epoch, crc)
        elif crc & _SAMPLED == 0:
            sampled.append(_token(offset, epoch, crc))
        last = epoch
    kept = list(epochs.items())[-_MOST:]
    return dict(kept), sampled[-_MOST:]


def _token(*parts: object) -> int:
    text = repr(parts).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), signed=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """A directory, as far as its belonging matters."""

    name: str
    cluster_id: str | None
    node_id: int | None
    voters: frozenset[int] = frozenset()
    """The ids of the newest voters that it knows."""
    traces: Traces = NO_TRACES
    directory_id: str | None = None
    seats: frozenset[tuple[int, str]] = frozenset()
    """The same voters with their directory ids, where they have some."""
    registered: frozenset[int] = frozenset()
    """The ids of the brokers and controllers whose registrations its log or snapshot has."""
    piece: int = 0
    """Not 0 where its log is of another quorum than those of most with its cluster id."""

    @property
    def home(self) -> str:
        """Return what it is taken for at first: its cluster, or without an id something by
        itself.
        """
        return self.cluster_id or f"\0{self.name}"

    @property
    def key(self) -> str:
        """The same, for each piece."""
        return f"{self.home}\0{self.piece}" if self.piece else self.home

    def sits_among(self, seats: frozenset[tuple[int, str]]) -> bool | None:
        """True if it is one of these voters by its directory id; None if that is unknown."""
        known = {directory for id, directory in seats if id == self.node_id}
        if self.directory_id is None or not known:
            return None
        return self.directory_id in known


@dataclass(frozen=True, slots=True, kw_only=True)
class Household:
    """The directories under one key, as far as everybody has to know."""

    key: str
    names: tuple[str, ...]
    node_ids: frozenset[int]
    voters: frozenset[int]
    home: str = ""
    members: tuple[Kin, ...] = ()
    """Without their traces."""
    claimed: frozenset[int] = frozenset()
    """The node ids of all pieces under its cluster id."""
    registered: frozenset[int] = frozenset()

    @property
    def is_piece(self) -> bool:
        """True if it is not what its cluster id stands for."""
        return any(member.piece for member in self.members)

    @property
    def is_part(self) -> bool:
        """True if these cannot be a whole quorum: they may be missing elsewhere."""
        return not self.voters or len(self.node_ids & self.voters) < majority_of(len(self.voters))

    @property
    def lacking(self) -> frozenset[int]:
        """The node ids that voters or registrations name, and that no directory here has."""
        return (self.voters | self.registered) - self.claimed - self.node_ids

    @property
    def seats(self) -> frozenset[tuple[int, str]]:
        """The voters that any of them knows, with directory ids."""
        return frozenset(seat for member in self.members for seat in member.seats)


def households(members: Iterable[Kin]) -> dict[str, Household]:
    """The members by key."""
    members_of: dict[str, list[Kin]] = {}
    claimed: dict[str, set[int]] = {}
    for member in members:
        members_of.setdefault(member.key, []).append(member)
        if member.node_id is not None:
            claimed.setdefault(member.home, set()).add(member.node_id)
    return {
        key: Household(
            key=key,
            names=tuple(sorted(member.name for member in some)),
            node_ids=frozenset(member.node_id for member in some if member.node_id is not None),
            voters=max((member.voters for member in some), key=len),
            home=some[0].home,
            members=tuple(some),
            claimed=frozenset(claimed.get(some[0].home, ())),
            registered=frozenset().union(*(member.registered for member in some)),
        )
        for key, some in members_of.items()
    }


def pieces(members: Sequence[Kin]) -> dict[str, int]:
    """Of one cluster id: the directories whose logs may be of another quorum than those of most,
    which what they have in common with other clusters has to show.

    Of equally many, those are at home whose directory ids are in their own logs' voters.
    """

    def weight(some: Sequence[Kin]) -> tuple[int, int]:
        return len(some), sum(member.sits_among(member.seats) is True for member in some)

    first, *others = sorted(
        _components(sorted(members, key=lambda member: member.name)), key=weight, reverse=True
    )
    seats = frozenset(seat for member in first for seat in member.seats)
    strange = [some for some in others if _contradict(first, some) or _are_unknown(some, seats)]
    return {member.name: number for number, some in enumerate(strange, 1) for member in some}


def _are_unknown(some: Sequence[Kin], seats: frozenset[tuple[int, str]]) -> bool:
    """True if logs that have nothing in common with most are not voters' of those either."""
    has_traces = any(member.traces.tokens for member in some)
    return has_traces and not any(member.sits_among(seats) for member in some)


def missing_from(part: Household, whole: Household) -> bool:
    """True if one household may be what another lacks: nodes of its own, and not the larger one.

    A cluster that lacks no node takes none, however alike the logs are: clusters that were made
    from one template begin with the same batches.
    A piece belongs nowhere by its cluster id, so that its directory ids alone can say that it does.
    """
    if part.key == whole.key or whole.is_piece:
        return False
    overlap = part.node_ids & (whole.claimed or whole.node_ids)
    if part.is_piece:
        seatings = [member.sits_among(whole.seats) for member in part.members]
        is_other = part.home != whole.home and not whole.key.startswith("\0")
        return is_other and False not in seatings and (not overlap or all(seatings))
    if not part.is_part or overlap or not whole.lacking or not part.node_ids <= whole.lacking:
        return False
    mine, theirs = len(part.names), len(whole.names)
    if whole.key.startswith("\0"):
        return part.key.startswith("\0") and part.names < whole.names
    return part.key.startswith("\0") or (mine, part.key) < (theirs, whole.key)


def holds_log_of(part: Household, whole: Household) -> bool:
    """True if the log in a piece that has no home may be another cluster's: one that was put beside
    a meta.properties which it does not go with."""
    return (
        part.is_piece
        and not whole.is_piece
        and part.home != whole.home
        and part.is_part
        and not any(member.sits_among(member.seats) for member in part.members)
    )


class Link(NamedTuple):
    """Two households that have traces in common."""

    part: str
    whole: str
    shared: int
    """So many traces both have."""
    own: int
    """So many of them no other cluster has."""


class Adoptions(NamedTuple):
    """The households that are part of another."""

    home_of: dict[str, str]
    undecided: dict[str, tuple[str, ...]]
    """Those that may be part of several, and which: clusters that were made from one template."""


def adopted(links: Iterable[Link], known: Mapping[str, Household]) -> Adoptions:
    """For each household that is part of another: which one.

    What all clusters that were made from one template have in common says of no directory which of
    them it belongs to. Only a trace that one of them has alone does, or the folder that it is in,
    if directories of no other cluster are.
    """
    links_of: dict[str, list[Link]] = {}
    for link in links:
        links_of.setdefault(link.part, []).append(link)
    owners: dict[str, set[str]] = {}
    for key, household in known.items() if links_of else ():
        for name in household.names if is_claimant(key, known) else ():
            owners.setdefault(dirname(name), set()).add(key)

    def is_beside(link: Link) -> bool:
        around = (owners.get(dirname(name), set()) for name in known[link.part].names)
        return any(keys - {link.part} == {link.whole} for keys in around)

    best = {
        part: max(several, key=lambda one: (is_beside(one), one.own, one.shared, one.whole))
        for part, several in links_of.items()
    }
    decided = {part: link for part, link in best.items() if link.own or is_beside(link)}
    taken: Counter[str] = Counter()
    chosen: dict[str, str] = {}
    for part, link in sorted(decided.items(), key=lambda one: one[1].shared, reverse=True):
        # Without an id a directory can be any node, but one node is missing only once.
        if part.startswith("\0") and not link.whole.startswith("\0"):
            if taken[link.whole] >= len(known[link.whole].lacking):
                continue
            taken[link.whole] += 1
        chosen[part] = link.whole
    # One that was itself adopted is no home for others; its own home is.
    home_of = {part: chosen.get(whole, whole) for part, whole in chosen.items()}
    undecided = {
        part: tuple(sorted(link.whole for link in several))
        for part, several in links_of.items()
        if part not in decided
    }
    return Adoptions(home_of, undecided)


def is_claimant(key: str, known: Mapping[str, Household]) -> bool:
    """True for a cluster with an id of its own, and not for what may be a part of one."""
    return not key.startswith("\0") and not known[key].is_piece


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSplit:
    """Two sets of directories under one cluster.id."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    nodes: tuple[int, ...]
    """The node ids that both have."""
    are_copies: bool
    """True if their logs have batches in common."""


def split(members: Sequence[Kin]) -> tuple[list[list[Kin]], list[ClusterSplit]]:
    """The members of one household, cluster by cluster; more than one where ids were used twice."""
    strangers = _strangers(members)
    clusters = [one for some in strangers for one in _by_folder(some)]
    splits = []
    for number, cluster in enumerate(clusters[1:], 1):
        # With whom it shares most, that is the one it was mixed up with.
        other = max(clusters[:number], key=lambda candidate: len(_both(candidate, cluster)))
        splits.append(
            ClusterSplit(
                first=tuple(sorted(member.name for member in other)),
                second=tuple(sorted(member.name for member in cluster)),
                nodes=tuple(sorted(_both(other, cluster))),
                are_copies=any(one.traces.tokens & two.traces.tokens
                               for one in other for two in cluster),
            )
        )  # fmt: skip
    return clusters, splits


def _both(one: Iterable[Kin], other: Iterable[Kin]) -> set[int]:
    ids = [{kin.node_id for kin in some if kin.node_id is not None} for some in (one, other)]
    return ids[0] & ids[1]


def _strangers(members: Sequence[Kin]) -> list[list[Kin]]:
    """Apart are those whose logs are of different quorums and which claim the same node ids."""
    together = list(_components(sorted(members, key=lambda member: member.name)))
    together.sort(key=len, reverse=True)
    clusters: list[list[Kin]] = []
    for some in together:
        fits = (
            cluster
            for cluster in clusters
            if not (_both(cluster, some) and _contradict(cluster, some))
        )
        home = next(fits, None)
        if home is None:
            clusters.append(some)
        else:
            home.extend(some)
    return clusters


def _contradict(one: Sequence[Kin], other: Sequence[Kin]) -> bool:
    return any(mine.traces.contradict(theirs.traces) for mine in one for theirs in other)


def _components(members: Sequence[Kin]) -> Iterator[list[Kin]]:
    """Members that have traces in common, directly or through others."""
    home: dict[int, int] = {}
    parent = list(range(len(members)))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for number, member in enumerate(members):
        for token in member.traces.tokens:
            parent[root(number)] = root(home.setdefault(token, number))
    components: dict[int, list[Kin]] = {}
    for number, member in enumerate(members):
        components.setdefault(root(number), []).append(member)
    yield from components.values()


def _by_folder(members: list[Kin]) -> list[list[Kin]]:
    """Copies of a whole cluster lie in folders of their own, each with several of its nodes."""
    if not _has_twins(members):
        return [members]
    paths = [tuple(member.name.split("/")) for member in members]
    level = len([*takewhile(lambda names: len(set(names)) == 1, zip(*paths, strict=False))])
    folders: dict[tuple[str, ...], list[Kin]] = {}
    for path, member in zip(paths, members, strict=True):
        folders.setdefault(path[: level + 1], []).append(member)
    sets = list(folders.values())
    are_sets = all(len(some) > 1 and not _has_twins(some) for some in sets) and all(
        len(_both(one, other)) > 1 for one, other in combinations(sets, 2)
    )
    return sets if are_sets else [members]


def _has_twins(members: Sequence[Kin]) -> bool:
    ids = [member.node_id for member in members if member.node_id is not None]
    return len(ids) != len(set(ids))
