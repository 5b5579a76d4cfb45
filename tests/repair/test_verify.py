"""What verify makes of a quorum's answers: whose quorum it is, who must not run, who restarts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kraftool.client.cluster_health import ClusterHealth
from kraftool.client.health import health
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.observer import Observation
from kraftool.image.cluster import BrokerRegistration, ClusterImage
from kraftool.image.image import MetadataImage
from kraftool.raft.messages import DescribeQuorumResponse
from kraftool.raft.names import ReplicaKey, Voter, VoterSet
from kraftool.repair.plan import (
    DirectoryIdentity,
    Edit,
    HostPlan,
    HostRole,
    Method,
    Plan,
    PlannedLoss,
    Quarantined,
    SnapshotRecipe,
)
from kraftool.repair.plan_file import target_of
from kraftool.repair.verify import (
    DirectoryCheck,
    PlanVerification,
    QuorumCheck,
    Stray,
    begun_epoch,
    begun_offset,
    check_quorum,
)
from kraftool.reports.election.assessment import LossBound
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import signatures
from kraftool.storage.repair_journal import Stage
from tests.client.views import DIRECTORIES, described, gone, node, replica, view

VOTERS = VoterSet.of(*(Voter(key=ReplicaKey(id_, DIRECTORIES[id_])) for id_ in (1, 2, 3)))
ONE = VoterSet.of(next(iter(VOTERS)))


def a_plan() -> Plan:
    """Node 1 goes on alone from offset 5000 and epoch 1000; 2 and 3 are lost."""
    recipe = SnapshotRecipe(
        offset=5000,
        epoch=1000,
        timestamp_ms=0,
        last_contained_log_timestamp_ms=0,
        kraft_version=1,
        voters=ONE,
        state_offset=100,
        records=1,
        records_sha256="0" * 64,
    )
    edit = Edit(target=target_of(f"{5000:020}-{1000:010}.checkpoint"), snapshot=recipe)
    host = HostPlan(
        name="one", role=HostRole.SEED, identity=DirectoryIdentity(node_id=1), edits=(edit,)
    )
    return Plan(
        schema_version=1,
        created_ms=0,
        tool="1",
        method=Method.SNAPSHOT_JUMP,
        summary=(),
        loss=PlannedLoss(verdict=LossBound.NONE, text=""),
        kraft_version=1,
        seed="one",
        voters_before=VOTERS,
        voters_after=ONE,
        quarantine=tuple(
            Quarantined(node_id=id_, why="an old voter", returns="wiped") for id_ in (2, 3)
        ),
        hosts=(host,),
    )


PLAN = a_plan()
RECOVERED = described([replica(1, end=5100)], epoch=1001, mark=5100)


def checked(
    quorum: DescribeQuorumResponse | None,
    *others: NodeAnswer,
    strays: Sequence[NodeAnswer] = (),
    directories: Sequence[DirectoryCheck] = (),
    brokers: Sequence[BrokerRegistration] = (),
    of_cluster: Sequence[Finding] = (),
    plan: Plan | None = None,
) -> QuorumCheck:
    seen = QuorumView(nodes=tuple(others)) if quorum is None else view(quorum, *others)
    report = health(seen, seen)
    image = MetadataImage(cluster=ClusterImage(brokers={broker.id: broker for broker in brokers}))
    report = replace(
        report,
        cluster_health=ClusterHealth(observation=observation(image)),
        findings=(*report.findings, *of_cluster),
    )
    planned = {entry.node_id: entry for entry in PLAN.quarantine}
    asked = [Stray(planned=planned[stray.node_id or 0], answer=stray) for stray in strays]
    return check_quorum(plan or PLAN, report, asked, directories)


def observation(image: MetadataImage) -> Observation:
    made = object.__new__(Observation)
    object.__setattr__(made, "image", image)
    return made


def codes(check: QuorumCheck) -> set[str]:
    return {finding.code.removeprefix("KT-REC-") for finding in check.findings}


def directory(*ids: int, is_running: bool = True) -> DirectoryCheck:
    voters = tuple(ReplicaKey(id_, DIRECTORIES[id_]) for id_ in ids)
    return DirectoryCheck(
        path="/data", host="one", changes=1, stage=Stage.APPLIED, is_running=is_running,
        voter_keys=voters,
    )  # fmt: skip


def test_where_a_plan_begins() -> None:
    assert (begun_epoch(PLAN), begun_offset(PLAN)) == (1000, 5000)
    assert begun_epoch(replace(PLAN, seed="")) is None, "voters who stay as they are begin nothing"


def test_the_planned_voter_leads_alone_and_those_kept_off_are_not_missed() -> None:
    check = checked(RECOVERED, gone(2), gone(3), strays=[gone(2), gone(3)])
    assert codes(check) == set()
    assert "KT-LIVE-UNREACHED" in {finding.code for finding in check.health.findings}
    assert "KT-LIVE-UNREACHED" not in {finding.code for finding in check.unwell}


def test_a_voter_is_missed_and_a_node_that_is_only_registered_is_a_note() -> None:
    check = checked(RECOVERED, gone(4))
    severities = {finding.code: finding.severity for finding in check.unwell}
    assert severities["KT-LIVE-UNREACHED"] is Severity.INFO
    assert PlanVerification(plan=PLAN, quorum=check).is_fine
    voters = [replica(1, end=5100), replica(4, end=5100)]
    grown = described(voters, epoch=1001, mark=5100)
    check = checked(grown, gone(4))
    severities = {finding.code: finding.severity for finding in check.unwell}
    assert severities["KT-LIVE-UNREACHED"] is Severity.WARNING
    assert not PlanVerification(plan=PLAN, quorum=check).is_fine


@pytest.mark.parametrize(
    "old",
    [
        described([replica(2), replica(3)], epoch=8, leader=2),
        described([replica(2, end=900), replica(3)], epoch=2000, leader=2),
    ],
    ids=["of a lower epoch", "of a log that ends below the recovery"],
)
def test_old_voters_that_elected_are_no_recovered_quorum(old: DescribeQuorumResponse) -> None:
    follower = node(3, leader=2, epoch=old.leader_epoch)
    leader = node(2, leader=2, epoch=old.leader_epoch, quorum=old)
    check = checked(old, follower, strays=[leader, follower])
    assert codes(check) == {"OLD-QUORUM", "QUARANTINED"}
    assert check.findings[0].severity is Severity.ERROR


def test_an_old_leader_beside_the_recovered_one_is_seen_at_its_own_endpoint() -> None:
    old = described([replica(2), replica(3)], epoch=8, leader=2)
    stray = node(2, leader=2, epoch=8, quorum=old)
    assert codes(checked(RECOVERED, strays=[stray])) == {"OLD-QUORUM", "QUARANTINED"}


def test_a_quarantined_node_that_elects_or_waits_is_told_with_how_it_comes_back() -> None:
    check = checked(RECOVERED, strays=[node(2, leader=None, epoch=9)])
    assert codes(check) == {"QUARANTINED"}
    assert check.findings[0].advice == "wiped"


def test_one_that_follows_the_recovered_leader_has_come_back() -> None:
    check = checked(RECOVERED, node(2, epoch=1001), strays=[node(2, epoch=1001)])
    assert codes(check) == {"RETURNED"}


def test_voters_that_were_added_since_are_fine_and_other_voters_are_not() -> None:
    grown = described([replica(1, end=5100), replica(4, end=5100)], epoch=1001, mark=5100)
    assert codes(checked(grown)) == {"VOTERS-CHANGED"}
    other = described([replica(4, end=5100)], epoch=1001, leader=4, mark=5100)
    assert codes(checked(other)) == {"VOTERS"}


def test_a_running_node_with_other_voters_disagrees_and_a_stopped_one_is_behind() -> None:
    assert codes(checked(RECOVERED, directories=[directory(1)])) == set()
    assert codes(checked(RECOVERED, directories=[directory(1, 2, 3)])) == {"DISAGREE"}
    stopped = directory(1, 2, 3, is_running=False)
    assert codes(checked(RECOVERED, directories=[stopped])) == set()


def test_brokers_that_registered_before_need_a_restart() -> None:
    old = BrokerRegistration(id=11, epoch=70, incarnation_id="a", fenced=True)
    new = BrokerRegistration(id=12, epoch=5050, incarnation_id="b", fenced=False)
    check = checked(RECOVERED, brokers=[old, new])
    assert [(finding.code, finding.file) for finding in check.findings] == [
        ("KT-REC-RESTART", "broker 11")
    ]


def test_partitions_elected_uncleanly_after_a_stop_of_everything_are_no_alarm() -> None:
    """Brokers that were killed come back so; after a plan that stops no quorum it is one."""
    findings = [
        signatures.RECOVERING.at("", "2 partitions were elected uncleanly"),
        signatures.RECOVERING.at("", "1 partition of one replica was", severity=Severity.INFO),
    ]
    check = checked(RECOVERED, of_cluster=findings)
    unclean = [finding for finding in check.unwell if finding.code == "KT-REC-UNCLEAN"]
    assert [(finding.text, finding.severity) for finding in unclean] == [
        (finding.text, Severity.INFO) for finding in findings
    ]
    assert [bool(finding.advice) for finding in unclean] == [True, False]
    mending = checked(RECOVERED, of_cluster=findings, plan=replace(PLAN, seed="", quarantine=()))
    assert [
        finding for finding in mending.unwell if finding.code == "KT-SIG-RECOVERING"
    ] == findings


def test_without_a_leader_nothing_is_said_of_voters() -> None:
    check = checked(None, node(1, leader=None, epoch=1001))
    assert codes(check) == set()
    assert "KT-LIVE-NO-LEADER" in {finding.code for finding in check.unwell}


def test_an_error_in_a_file_is_no_part_of_the_plan_only_if_the_plan_uses_it_as_it_is() -> None:
    """An error elsewhere means that no node should start: the plan made the other files."""
    error = log_kinds.DAMAGE.at("/data/segment.log", "the CRC does not match")
    check = DirectoryCheck(
        path="/data", host="node-1", changes=1, stage=Stage.APPLIED, findings=(error,)
    )
    relying = replace(check, relied_on=frozenset({error.file}))
    assert (check.is_wrong, relying.is_wrong) == (True, False)
    verdicts = [
        PlanVerification(plan=PLAN, directories=(one,)).is_as_planned for one in (check, relying)
    ]
    assert verdicts == [False, True]
