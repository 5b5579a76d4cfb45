"""Running nodes beside directories: in the comparison of voters, and in front of doctor's rules."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kraftool.client.asking import Access
from kraftool.client.capture import Capturing
from kraftool.client.live import LiveQuorum
from kraftool.client.live_doctor import examine_live
from kraftool.client.live_features import features_of
from kraftool.client.live_sources import live_sources
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.directory.metadata_summary import VoterSource
from kraftool.directory.voter_history import Commitment, Origin
from kraftool.raft.messages import ReplicaState
from kraftool.raft.names import ReplicaKey
from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.doctor.read import locations_of
from kraftool.reports.doctor.report import DoctorReport, diagnose
from kraftool.reports.features.model import ProcessRole
from kraftool.reports.voters.diff import VoterDiff, diff_voters
from tests.client.scripted_leader import ScriptedLeader
from tests.client.views import NOW, described, gone, node, replica
from tests.support.places import FIXTURES

NODES = FIXTURES / "kafka-4.3.0/dynamic-quorum"
CLUSTER = "cluster.id"
OPTIONS = ("--bootstrap-controller", "ctl-1:9093")


def _directory(number: int) -> str:
    return str(NODES / f"node-{number}/data")


def _meta(number: int) -> dict[str, str]:
    text = (NODES / f"node-{number}/data/meta.properties").read_text()
    return dict(line.split("=") for line in text.splitlines() if "=" in line)


def _leader(number: int = 2, *, with_snapshot: bool = False) -> ScriptedLeader:
    """As if node 1 of the views led with the log of this node."""
    folder = Path(_directory(number)) / "__cluster_metadata-0"
    return ScriptedLeader(folder, with_snapshot=with_snapshot)


def _as_node(view: QuorumView, number: int, *others: NodeAnswer) -> QuorumView:
    """The leader of a view as this node of the fixture, with its directory id and cluster."""
    (leader,) = view.nodes
    assert leader.quorum is not None
    meta = _meta(number)
    voters = [
        ReplicaState(
            replica=ReplicaKey(node_id, _meta(node_id)["directory.id"]),
            log_end_offset=leader.quorum.voters[0].log_end_offset,
            last_fetch_timestamp=NOW,
            last_caught_up_timestamp=NOW,
        )
        for node_id in (2, 3, 4)
    ]
    quorum = replace(leader.quorum, leader_id=number, voters=tuple(voters), nodes={})
    first = replace(
        leader, node_id=number, leader_id=number, quorum=quorum, cluster_id=meta[CLUSTER]
    )
    rest = [
        replace(other, cluster_id=meta[CLUSTER]) if other.cluster_id == "cluster" else other
        for other in others
    ]
    return QuorumView(nodes=(first, *rest))


@contextmanager
def _live(leader: ScriptedLeader, *others: NodeAnswer, number: int = 2) -> Iterator[LiveQuorum]:
    with Capturing() as capturing:

        async def run() -> LiveQuorum:
            async with leader.running() as view:
                seen = _as_node(view, number, *others)
                captured = await capturing.capture(seen, Access(timeout_s=10), with_image=True)
                return LiveQuorum(before=seen, now=seen, captured=captured)

        yield asyncio.run(run())


def _diff(leader: ScriptedLeader, paths: Sequence[str], *others: NodeAnswer) -> VoterDiff:
    with _live(leader, *others) as live:
        return diff_voters([*read_sources(paths), *live_sources(live)])


def _follower(number: int) -> NodeAnswer:
    return node(number, leader=2, epoch=9)


# --- diff-voters ----------------------------------------------------------------------------------


def test_a_running_leader_and_directories_tell_one_history() -> None:
    paths = [_directory(number) for number in (2, 3, 4)]
    diff = _diff(_leader(), paths, _follower(3), _follower(4))
    assert not diff.has_differences
    assert [source.directory.is_live for source in diff.sources] == [False] * 3 + [True] * 3
    assert {source.directory.node.cluster_id for source in diff.sources} == {_meta(2)[CLUSTER]}
    assert not [finding.text for finding in diff.findings if finding.severity.value == "error"]
    directory, leader = (
        {entry.identity for entry in source.directory.history.entries if entry.origin is Origin.LOG}
        for source in diff.sources
        if source.directory.node.node_id == 2
    )
    assert leader == directory != set(), "the same records, the same digests"


def test_the_directory_of_a_running_node_is_no_copy_of_it() -> None:
    codes = {finding.code for finding in _diff(_leader(), [_directory(2)]).findings}
    assert "KT-DIR-SAME-DIRECTORY-ID" not in codes


def test_what_a_running_leader_has_not_committed_is_known() -> None:
    leader = _leader()
    with _live(leader) as live:
        (source,) = diff_voters(live_sources(live)).sources
    last = source.directory.voter_sets[-1]
    assert last.commitment is Commitment.COMMITTED
    assert last.reason

    leader = _leader()
    leader.high_watermark = last.offset
    with _live(leader) as live:
        (source,) = diff_voters(live_sources(live)).sources
    *before, pending = source.directory.voter_sets
    assert pending.commitment is Commitment.PENDING
    assert f"high watermark is {last.offset}" in pending.reason
    assert all(entry.commitment in (Commitment.COMMITTED, Commitment.FORMATTED) for entry in before)


def test_a_directory_that_ends_before_the_newest_change_is_behind_the_running_leader(
    tmp_path: Path,
) -> None:
    (judged,) = read_sources([_directory(3)])
    whole = judged.directory
    assert whole.newest is not None
    shutil.copytree(_directory(3), tmp_path / "data")
    folder = tmp_path / "data/__cluster_metadata-0"
    for path in folder.glob("*[1-9]*.checkpoint"):
        path.unlink()
    os.truncate(folder / "00000000000000000000.log", whole.newest.position)
    diff = _diff(_leader(), [str(tmp_path / "data")])
    behind, live = diff.sources
    assert behind.is_behind
    assert behind.differences
    assert diff.newest_directory is live.directory


def test_static_voters_are_those_that_the_leader_names() -> None:
    quorum = described([replica(1), replica(2)])
    voters = [replace(voter, replica=ReplicaKey(voter.replica.id)) for voter in quorum.voters]
    seen = QuorumView(nodes=(node(1, quorum=replace(quorum, voters=tuple(voters))), node(2)))
    live = LiveQuorum(before=seen, now=seen, unobserved="it answers CLUSTER_AUTHORIZATION_FAILED")
    first, second = live_sources(live)
    assert first.directory.in_force is not None
    assert first.directory.in_force.source is VoterSource.LEADER
    assert [voter.id for voter in first.directory.in_force.voters] == [1, 2]
    assert first.directory.in_force.voters.voters[1].endpoints == {"CONTROLLER": ("ctl-1", 9093)}
    assert second.directory.in_force is None
    assert [finding.code for finding in first.findings] == ["KT-LIVE-UNOBSERVED"]
    assert not diff_voters([first, second]).has_differences


def test_an_old_leader_is_taken_by_its_own_word() -> None:
    """It has not learned yet that another leads, with other voters."""
    old = node(1, quorum=described([replica(1), replica(2)], epoch=4), epoch=4)
    new = node(2, quorum=described([replica(2), replica(3)], epoch=5, leader=2), leader=2)
    seen = QuorumView(nodes=(old, new))
    voter_sets = [
        live_source.directory.seen_voters
        for live_source in live_sources(LiveQuorum(before=seen, now=seen))
    ]
    assert [
        [voter.id for voter in voters.voters] for voters in voter_sets if voters is not None
    ] == [
        [1, 2],
        [2, 3],
    ]


def test_a_node_that_is_gone_and_one_of_another_cluster() -> None:
    stranger = replace(node(3), cluster_id="another", leader_id=3)
    diff = _diff(_leader(), [], gone(4), stranger)
    by_code = {finding.code: finding for finding in diff.findings}
    assert "node 4 (ctl-4:9093)" in by_code["KT-LIVE-UNREACHED"].file
    assert "KT-DIR-CLUSTER-ID" in by_code
    assert [source.is_of_other_cluster for source in diff.sources] == [False, False, True]


# --- doctor and features --------------------------------------------------------------------------


def _diagnosed(live: LiveQuorum, *paths: str) -> DoctorReport:
    locations, findings = locations_of(paths)
    return diagnose(examine_live(live, OPTIONS, locations, findings, lambda name, position: None))


@pytest.mark.parametrize(("committed", "found"), [(0, True), (1, False), (2, False)])
def test_two_changes_of_the_voters_that_a_leader_has_not_committed(
    committed: int, found: bool
) -> None:
    """The log of a real quorum, whose leader has committed none, one or both of the last two."""
    leader = _leader()
    with _live(leader) as live:
        (source,) = diff_voters(live_sources(live)).sources
    *_, first, second = source.directory.voter_sets
    leader.high_watermark = [first.offset, second.offset, leader.end][committed]
    with _live(leader) as live:
        report = _diagnosed(live)
    code = "KT-SIG-TWO-VOTER-CHANGES"
    words = [finding.text for finding in report.findings if finding.code == code]
    assert bool(words) is found
    assert all(f"{first.offset}, {second.offset}" in text for text in words)


def test_doctor_looks_at_a_running_leader_like_at_a_directory() -> None:
    with _live(_leader(), _follower(3), gone(4)) as live:
        report = _diagnosed(live)
    codes = {finding.code for finding in report.findings}
    # Of the state, of the nodes, and of the history of voters.
    assert {"KT-LIVE-UNREACHED", "KT-SIG-LOCAL-ENDPOINT"} <= codes
    (own, *_) = [section for section in report.sections if section.path]
    assert own.examined is not None
    assert own.examined.source.is_live
    assert own.path.startswith("node 2 (")
    commands = [command for one in report.sections for d in one.diagnoses for command in d.commands]
    assert not [
        command for command in (*commands, *report.deeper_commands) if "node 2 (" in command
    ]
    assert "kraftool quorum health --bootstrap-controller ctl-1:9093" in report.deeper_commands


def test_a_nodes_own_directory_is_looked_at_once() -> None:
    with _live(_leader(), _follower(3), _follower(4)) as live:
        report = _diagnosed(live, _directory(2), _directory(3))
    paths = [section.path for section in report.sections if section.path]
    assert paths == [_directory(2), _directory(3)]
    assert "KT-DIR-SAME-DIRECTORY-ID" not in {finding.code for finding in report.findings}
    assert any(
        "diff-voters" in command and "ctl-1:9093" in command for command in report.deeper_commands
    )


def test_a_directory_in_a_running_voters_place_is_known_by_its_id() -> None:
    """The node fetches with an id that is no voter's: it runs on another directory."""
    other = ReplicaState(
        replica=ReplicaKey(3, "RlGsKpAMTTKnsaRtAXfYRg"), log_end_offset=80,
        last_fetch_timestamp=NOW, last_caught_up_timestamp=NOW,
    )  # fmt: skip
    with _live(_leader(), _follower(3), _follower(4)) as live:
        first, *rest = live.before.nodes
        assert first.quorum is not None
        quorum = replace(first.quorum, observers=(other,))
        seen = QuorumView(nodes=(replace(first, quorum=quorum), *rest))
        report = _diagnosed(replace(live, before=seen, now=seen))
    codes = {finding.code for finding in report.findings}
    assert {"KT-LIVE-OTHER-DIRECTORY", "KT-DIR-STALE-VOTER"} <= codes


def test_features_are_those_of_the_running_leader_with_ranges_that_nodes_told() -> None:
    with _live(_leader(), _follower(3), _follower(77)) as live:
        cluster = features_of(live, [], lambda name, position: None)
    assert cluster.metadata_version == 30
    assert cluster.newest.node_id == 2
    assert cluster.newest.cluster_id == _meta(2)[CLUSTER]
    supports = {support.id: support for support in cluster.of(ProcessRole.CONTROLLER)}
    assert supports[77].range_of("metadata.version") == (7, 30)
    assert 3 in supports
