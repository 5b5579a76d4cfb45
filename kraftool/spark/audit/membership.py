"""The cluster to which each directory of a fleet is assigned, and problems with that.

Owns the jobs that find it out, by the rules of `log_families.py`. The driver learns of each
directory its name, its ids and its cluster; traces stay with the workers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING, Any

from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import fleet as kinds
from kraftool.reports.fleet.model import AUDIT, FleetFinding
from kraftool.spark.audit.log_families import (
    NO_TRACES,
    ClusterSplit,
    Household,
    Kin,
    adopted,
    holds_log_of,
    households,
    missing_from,
    pieces,
    split,
)

if TYPE_CHECKING:
    from pyspark import RDD

    from kraftool.spark.audit.examine import AuditedDirectory

_CROWD = 1000
"""A trace that so many clusters have tells nothing: they were made from one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """The cluster of each directory by name, and findings between clusters."""

    cluster_of: Mapping[str, str]
    findings: tuple[FleetFinding, ...] = ()
    lent: Mapping[str, str] = field(default_factory=dict)
    """The directories whose cluster.id is that of another cluster of the fleet, each with one of
    its directories."""
    log_of: Mapping[str, str] = field(default_factory=dict)
    """The directories whose log is that of another cluster, each with one of its directories."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    """Two households that have traces in common."""

    part: str
    whole: str
    is_home: bool
    """True if the part may belong to the other, or else has merely its log."""


def belonging(examined: RDD[AuditedDirectory]) -> Belonging:
    """Find out what belongs together."""
    traced = examined.map(_kin)
    members = traced.map(_without_traces).collect()
    width = max(min(len({member.home for member in members}), 64), 1)
    strange = dict(traced.map(_by_home).groupByKey(width).flatMap(_pieces).collect())
    if strange:
        members = [replace(member, piece=strange.get(member.name, 0)) for member in members]
        traced = traced.map(partial(_as_piece, strange=strange))
    known = households(members)
    links = _links(traced, known)
    home_of = adopted([(link.part, link.whole, n) for link, n in links if link.is_home], known)
    owner_of = adopted(
        [
            (link.part, link.whole, n)
            for link, n in links
            if not link.is_home and link.part not in home_of
        ],
        known,
    )
    told = (
        traced.map(partial(_at_home, home_of=home_of, apart=frozenset(owner_of)))
        .groupByKey(width)
        .flatMap(_split)
        .collect()
    )
    cluster_of = {name: cluster for cluster, names, _ in told for name in names}
    splits = [cluster_split for _, _, cluster_splits in told for cluster_split in cluster_splits]
    twice = _directory_ids(examined, members, cluster_of)
    return Belonging(
        cluster_of=cluster_of,
        findings=(*map(_of_split, splits), *twice),
        lent=_lent(members, known, home_of),
        log_of={
            name: known[whole].names[0]
            for part, whole in owner_of.items()
            for name in known[part].names
        },
    )


def _lent(
    members: Sequence[Kin], known: Mapping[str, Household], home_of: Mapping[str, str]
) -> dict[str, str]:
    """Those with an id that is another cluster's, which has directories of its own."""
    return {
        member.name: known[member.home].names[0]
        for member in members
        if member.key in home_of and member.piece and member.home in known
    }


def _by_home(member: Kin) -> tuple[str, Kin]:
    return member.home, member


def _pieces(household: tuple[str, Iterable[Kin]]) -> Iterator[tuple[str, int]]:
    members = list(household[1])
    if len(members) > 1:
        yield from pieces(members).items()


def _as_piece(member: Kin, strange: Mapping[str, int]) -> Kin:
    piece = strange.get(member.name, 0)
    return replace(member, piece=piece) if piece else member


def _kin(examined: AuditedDirectory) -> Kin:
    summary = examined.summary
    return Kin(
        name=summary.name,
        cluster_id=summary.cluster_id,
        node_id=summary.node_id,
        voters=summary.voters.ids,
        registered=_registered(examined),
        traces=examined.traces,
        directory_id=summary.directory_id,
        seats=frozenset(
            (voter.id, voter.directory_id) for voter in summary.voters if voter.directory_id
        ),
    )


def _registered(examined: AuditedDirectory) -> frozenset[int]:
    if examined.patient is None:
        return frozenset()
    metadata_summary = examined.patient.summary
    return frozenset((*metadata_summary.brokers, *metadata_summary.controllers))


def _without_traces(member: Kin) -> Kin:
    return replace(member, traces=NO_TRACES)


def _links(traced: RDD[Kin], known: Mapping[str, Household]) -> list[tuple[_Link, int]]:
    """Households of which one may be what the other lacks, or has its log, and how many traces they
    have in common."""
    if len(known) < 2 or not any(
        household.is_part or household.is_piece for household in known.values()
    ):
        return []
    facts = traced.context.broadcast(dict(known))
    width = max(min(len(known), 64), 1)
    by_token = traced.flatMap(_tokens).distinct(width).groupByKey(width).values()
    pairs = by_token.flatMap(partial(_pairs, known=facts)).reduceByKey(_plus, width)
    return [
        (_Link(part=part, whole=whole, is_home=is_home), count)
        for (part, whole, is_home), count in pairs.collect()
    ]


def _tokens(member: Kin) -> Iterator[tuple[int, str]]:
    for token in member.traces.tokens:
        yield token, member.key


def _pairs(keys: Iterable[str], known: Any) -> Iterator[tuple[tuple[str, str, bool], int]]:
    found = sorted(keys)
    if 1 < len(found) <= _CROWD:
        facts = known.value
        for part, whole in permutations(found, 2):
            is_home = missing_from(facts[part], facts[whole])
            if is_home or holds_log_of(facts[part], facts[whole]):
                yield (part, whole, is_home), 1


def _plus(one: int, other: int) -> int:
    return one + other


def _at_home(
    member: Kin, home_of: Mapping[str, str], apart: frozenset[str]
) -> tuple[str, tuple[Kin, bool]]:
    return home_of.get(member.key, member.home), (member, member.key in apart)


def _split(
    household: tuple[str, Iterable[tuple[Kin, bool]]],
) -> Iterator[tuple[str, tuple[str, ...], tuple[ClusterSplit, ...]]]:
    """The clusters of a household: name, directories, and what is odd.

    Those whose logs are elsewhere at home stay with the first, whose id they have.
    """
    key, some = household
    members, parted = _without_parted(list(some))
    for each in parted:
        yield each.name, (each.name,), ()
    units, cluster_splits = split([each for each, is_apart in members if not is_apart])
    units = units or [[]]
    units[0].extend(each for each, is_apart in members if is_apart)
    for number, unit in enumerate(units):
        names = tuple(sorted(each.name for each in unit))
        name = key.removeprefix("\0") + (f" ({number + 1})" if number else "")
        yield name, names, tuple(cluster_splits) if not number else ()


def _without_parted(
    members: Sequence[tuple[Kin, bool]],
) -> tuple[list[tuple[Kin, bool]], list[Kin]]:
    """The members, and directories without an id whose log parted from all that have one: it is
    of another cluster that was made from the same template."""
    named = [each.traces for each, _ in members if each.cluster_id]
    parted = [
        each
        for each, _ in members
        if named and not each.cluster_id and all(map(each.traces.parted_from, named))
    ]
    names = {each.name for each in parted}
    return [member for member in members if member[0].name not in names], parted


def _of_split(found: ClusterSplit) -> FleetFinding:
    nodes = ", ".join(map(str, found.nodes))
    first, second = found.first[0], found.second[0]
    text = f"{_others(found.second)} under the cluster.id of {_others(found.first)}, with node ids"
    if found.are_copies:
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
    return FleetFinding(finding=finding, directories=(*found.first, *found.second), by=(AUDIT,))


def _others(names: Sequence[str]) -> str:
    """The directories of a cluster by the first."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _directory_ids(
    examined: RDD[AuditedDirectory], members: Sequence[Kin], cluster_of: Mapping[str, str]
) -> Iterator[FleetFinding]:
    """Directories of different clusters with one directory.id; within one, diff-voters tells."""
    id_of = {member.name: member.cluster_id for member in members}
    sizes = Counter(cluster_of.values())
    width = max(min(len(members), 64), 1)
    shared = examined.flatMap(_directory_id).groupByKey(width).filter(_is_shared).collect()
    pairs: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for directory_id, names in sorted((key, sorted(found)) for key, found in shared):
        first, *others = names
        for each in others:
            clusters = cluster_of[first], cluster_of[each]
            if clusters[0] != clusters[1] and id_of[each] != id_of[first]:
                pairs.setdefault(clusters, []).append((directory_id, first, each))
    for (one, other), found in pairs.items():
        is_clone = 2 * len(found) > max(sizes[one], sizes[other])
        for directory_id, first, each in found[:1] if is_clone else found:
            yield _same_directory_id(directory_id, first, each, found if is_clone else ())


def _same_directory_id(
    directory_id: str, first: str, other: str, clones: Sequence[tuple[str, str, str]]
) -> FleetFinding:
    """Return a finding; if whole clusters share ids, one was cloned, such as for a test."""
    text = f"{first}, of another cluster, has the same directory.id"
    names: tuple[str, ...] = first, other
    if clones:
        text += ", and the same is true of most directories of the two clusters"
        names = *(each for _, each, _ in clones), *(each for _, _, each in clones)
    finding = dir_kinds.SAME_DIRECTORY_ID.at(
        other,
        text,
        field="directory.id",
        found=directory_id,
        severity=Severity.INFO if clones else None,
    )
    return FleetFinding(finding=finding, directories=names, by=(AUDIT,))


def _directory_id(examined: AuditedDirectory) -> Iterator[tuple[str, str]]:
    if examined.summary.directory_id is not None:
        yield examined.summary.directory_id, examined.summary.name


def _is_shared(found: tuple[str, Iterable[str]]) -> bool:
    return len(list(found[1])) > 1
