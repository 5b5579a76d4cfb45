"""Each difference between sources and its near miss: ids, directory ids, endpoints, settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import quorum_state
from kraftool.directory.voter_history import Commitment
from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.findings.finding import Severity
from tests.reports.log_node import VOTERS, Node
from tests.reports.voter_cases import (
    LogBuilder,
    add_snapshot,
    copied,
    directory_of,
    leader,
    make_node,
    server,
    started,
    version,
    voter,
    voters,
)
from tests.reports.voter_nodes import STATIC, compared, findings, node, only
from tests.support.places import PARTITION

# Sets.


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (voter(3, port=1), "CONTROLLER localhost:1 → localhost:9093"),
        (voter(3, listener="OTHER"), "CONTROLLER none → localhost:9093"),
        (voter(3, directory="AnotherDirectoryIdAAAA"), "directory id"),
        (voter(3, highest=2), "kraft.version range 0-2 → 0-1"),
    ],
)
def test_logs_of_one_epoch_with_other_voters_differ(
    tmp_path: Path, changed: dict[str, Any], words: str
) -> None:
    log = LogBuilder().control(1, leader(1, (1, 2, 3)), version(), voters(1, 2, changed))
    diff = compared(node(tmp_path, 1), node(tmp_path, 2, log=log.noops(1, 5)))
    assert diff.has_differences
    assert words in "; ".join(word for source in diff.sources for word in source.differences)


def test_listener_names_are_compared_in_capitals(tmp_path: Path) -> None:
    lower = started().control(1, voters(1, 2, voter(3, listener="controller")))
    diff = compared(node(tmp_path, 1, log=lower), node(tmp_path, 2))
    assert not diff.has_differences


def test_sources_whose_histories_never_meet_differ(tmp_path: Path) -> None:
    first = add_snapshot(node(tmp_path, 1), 20, 1, version(), voters(1, 2, 3))
    other = add_snapshot(node(tmp_path, 4), 30, 1, version(), voters(4, 5, 6))
    (finding,) = compared(first, other).findings
    assert (finding.code, finding.severity) == ("KT-DIR-VOTERS-DIFFER", Severity.ERROR)
    assert finding.file == str(first)
    assert "voter 1 only here" in finding.text
    assert "voter 4 missing here" in finding.text


def test_another_cluster_is_an_error_and_is_not_compared(tmp_path: Path) -> None:
    other = node(tmp_path, 4, cluster="AnotherClusterIdAAAAAA", log=started((4, 5)))
    diff = compared(node(tmp_path, 1), other)
    (finding,) = diff.findings
    assert (finding.code, finding.severity) == ("KT-DIR-CLUSTER-ID", Severity.ERROR)
    assert finding.found == "AnotherClusterIdAAAAAA"
    assert [source.is_of_other_cluster for source in diff.sources] == [False, True]
    assert not diff.has_differences


@pytest.mark.parametrize(
    ("new", "codes"),
    [
        # As a lost majority is overcome by hand: 2 and 3 can elect without the one that is left.
        ((1,), ["KT-LOG-VOTERS-JUMP"]),
        # Kafka's own check lets a swap pass; 1 and 2 can elect, and so can 3 and 9.
        ((1, 3, 9), ["KT-LOG-VOTERS-JUMP"]),
        ((1, 2, voter(3, directory="AnotherDirectoryIdAAAA")), ["KT-LOG-VOTERS-JUMP"]),
        ((1, 2), []),
        ((1, 2, 3, 4), []),
        ((1, 2, voter(3, port=1)), []),
    ],
)
def test_a_record_that_changes_more_than_one_voter_is_a_warning(
    tmp_path: Path, new: tuple[int | dict[str, Any], ...], codes: list[str]
) -> None:
    path = node(tmp_path, 1, log=started().control(1, voters(*new)).noops(1, 1))
    assert [finding.code for finding in compared(path).findings] == codes
    for finding in compared(path).findings:
        assert finding.severity is Severity.WARNING
        assert finding.expected == "1, 2, 3"
        assert "2 of the 3 earlier voters can elect" in finding.text


def test_majorities_that_overlap_are_not_said_to_go_apart(tmp_path: Path) -> None:
    log = started((1, 2, 3, 4)).control(1, voters(1, 2)).noops(1, 1)
    finding = only(node(tmp_path, 1, log=log))
    assert (finding.code, finding.severity) == ("KT-LOG-VOTERS-JUMP", Severity.WARNING)
    assert "can elect" not in finding.text


def test_a_jump_is_settled_by_a_snapshot_beyond_it_and_not_by_a_majority(tmp_path: Path) -> None:
    log = started().control(1, voters(1)).noops(1, 1)
    everywhere = [node(tmp_path, id, log=log) for id in (1, 2, 3)]
    reported = [finding for finding in compared(*everywhere).findings if "JUMP" in finding.code]
    assert [finding.severity for finding in reported] == [Severity.WARNING]
    add_snapshot(everywhere[0], 9, 1, version(), voters(1))
    reported = [finding for finding in compared(*everywhere).findings if "JUMP" in finding.code]
    assert [finding.severity for finding in reported] == [Severity.INFO]


def test_a_first_leader_with_other_voters_than_the_nodes_own_format_is_no_jump(
    tmp_path: Path,
) -> None:
    path = node(tmp_path, 2, log=started((1, 3)))
    add_snapshot(path, 0, 0, version(), voters(2))
    assert not [finding for finding in compared(path).findings if "JUMP" in finding.code]


def advice_for(path: Path, *others: Path) -> str:
    (finding,) = [
        finding
        for finding in compared(*others, path).findings
        if finding.code == "KT-DIR-NOT-A-VOTER" and finding.file == str(path)
    ]
    assert finding.severity is Severity.INFO
    return finding.advice


@pytest.fixture
def real(fixtures_dir: Path, tmp_path: Path) -> Callable[[int], Path]:
    """Nodes 2, 3 and 4 of a real quorum whose voters they are."""

    def node_of(id: int) -> Path:
        folder = fixtures_dir / f"kafka-4.3.0/dynamic-quorum/node-{id}"
        return copied(folder, tmp_path / f"node-{id}") / "data"

    return node_of


def test_no_controller_is_told_to_stop_on_the_word_of_a_set_written_by_hand(
    real: Callable[[int], Path],
) -> None:
    hand, *healthy = (real(id) for id in (2, 3, 4))
    last = Node(hand).batches()[-1]
    value = Node(hand).voters()
    kept = [listed for listed in value["voters"] if listed["voterId"] == 2]
    Node(hand).control((VOTERS, {**value, "voters": kept}))
    diff = compared(hand, *healthy)
    entry = diff.sources[0].directory.newest
    assert entry is not None
    assert entry.offset == last.last_offset + 1
    assert entry.commitment is Commitment.UNKNOWN
    assert "2, 3, 4" in entry.reason
    codes = {finding.code: finding.severity for finding in diff.findings}
    assert codes["KT-LOG-VOTERS-JUMP"] is Severity.WARNING
    for path in healthy:
        advice = advice_for(path, hand)
        assert "stop it" not in advice
        assert f"Do not start the directory of {hand}" in advice


def test_a_removal_that_nothing_proves_stops_nobody(real: Callable[[int], Path]) -> None:
    ahead, other = real(2), real(4)
    value = Node(ahead).voters()
    kept = [entry for entry in value["voters"] if entry["voterId"] != 4]
    Node(ahead).control((VOTERS, {**value, "voters": kept}))
    assert "stop it" not in advice_for(other, ahead)
    assert "Keep this node" in advice_for(other, ahead)


def test_a_removal_that_is_proved_may_be_followed(fixtures_dir: Path) -> None:
    folder = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    assert "Stop it" in advice_for(folder / "node-1/data", folder / "node-2/data")


# Logs that part.


def test_a_log_that_parted_before_the_change_is_not_behind_it(tmp_path: Path) -> None:
    """Node 2 led epoch 1 and removed 4 by itself; 3 and 4 led on in epoch 2 from before that."""
    common = started((2, 3, 4)).noops(1, 2)
    log = common.copy().noops(1, 3).control(1, voters(2, 3))
    lost = node(tmp_path, 2, log=log, leader_id=2)
    on = common.copy().control(2, leader(3, (2, 3, 4))).noops(2, 1)
    won = [node(tmp_path, id, log=on, epoch=2, leader_id=3) for id in (3, 4)]
    diff = compared(lost, *won)
    assert diff.newest_directory is diff.sources[1].directory
    assert not any(source.is_behind for source in diff.sources)
    assert {finding.code for finding in diff.findings} == {"KT-DIR-VOTERS-CONFLICT"}
    assert "has epoch 2" in diff.findings[0].found
    assert diff.sources[0].differences == ("voter 4 missing here",)
    # The same history, only shorter, is still behind.
    short = node(tmp_path, 3, log=common.copy().noops(1, 3), leader_id=2)
    assert compared(lost, short).sources[1].is_behind


def test_the_places_of_a_kind_in_one_file_are_one_finding_with_their_number(tmp_path: Path) -> None:
    log = started()
    for epoch in range(2, 60):
        log.control(epoch, leader(2, (1, 2)))
    diff = compared(node(tmp_path, 1, log=log, epoch=60))
    (finding,) = diff.findings
    assert (finding.code, finding.count) == ("KT-DIR-LEADER-VOTERS", 58)
    assert len(finding.places) == 9


# quorum-state and LeaderChange.


def test_a_vote_for_a_stranger_is_a_warning(tmp_path: Path) -> None:
    finding = only(node(tmp_path, 1, voted=(7, directory_of(7)), leader_id=-1))
    assert (finding.code, finding.field) == ("KT-DIR-VOTE-STRANGER", "votedId")
    assert finding.severity is Severity.WARNING
    assert findings(node(tmp_path, 1, leader_id=7)) == [("VOTE-STRANGER", Severity.WARNING)]
    assert findings(node(tmp_path, 1, voted=(2, directory_of(2)), leader_id=-1)) == []


def test_a_vote_for_another_directory_of_a_voter_is_a_warning(tmp_path: Path) -> None:
    finding = only(node(tmp_path, 1, voted=(2, "AnotherDirectoryIdAAAA"), leader_id=-1))
    assert (finding.code, finding.field) == ("KT-DIR-VOTE-STRANGER", "votedDirectoryId")
    assert finding.expected == directory_of(2)
    assert findings(node(tmp_path, 1, voted=(2, "A" * 22), leader_id=-1)) == []


def test_a_leader_that_was_removed_since_is_info(tmp_path: Path) -> None:
    log = started().control(1, voters(2, 3)).noops(1, 1)
    assert findings(node(tmp_path, 2, log=log, leader_id=1)) == [("VOTE-STRANGER", Severity.INFO)]


def test_current_voters_matter_at_kraft_version_0_only(fixtures_dir: Path, tmp_path: Path) -> None:
    static = copied(fixtures_dir / "kafka-3.7.2/static-quorum/node-1", tmp_path / "static")
    state = static / "data" / PARTITION / "quorum-state"
    data = quorum_state.decode(state.read_bytes())[0].quorum_state
    assert data is not None
    assert findings(static / "server.properties") == []
    state.write_bytes(state.read_bytes().replace(b'{"voterId":3}', b'{"voterId":4}'))
    finding = only(static / "server.properties")
    assert (finding.code, finding.expected) == ("KT-DIR-CURRENT-VOTERS", "1, 2, 3")
    dynamic = node(tmp_path, 1)
    old = quorum_state.QuorumState(
        data_version=0, leader_id=1, leader_epoch=1, current_voters=(7, 8)
    )
    (dynamic / PARTITION / "quorum-state").write_bytes(quorum_state.encode(old))
    assert findings(dynamic) == []


def test_a_leader_elected_by_others_than_the_voters_is_told(tmp_path: Path) -> None:
    log = started().control(2, leader(2, (1, 2)))
    finding = only(node(tmp_path, 1, log=log, epoch=2))
    assert (finding.code, finding.offset) == ("KT-DIR-LEADER-VOTERS", 8)
    assert (finding.expected, finding.found) == ("1, 2, 3", "1, 2")
    log = started().control(1, voters(1, 2)).control(2, leader(2, (2, 1)))
    assert findings(node(tmp_path, 1, log=log, epoch=2)) == []


# Settings.


def test_settings_without_a_directory_are_a_source(tmp_path: Path) -> None:
    diff = compared(node(tmp_path, 1), server(tmp_path / "s.properties", 2))
    assert [source.directory.kind for source in diff.sources] == ["data directory", "settings"]
    assert not diff.findings
    assert not diff.has_differences


def test_static_voters_on_a_dynamic_quorum_are_ignored(tmp_path: Path) -> None:
    both = server(tmp_path / "s.properties", 2, controller_quorum_voters=STATIC)
    assert findings(node(tmp_path, 1), both) == [("STATIC-IGNORED", Severity.INFO)]
    assert findings(both) == []
    alone = server(
        tmp_path / "t.properties", 2,
        controller_quorum_voters=STATIC, controller_quorum_bootstrap_servers="",
    )  # fmt: skip
    assert findings(node(tmp_path, 1), alone) == [("NO-BOOTSTRAP", Severity.WARNING)]
    assert findings(alone) == []


def test_settings_that_all_nodes_have_left_are_one_warning(tmp_path: Path) -> None:
    """After an upgrade of kraft.version there were two warnings for each node."""
    left = {"controller_quorum_voters": STATIC, "controller_quorum_bootstrap_servers": ""}
    servers = [server(tmp_path / f"{number}.properties", number, **left) for number in (1, 2, 3)]
    assert sorted(findings(node(tmp_path, 1), *servers)) == [
        ("NO-BOOTSTRAP", Severity.INFO),
        ("NO-BOOTSTRAP", Severity.INFO),
        ("NO-BOOTSTRAP", Severity.WARNING),
    ]


def test_a_node_that_cannot_find_the_quorum_is_an_error(tmp_path: Path) -> None:
    neither = server(tmp_path / "s.properties", 2, controller_quorum_bootstrap_servers="")
    assert findings(neither) == [("NO-QUORUM", Severity.ERROR)]


@pytest.mark.parametrize("key", ["listeners", "advertised_listeners"])
def test_an_endpoint_that_changed_is_a_warning(tmp_path: Path, key: str) -> None:
    settings = server(tmp_path / "s.properties", 2, **{key: "CONTROLLER://elsewhere:9092"})
    finding = only(node(tmp_path, 1), settings)
    assert (finding.code, finding.severity) == ("KT-DIR-ENDPOINT-DIFFERS", Severity.WARNING)
    assert finding.expected == "CONTROLLER://localhost:9092"
    assert finding.found == "CONTROLLER://elsewhere:9092"


@pytest.mark.parametrize("listeners", ["CONTROLLER://:9092", "controller://0.0.0.0:9092"])
def test_a_host_that_the_settings_leave_open_is_no_difference(
    tmp_path: Path, listeners: str
) -> None:
    settings = server(tmp_path / "s.properties", 2, listeners=listeners)
    assert findings(node(tmp_path, 1), settings) == []
    settings = server(tmp_path / "t.properties", 2, listeners=listeners.replace("9092", "1"))
    assert findings(node(tmp_path, 1), settings) == [("ENDPOINT-DIFFERS", Severity.WARNING)]


def test_an_ipv6_endpoint_is_told_with_its_brackets(tmp_path: Path) -> None:
    settings = server(tmp_path / "s.properties", 2, listeners="CONTROLLER://[2001:db8::2]:9092")
    (judged,) = read_sources([str(settings)])
    source = judged.directory
    assert source.settings is not None
    assert source.settings.advertised_endpoints["CONTROLLER"].host == "2001:db8::2"
    assert only(node(tmp_path, 1), settings).found == "CONTROLLER://[2001:db8::2]:9092"


def test_a_majority_of_changed_endpoints_is_an_error(tmp_path: Path) -> None:
    moved = [
        server(tmp_path / f"{id}.properties", id, listeners=f"CONTROLLER://elsewhere:{id}")
        for id in (1, 2)
    ]
    assert findings(node(tmp_path, 3), *moved) == [("ENDPOINT-DIFFERS", Severity.ERROR)] * 2


def test_a_brokers_listeners_are_nobodys_endpoint(tmp_path: Path) -> None:
    broker = server(
        tmp_path / "s.properties", 2, process_roles="broker", listeners="CONTROLLER://x:1"
    )
    assert findings(node(tmp_path, 1), broker) == []


def test_static_voters_that_differ_are_an_error(fixtures_dir: Path, tmp_path: Path) -> None:
    folder = fixtures_dir / "kafka-3.7.2/static-quorum"
    nodes = [copied(folder / f"node-{id}", tmp_path / f"node-{id}") for id in (1, 2)]
    paths = [path / "server.properties" for path in nodes]
    assert findings(*paths) == []
    text = paths[1].read_text()
    (line,) = [line for line in text.splitlines() if line.startswith("controller.quorum.voters")]
    paths[1].write_text(text.replace(line, line.rpartition(",")[0]))
    reported = findings(*paths)
    assert ("STATIC-DIFFER", Severity.ERROR) in reported
    assert ("STATIC-DIFFER", Severity.WARNING) in reported  # nor those that elected the leader
    assert compared(*paths).has_differences


EDITED = "KT-DIR-NODE-ID-EDITED"


def test_a_voters_directory_under_a_node_id_of_nobody_was_edited(tmp_path: Path) -> None:
    """Kafka 4.3.1: "Stored node id 77 doesn't match previous node id 2"; with node.id=77 in its
    settings too it starts as an observer (tests/interop/start_claims_quorum.py)."""
    ids = (1, 2, 3)
    paths = [make_node(tmp_path / str(id), id, started(ids)) for id in ids]
    meta = paths[1] / "meta.properties"
    meta.write_text(meta.read_text().replace("node.id=2", "node.id=77"))
    for given in ([paths[1]], paths):
        (finding,) = [one for one in compared(*given).findings if one.code == EDITED]
        assert (finding.file, finding.field) == (str(meta), "node.id")
        assert (finding.expected, finding.found) == ("2", "77")


def test_a_copy_beside_the_voters_own_directory_is_told_as_a_copy(tmp_path: Path) -> None:
    path = make_node(tmp_path / "2", 2, started((2,)))
    copy = make_node(tmp_path / "copy", 77, started((2,)), directory=directory_of(2))
    codes = {finding.code for finding in compared(path, copy).findings}
    assert "KT-DIR-SAME-DIRECTORY-ID" in codes
    assert EDITED not in codes
