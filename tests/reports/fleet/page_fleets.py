"""Fleets for the tests of the page: audits made of numbers, without a directory or Spark.

Owns a sound fleet and a sick one of any size, whose sums are those of what they list. The same seed
gives the same fleet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from kraftool.raft.names import Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.reports.findings.finding import FindingKind, Severity
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.fleet.model import (
    AUDIT,
    ClusterSummary,
    CodeCount,
    DirectorySummary,
    DivergedSide,
    Divergence,
    ElectionDay,
    FleetAudit,
    FleetCounts,
    FleetFinding,
    LeftOut,
    RunSettings,
    VersionCount,
)
from kraftool.reports.text.json_forms import FindingCounts
from tests.support.uuids import uuid

DAY = 86_400_000
STARTED = 1_790_000_000_000
RUN = RunSettings(
    roots=("/archive/controllers", "s3://metadata-backups/controllers"),
    master="local[*]",
    cores=8,
    kraftool_version="0.9.0",
    spark_version="4.3.0",
    started_at=STARTED,
    seconds=431.5,
)
CODES = (
    "KT-LOG-CRC", "KT-LOG-TORN-TAIL", "KT-LOG-GAP", "KT-SIG-LAG", "KT-SIG-ELECTIONS",
    "KT-SIG-NO-SNAPSHOT", "KT-SIG-MIN-ISR", "KT-LOG-ZERO-TAIL", "KT-LOG-EPOCH-BACK",
    "KT-LOG-DAMAGE", "KT-SIG-BROKER-FENCED", "KT-SIG-OFFLINE", "KT-SIG-LOST-REPLICAS",
    "KT-LOG-UNKNOWN-TYPE", "KT-LOG-RECORDS",
)  # fmt: skip
"""What the sick fleets have; those that are not in the catalogue are left out."""
RELEASES = ((30, "4.3-IV0"), (27, "4.1-IV1"), (25, "4.0-IV3"), (20, "3.8-IV0"))


def sound(clusters: int, seed: int = 1) -> FleetAudit:
    """A fleet in which nothing is wrong."""
    random = Random(seed)
    made = [_cluster(random, uuid(random), sick=False) for _ in range(clusters)]
    return assembled([one for one, _ in made], [summary for _, many in made for summary in many])


def sick(clusters: int, seed: int = 2) -> FleetAudit:
    """A fleet in which every sixth cluster has something, and some have diverged."""
    random = Random(seed)
    summaries, directories, findings, divergences = [], [], [], []
    for number in range(clusters):
        ill = number % 6 == 0
        summary, mine = _cluster(random, uuid(random), sick=ill)
        of_cluster = _findings(random, summary, mine) if ill else []
        if ill and number % 18 == 0:
            parted = [_divergence(random, summary, mine) for _ in range(random.randint(1, 3))]
            divergences += parted
            of_cluster += [_diverged(divergence) for divergence in parted]
            summary = replace(summary, divergences=len(parted))
        counts = _tally(of_cluster)
        between = _tally([finding for finding in of_cluster if AUDIT in finding.by])
        summaries.append(replace(summary, finding_counts=counts, between_counts=between))
        for directory_summary in mine:
            own = [one for one in of_cluster if one.directory == directory_summary.name]
            directories.append(replace(directory_summary, finding_counts=_tally(own)))
        findings += of_cluster
    return assembled(summaries, directories, findings, divergences)


def assembled(
    clusters: Sequence[ClusterSummary],
    directories: Sequence[DirectorySummary],
    findings: Sequence[FleetFinding] = (),
    divergences: Sequence[Divergence] = (),
    most_findings: int = 1000,
) -> FleetAudit:
    """An audit of these with the sums that they come to, in the order that an audit has."""
    order = sorted(clusters, key=lambda cluster: _badness(cluster.finding_counts))
    by_cluster: dict[str, list[DirectorySummary]] = {}
    for directory in directories:
        by_cluster.setdefault(directory.cluster, []).append(directory)
    ordered = sorted(
        findings, key=lambda fleet_finding: list(Severity).index(fleet_finding.finding.severity)
    )
    codes = Counter(finding.finding.code for finding in findings)
    levels = {(directory.metadata_release, directory.metadata_version) for directory in directories}
    return FleetAudit(
        run=RUN,
        counts=FleetCounts(
            clusters=len(clusters),
            directories=len(directories),
            live=sum(directory.is_live for directory in directories),
            files=sum(directory.files for directory in directories),
            size=sum(directory.size for directory in directories),
            records=sum(directory.records for directory in directories),
            elections=sum(cluster.elections for cluster in clusters),
            divergences=len(divergences),
            finding_counts=_tally(findings),
            clusters_with=_worst(cluster.finding_counts for cluster in clusters),
            directories_with=_worst(directory.finding_counts for directory in directories),
            undecoded=sum(finding.finding.undecoded for finding in findings),
            bytes_read=sum(directory.size for directory in directories),
            task_seconds=1834.0,
        ),
        clusters=tuple(order),
        directories=tuple(
            summary
            for one in order
            for summary in sorted(
                by_cluster.get(one.name, ()),
                key=lambda directory_summary: directory_summary.node_id or 0,
            )
        ),
        findings=tuple(ordered[:most_findings]),
        divergences=tuple(divergences),
        codes=tuple(
            sorted(
                (_code(code, many, findings) for code, many in codes.items()),
                key=lambda cause: (list(Severity).index(cause.severity), -cause.findings),
            )
        ),
        metadata_versions=tuple(
            VersionCount(
                name=name,
                level=level,
                directories=sum(directory.metadata_version == level for directory in directories),
                clusters=sum(name in cluster.metadata_versions for cluster in clusters),
            )
            for name, level in sorted(levels, key=lambda item: -(item[1] or 0))
        ),
        kraft_versions=(
            VersionCount(name="1", level=1, directories=len(directories), clusters=len(clusters)),
        )
        if clusters
        else (),
        left_out=LeftOut(findings=max(len(findings) - most_findings, 0)),
    )


def _cluster(
    random: Random, name: str, *, sick: bool
) -> tuple[ClusterSummary, list[DirectorySummary]]:
    level, release = random.choices(RELEASES, (10, 6, 3, 1))[0]
    end = int(random.lognormvariate(11, 1.6)) + 500
    start = random.choice((0, end // 3))
    epoch = random.randint(1, 40)
    leader = random.randint(1, 3)
    last = STARTED - random.randint(500, 90_000)
    nodes = []
    voters = VoterSet.of(
        *(
            Voter(key=ReplicaKey(id), endpoints={"CONTROLLER": Endpoint(f"controller-{id}", 9093)})
            for id in (1, 2, 3)
        )
    )
    for id in (1, 2, 3):
        behind = random.choice((0, 0, 1, 3))
        if sick and id != leader:
            behind = int(random.lognormvariate(4, 3))
        mine = max(end - behind, start)
        nodes.append(
            DirectorySummary(
                name=f"/archive/controllers/{name}/controller-{id}/kraft-combined-logs",
                cluster=name,
                cluster_id=name,
                node_id=id,
                directory_id=uuid(random),
                is_live=not sick and random.random() < 0.1,
                files=9,
                size=mine * random.randint(60, 110),
                segments=1 + mine // 200_000,
                batches=mine // 2,
                records=mine - start,
                start_offset=start,
                end_offset=mine,
                intact_end_offset=mine - 7 if sick and random.random() < 0.2 else mine,
                epoch=epoch,
                last_timestamp=last - behind * 500,
                elections=random.randint(0, 4),
                newest_snapshot_offset=mine * 4 // 5,
                newest_snapshot_epoch=epoch,
                metadata_version=level,
                metadata_release=release,
                kraft_version=1,
                voters=voters,
                voters_from="KRaftVoters record",
                quorum_epoch=epoch,
                leader_id=leader,
            )
        )
    ends = [node.end_offset or 0 for node in nodes]
    days = sorted(random.sample(range(45), random.randint(0, 4)))
    most = 30 if sick else 2
    elections = tuple(ElectionDay(_day(day), random.randint(1, most)) for day in reversed(days))
    return (
        ClusterSummary(
            name=name,
            cluster_id=name,
            directories=3,
            node_ids=(1, 2, 3),
            live=sum(node.is_live for node in nodes),
            size=sum(node.size for node in nodes),
            records=sum(node.records for node in nodes),
            start_offset=start,
            end_offset=max(ends),
            lowest_end_offset=min(ends),
            lag=max(ends) - min(ends),
            epoch=epoch,
            leader_id=leader,
            last_timestamp=max(node.last_timestamp or 0 for node in nodes),
            metadata_versions=(release,)
            if not sick or random.random() < 0.8
            else ("4.0-IV3", release),
            kraft_versions=(1,),
            voters=voters,
            topics=random.randint(1, 4000),
            partitions=random.randint(10, 40_000),
            brokers=random.randint(3, 60),
            elections=sum(many for _, many in elections),
            elections_by_day=elections,
        ),
        nodes,
    )


def _day(ago: int) -> str:
    return f"2026-{9 if ago < 21 else 8:02}-{21 - ago if ago < 21 else 52 - ago:02}"


def _findings(
    random: Random, cluster: ClusterSummary, mine: Sequence[DirectorySummary]
) -> list[FleetFinding]:
    findings = []
    for _ in range(random.choice((1, 2, 3, 5, 14))):
        kind = KINDS[random.choice([code for code in CODES if code in KINDS])]
        one = random.choice(list(mine))
        file = f"{one.name}/__cluster_metadata-0/00000000000000000000.log"
        position = random.randint(0, one.size)
        findings.append(
            FleetFinding(
                finding=kind.at(
                    file,
                    "the CRC of the batch does not fit its bytes",
                    position=position,
                    offset=random.randint(one.start_offset or 0, one.end_offset or 0),
                    expected="0x3f2a91c0",
                    found="0x00000000",
                ),
                cluster=cluster.name,
                directory=one.name,
                paths=(one.name,),
                by=("doctor", "verify-log"),
                commands=(f"kraftool explain {file} --position {position}",),
            )
        )
    return findings


def _divergence(
    random: Random, cluster: ClusterSummary, mine: Sequence[DirectorySummary]
) -> Divergence:
    start, end = cluster.start_offset or 0, cluster.lowest_end_offset or 0
    first = random.randint(start, max(end - 2, start))
    odd = random.choice(list(mine))
    sides = []
    for number, names in enumerate(
        ([summary.name for summary in mine if summary is not odd], [odd.name]),
    ):
        sides.append(
            DivergedSide(
                paths=tuple(names),
                epoch=(cluster.epoch or 0) - number,
                base_offset=first,
                last_offset=first + 3,
                crc=random.getrandbits(32),
                batches=random.randint(1, 60),
                file=f"{names[0]}/__cluster_metadata-0/00000000000000000000.log",
                position=random.randint(0, 1 << 28),
            )
        )
    return Divergence(
        cluster=cluster.name,
        first_offset=first,
        last_offset=first + random.randint(0, max((end - start) // 4, 1)),
        sides=tuple(sides),
        same_epoch=random.random() < 0.3,
        is_open=random.random() < 0.4,
    )


def _diverged(one: Divergence) -> FleetFinding:
    finding = FindingKind(code="KT-LOG-DIVERGED", severity=Severity.ERROR, meaning="").at(
        "",
        "the logs of one cluster hold different bytes at the same offsets",
        offset=one.first_offset,
        advice="find out which side has a majority before anything is started",
    )
    names = tuple(name for side in one.sides for name in side.paths)
    return FleetFinding(finding=finding, cluster=one.cluster, paths=names, by=(AUDIT,))


def _tally(findings: Sequence[FleetFinding]) -> FindingCounts:
    many = Counter(finding.finding.severity.value for finding in findings)
    return FindingCounts(**many)


def _worst(counts: Iterable[FindingCounts]) -> FindingCounts:
    worst = [count.worst for count in counts]
    return FindingCounts(**Counter(severity.value for severity in worst if severity is not None))


def _badness(counts: FindingCounts) -> tuple[int, int, int]:
    return -counts.error, -counts.warning, -counts.info


def _code(code: str, many: int, findings: Sequence[FleetFinding]) -> CodeCount:
    mine = [finding for finding in findings if finding.finding.code == code]
    kind = KINDS.get(code)
    return CodeCount(
        code=code,
        severity=mine[0].finding.severity,
        findings=many,
        clusters=len({finding.cluster for finding in mine}),
        directories=len({name for finding in mine for name in finding.paths}),
        meaning=kind.meaning if kind is not None else "",
        advice=mine[0].finding.advice,
    )
