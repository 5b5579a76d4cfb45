"""The cluster to which each directory of a fleet is assigned, and problems with that.

Owns the jobs that find it out, by the rules of `log_families.py`. The driver learns of each
directory its name, its ids and its cluster; traces stay with the workers.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from types import MappingProxyType
from typing import NamedTuple

from pyspark.sql.functions import collect_set

from kraftool.arrow.untyped import ArrowBatch, pa
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import fleet as kinds
from kraftool.reports.fleet.model import AUDIT, FleetFinding
from kraftool.spark.audit.cluster import Misplaced
from kraftool.spark.audit.examined import Examined, key_text
from kraftool.spark.audit.log_families import (
    ClusterSplit,
    Household,
    Kin,
    Link,
    adopted,
    holds_log_of,
    households,
    is_claimant,
    missing_from,
    pieces,
    split,
)
from kraftool.spark.values import Row, collected, map_groups, rows_in

_CROWD = 1000
"""A trace that so many clusters have tells nothing: they were made from one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """The cluster of each directory by name, and findings between clusters."""

    cluster_of: Mapping[str, str]
    findings: tuple[FleetFinding, ...]
    misplaced: Misplaced


_Links = tuple[list[Link], list[Link]]
"""Those of which the part may belong to the other, and those of which it has merely its log."""


def belonging(examined: Examined) -> Belonging:
    """Find out what belongs together."""
    members = examined.members
    homes = {number: member.home for number, member in members.items()}
    groups = _grouped(examined, homes)
    strange = {name: piece for group in groups for name, piece in group.strange.items()}
    members = {
        number: replace(member, piece=strange.get(member.name, 0))
        for number, member in members.items()
    }
    known = households(members.values())
    keys = {number: member.key for number, member in members.items()}
    homes_of_parts, owners = _links(examined, keys, known)
    home_of, undecided = adopted(homes_of_parts, known)
    log_of = _log_of([link for link in owners if link.part not in home_of], known)
    chosen = {number: home_of.get(member.key, member.home) for number, member in members.items()}
    apart = frozenset(number for number, member in members.items() if member.name in log_of)
    if apart or chosen != homes:
        groups = _grouped(examined, chosen, strange, apart)
    clusters = [cluster for group in groups for cluster in group.clusters]
    cluster_of = {name: cluster.name for cluster in clusters for name in cluster.names}
    twice = _directory_ids(list(members.values()), cluster_of)
    return Belonging(
        cluster_of=cluster_of,
        findings=(*(_of_split(pair) for cluster in clusters for pair in cluster.splits), *twice),
        misplaced=Misplaced(
            lent=_lent(list(members.values()), known, home_of),
            log_of=log_of,
            one_of={
                name: _one_of(wholes, known)
                for part, wholes in undecided.items()
                for name in known[part].names
                if name not in log_of
            },
        ),
    )


def _log_of(links: Sequence[Link], known: Mapping[str, Household]) -> dict[str, str]:
    """The directories whose logs are of other clusters, and of which."""
    owner_of, undecided = adopted(links, known)
    words = {part: f"the cluster of {known[whole].names[0]}" for part, whole in owner_of.items()}
    words |= {part: _one_of(wholes, known) for part, wholes in undecided.items()}
    return {name: text for part, text in words.items() for name in known[part].names}


def _one_of(wholes: Sequence[str], known: Mapping[str, Household]) -> str:
    first = known[wholes[0]].names[0]
    if len(wholes) == 1:
        return f"the cluster of {first}, or one that was made from the same template"
    return f"one of {len(wholes)} clusters made from the same template, such as that of {first}"


class _Cluster(NamedTuple):
    """One cluster under a key, and what is odd with it."""

    name: str
    names: tuple[str, ...]
    splits: tuple[ClusterSplit, ...] = ()


class _Group(NamedTuple):
    """The fate of the directories under one key."""

    clusters: tuple[_Cluster, ...]
    strange: Mapping[str, int] = {}
    """The pieces, by the names of their directories."""


def _grouped(
    examined: Examined,
    keys: Mapping[int, str],
    strange: Mapping[str, int] = MappingProxyType({}),
    apart: frozenset[int] = frozenset(),
) -> list[_Group]:
    """The clusters under each key. One directory by itself is one, whatever its log holds."""
    sizes = Counter(keys.values())
    groups = [
        _Group((_Cluster(key.removeprefix("\0"), (examined.members[number].name,)),))
        for number, key in keys.items()
        if sizes[key] == 1
    ]
    several = {number: key for number, key in keys.items() if sizes[key] > 1}
    if several:
        frame = examined.keyed(several, "number", "kin", "traces")
        task = partial(_group, strange=dict(strange), apart=apart)
        tasks = examined.tasks_for(len(sizes) - len(groups))
        groups += collected(map_groups(frame, "key", task, "held BINARY", tasks), "held")
    return groups


def _group(
    key: bytes, rows: Sequence[Row], strange: Mapping[str, int], apart: frozenset[int]
) -> Iterator[Row]:
    members: list[Kin] = []
    set_aside: list[Kin] = []
    for _, number, kin, traces in rows:
        member: Kin = pickle.loads(kin)
        piece = strange.get(member.name, 0)
        member = replace(member, traces=pickle.loads(traces), piece=piece)
        (set_aside if number in apart else members).append(member)
    clusters = tuple(_clusters(key_text(key).removeprefix("\0"), members, set_aside))
    yield (pickle.dumps(_Group(clusters, pieces([*members, *set_aside]))),)


def _lent(
    members: Sequence[Kin], known: Mapping[str, Household], home_of: Mapping[str, str]
) -> dict[str, str]:
    """Those with an id that is another cluster's, which has directories of its own."""
    return {
        member.name: known[member.home].names[0]
        for member in members
        if member.key in home_of and member.piece and member.home in known
    }


def _links(examined: Examined, keys: Mapping[int, str], known: Mapping[str, Household]) -> _Links:
    """Households of which one may be what the other lacks, or has its log, and how many traces they
    have in common."""
    of_home: dict[tuple[str, str], Link] = {}
    of_log: dict[tuple[str, str], Link] = {}
    if len(known) < 2 or not any(
        household.is_part or household.is_piece for household in known.values()
    ):
        return [], []
    traced = examined.keyed(keys, "traces").mapInArrow(_tokens, "token BIGINT, key BINARY")
    shared = traced.groupBy("token").agg(collect_set("key").alias("keys"))
    pairs = shared.where(f"size(keys) BETWEEN 2 AND {_CROWD}").select("keys")
    counted = pairs.mapInArrow(partial(_pairs, known=known), "held BINARY").groupBy("held").count()
    for held, count in rows_in(counted.toArrow().to_batches()):
        part, whole, is_home, is_own = pickle.loads(held)
        links = of_home if is_home else of_log
        before = links.get((part, whole), Link(part, whole, 0, 0))
        own = before.own + count if is_own else before.own
        links[part, whole] = before._replace(shared=before.shared + count, own=own)
    return list(of_home.values()), list(of_log.values())


def _tokens(batches: Iterable[ArrowBatch]) -> Iterator[ArrowBatch]:
    for key, traces in rows_in(batches):
        tokens = pa.array(sorted(pickle.loads(traces).tokens), pa.int64())
        keys = pa.array([key] * len(tokens), pa.binary())
        yield pa.RecordBatch.from_pydict({"token": tokens, "key": keys})


def _pairs(batches: Iterable[ArrowBatch], known: Mapping[str, Household]) -> Iterator[ArrowBatch]:
    for batch in batches:
        links: list[bytes] = []
        for (keys,) in rows_in([batch]):
            names = sorted(map(key_text, keys))
            claimants = {name for name in names if is_claimant(name, known)}
            links += (
                pickle.dumps((part, whole, is_home, claimants <= {part, whole}))
                for part, whole in permutations(names, 2)
                if (is_home := missing_from(known[part], known[whole]))
                or holds_log_of(known[part], known[whole])
            )
        yield pa.RecordBatch.from_pydict({"held": pa.array(links, pa.binary())})


def _clusters(key: str, members: Sequence[Kin], set_aside: Sequence[Kin]) -> Iterator[_Cluster]:
    """The clusters of a household.

    Directories without an id whose log parted from all that have one are of another cluster that
    was made from the same template. Those whose logs are elsewhere at home stay with the first
    cluster, whose id they have.
    """
    named = [kin.traces for kin in (*members, *set_aside) if kin.cluster_id]
    parted = [
        kin
        for kin in members
        if named and not kin.cluster_id and all(map(kin.traces.parted_from, named))
    ]
    yield from (_Cluster(kin.name, (kin.name,)) for kin in parted)
    clusters, cluster_splits = split([kin for kin in members if kin not in parted])
    clusters = clusters or [[]]
    clusters[0].extend(set_aside)
    for number, cluster in enumerate(clusters):
        names = tuple(sorted(kin.name for kin in cluster))
        name = f"{key} ({number + 1})" if number else key
        yield _Cluster(name, names, tuple(cluster_splits) if not number else ())


def _of_split(pair: ClusterSplit) -> FleetFinding:
    nodes = ", ".join(map(str, pair.nodes))
    first, second = pair.first[0], pair.second[0]
    text = f"{_others(pair.second)} under the cluster.id of {_others(pair.first)}, with node ids"
    if pair.are_copies:
        finding = kinds.SAME_CLUSTER_ID.at(
            second,
            f"{text} {nodes} in both: one is a copy of the other, or was made from it",
            field="cluster.id",
            severity=Severity.WARNING,
            advice="a backup is fine: leave it as it is. Never start it while the other runs, or"
            " where it can reach the other's nodes. If one is to become its own cluster, run"
            " it only where neither reaches the other",
        )
    else:
        finding = kinds.SAME_CLUSTER_ID.at(
            second,
            f"{text} {nodes} in both, and logs that have nothing in common",
            field="cluster.id",
            expected=f"its own id, as {first} has it",
        )
    return FleetFinding(finding=finding, paths=(*pair.first, *pair.second), by=(AUDIT,))


def _others(names: Sequence[str]) -> str:
    """The directories of a cluster by the first."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _directory_ids(members: Sequence[Kin], cluster_of: Mapping[str, str]) -> Iterator[FleetFinding]:
    """Directories of different clusters with one directory.id; within one, diff-voters tells."""
    id_of = {member.name: member.cluster_id for member in members}
    sizes = Counter(cluster_of.values())
    names_of: dict[str, list[str]] = {}
    for member in members:
        if member.directory_id is not None:
            names_of.setdefault(member.directory_id, []).append(member.name)
    pairs: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for directory_id, names in sorted(names_of.items()):
        first, *others = sorted(names)
        for name in others:
            clusters = cluster_of[first], cluster_of[name]
            if clusters[0] != clusters[1] and id_of[name] != id_of[first]:
                pairs.setdefault(clusters, []).append((directory_id, first, name))
    for (one, other), shared_ids in pairs.items():
        is_clone = 2 * len(shared_ids) > max(sizes[one], sizes[other])
        for directory_id, first, second in shared_ids[:1] if is_clone else shared_ids:
            yield _same_directory_id(directory_id, first, second, shared_ids if is_clone else ())


def _same_directory_id(
    directory_id: str, first: str, other: str, clones: Sequence[tuple[str, str, str]]
) -> FleetFinding:
    """Return a finding; if whole clusters share ids, one was cloned, such as for a test."""
    text = f"{first}, of another cluster, has the same directory.id"
    names: tuple[str, ...] = first, other
    if clones:
        text += ", and the same is true of most directories of the two clusters"
        names = *(name for _, name, _ in clones), *(name for _, _, name in clones)
    finding = dir_kinds.SAME_DIRECTORY_ID.at(
        other,
        text,
        field="directory.id",
        found=directory_id,
        severity=Severity.INFO if clones else None,
    )
    return FleetFinding(finding=finding, paths=names, by=(AUDIT,))
