"""A plan with one of everything, for the tests of its form."""

from __future__ import annotations

from kraftool.raft.names import Endpoint, ReplicaKey, Voter, VoterSet
from kraftool.raft.settings import SUPPORTED_KRAFT_VERSION
from kraftool.repair.plan import (
    Action,
    DirectoryIdentity,
    Edit,
    Expected,
    Fingerprint,
    HostPlan,
    HostRole,
    LostRecords,
    Method,
    Piece,
    Plan,
    PlannedLoss,
    PlanStep,
    Quarantined,
    Ranked,
    RecordCount,
    RequiredSetting,
    Risk,
    SnapshotRecipe,
)
from kraftool.repair.plan_file import PlanFile, PlanFileKind, target_of
from kraftool.reports.election.assessment import LossBound

SEGMENT = target_of("00000000000000000000.log")
JUMP = target_of("00000000000000006000-0000001007.checkpoint")
DELETED = target_of("00000000000000000900-0000000002.checkpoint.deleted")
SNAPSHOT = target_of("00000000000000000900-0000000002.checkpoint")
QUORUM_STATE = target_of("quorum-state")
META = PlanFile(kind=PlanFileKind.META_PROPERTIES, name="meta.properties")

OLD = Fingerprint.of(b"old bytes")
VOTER = Voter(
    key=ReplicaKey(1, "AAAAAAAAAAAAAAAAAAAAAg"),
    endpoints={"CONTROLLER": Endpoint("one.example", 9093)},
    kraft_version=SUPPORTED_KRAFT_VERSION,
)
OTHER = Voter(key=ReplicaKey(2), kraft_version=SUPPORTED_KRAFT_VERSION)


def a_plan() -> Plan:
    """One with every kind of edit."""
    tail = b"\x00\x01\xff"
    recipe = SnapshotRecipe(
        offset=6000,
        epoch=1007,
        timestamp_ms=1_700_000_000_000,
        last_contained_log_timestamp_ms=1_699_999_999_999,
        kraft_version=1,
        voters=VoterSet.of(VOTER),
        state_offset=1000,
        records=25,
        records_sha256="ab" * 32,
        source="node-11",
    )
    assert VOTER.directory_id is not None
    seed = HostPlan(
        name="node-1",
        role=HostRole.SEED,
        identity=DirectoryIdentity(
            node_id=1, directory_id=VOTER.directory_id, cluster_id="cluster"
        ),
        path="/var/lib/kafka",
        expected=(Expected(target=META, fingerprint=OLD),),
        edits=(
            Edit(target=JUMP, snapshot=recipe, why="the state under a higher offset"),
            Edit(
                target=SEGMENT,
                before=OLD,
                after=Fingerprint.of(b"old" + tail),
                pieces=(Piece(file=SEGMENT, end=3), Piece(data=tail)),
            ),
            Edit(target=DELETED, before=OLD),
            Edit(
                target=SNAPSHOT,
                after=OLD,
                pieces=(Piece(file=DELETED, source="node-11", end=OLD.size),),
            ),
            Edit(
                target=QUORUM_STATE,
                before=OLD,
                after=Fingerprint.of(tail),
                pieces=(Piece(data=tail),),
            ),
        ),
        settings=(RequiredSetting(key="controller.quorum.voters", value="1@one.example:9093"),),
    )
    other = HostPlan(name="node-11", role=HostRole.BROKER, identity=DirectoryIdentity(node_id=11))
    return Plan(
        schema_version=1,
        created_ms=1_700_000_000_000,
        tool="1.0",
        method=Method.SNAPSHOT_JUMP,
        cases=("majority-lost",),
        summary=("Two of three voters are lost.",),
        cluster_id="cluster",
        kraft_version=1,
        kafka_version="4.3.0",
        seed="node-1",
        why_seed="the only one left: yes",
        ranking=(Ranked(host="node-1", end_offset=1000, last_epoch=7, voter=True, intact=True),),
        loss=PlannedLoss(
            verdict=LossBound.BOUNDED,
            text="what only node 11 has",
            records=(
                LostRecords(
                    host="node-11",
                    first_offset=1000,
                    end_offset=1003,
                    types=(RecordCount(type="TOPIC_RECORD", count=3),),
                ),
            ),
        ),
        voters_before=VoterSet.of(VOTER, OTHER),
        voters_after=VoterSet.of(VOTER),
        risks=(Risk(word="ahead", text="node 11 is ahead"),),
        steps=(PlanStep(action=Action.STOP, hosts=("node-1", "node-11"), text="Stop: all"),),
        quarantine=(Quarantined(node_id=2, why="an old voter", returns="wiped"),),
        hosts=(seed, other),
    )
