"""Who the nodes are: disks that were swapped, copied or edited, and controllers without a vote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kraftool.reports.findings.finding import Finding, Severity
from tests.reports.voter_cases import (
    LogBuilder,
    add_snapshot,
    copied,
    directory_of,
    leader,
    server,
    started,
    version,
    voter,
    voters,
)
from tests.reports.voter_nodes import STATIC, compared, findings, node, only

# Who the nodes are.


def test_a_voter_whose_disk_was_swapped_is_stale(fixtures_dir: Path, tmp_path: Path) -> None:
    folder = fixtures_dir / "kafka-4.3.0/dynamic-quorum"
    swapped = copied(folder / "node-3", tmp_path / "node-3")
    meta = swapped / "data/meta.properties"
    meta.write_text(meta.read_text().replace("2Z8JApBiRl-Vj1-Gz3rfbg", "NewDiskNewDiskNewDiskA"))
    for paths in ([swapped / "data"], [folder / "node-2/data", swapped / "data"]):
        (finding,) = compared(*paths).findings
        assert (finding.code, finding.severity) == ("KT-DIR-STALE-VOTER", Severity.ERROR)
        assert finding.expected == "2Z8JApBiRl-Vj1-Gz3rfbg"
        assert finding.found == "NewDiskNewDiskNewDiskA"
        assert finding.file == str(meta)


def test_an_empty_new_disk_is_seen_by_the_voters_of_another_node(tmp_path: Path) -> None:
    fresh = node(tmp_path, 3, log=LogBuilder(), directory="NewDiskNewDiskNewDiskA")
    assert ("STALE-VOTER", Severity.ERROR) not in findings(fresh)
    assert ("STALE-VOTER", Severity.ERROR) in findings(node(tmp_path, 1), fresh)


def test_a_voter_that_was_added_again_with_its_new_disk_is_not_stale(tmp_path: Path) -> None:
    new = "NewDiskNewDiskNewDiskA"
    log = started().control(1, voters(1, 2)).control(1, voters(1, 2, voter(3, directory=new)))
    assert findings(node(tmp_path, 3, log=log, directory=new)) == []
    behind = node(tmp_path, 2)  # still has the old directory id
    codes = findings(behind, node(tmp_path, 3, log=log, directory=new))
    assert codes == [("VOTERS-BEHIND", Severity.INFO)]


def test_voters_without_a_directory_id_match_any(tmp_path: Path) -> None:
    log = LogBuilder().control(1, leader(1, (1,)), version(), voters(voter(1, directory="A" * 22)))
    assert findings(node(tmp_path, 1, log=log)) == []


def test_old_and_new_disk_of_one_node_are_told(tmp_path: Path) -> None:
    old, new = node(tmp_path, 1), node(tmp_path, 1, directory="NewDiskNewDiskNewDiskA")
    assert sorted(findings(old, new)) == [
        ("SAME-NODE-ID", Severity.WARNING),
        ("STALE-VOTER", Severity.INFO),
    ]


def stale(*paths: Path) -> list[Finding]:
    return [
        finding for finding in compared(*paths).findings if finding.code == "KT-DIR-STALE-VOTER"
    ]


def test_a_disk_beside_that_of_the_voter_asks_for_no_removal(tmp_path: Path) -> None:
    """remove-controller with the id that the voters have would remove the voter that works."""
    own, other = node(tmp_path, 1), node(tmp_path, 1, directory="NewDiskNewDiskNewDiskA")
    (finding,) = stale(own, other)
    assert finding.text.endswith(f"; {own} is that voter's directory")
    assert "remove-controller" not in finding.advice


def test_an_old_disk_in_the_place_of_the_new_one_is_known_by_the_earlier_voters(
    tmp_path: Path,
) -> None:
    new = "NewDiskNewDiskNewDiskA"
    log = started().control(1, voters(1, 2)).control(1, voters(1, 2, voter(3, directory=new)))
    old, newer = node(tmp_path, 3), node(tmp_path, 1, log=log)
    (finding,) = stale(old, newer)
    assert finding.severity is Severity.ERROR
    assert finding.text.endswith("; it was the voter's before")
    assert finding.advice.startswith("find the directory with the other id")
    (behind,) = (finding for finding in compared(old, newer).findings if "BEHIND" in finding.code)
    assert f"directory id {directory_of(3)} → {new}" in behind.text


def test_a_directory_with_the_id_of_another_voter_was_edited(tmp_path: Path) -> None:
    own, edited = node(tmp_path, 3), node(tmp_path, 3, directory=directory_of(2))
    (finding,) = stale(own, edited)
    assert finding.severity is Severity.ERROR
    assert "it has that of voter 2" in finding.text
    assert "write 2 back" in finding.advice


def test_a_wrong_snapshot_makes_no_other_node_stale(tmp_path: Path) -> None:
    """Kafka would go by its voters on that node alone; the log beside it shows it is wrong."""
    paths = [node(tmp_path, id) for id in (1, 2, 3)]
    strangers = (voter(1, directory="AnotherDirectoryIdAAAA"), 2, 3)
    add_snapshot(paths[1], 7, 1, version(), voters(*strangers))
    reported = compared(*paths).findings
    assert {finding.code for finding in reported} == {"KT-SNAP-LOG-VOTERS", "KT-DIR-VOTERS-DIFFER"}
    assert {finding.file for finding in reported if "DIFFER" in finding.code} == {str(paths[1])}
    add_snapshot(paths[1], 8, 1, version(), voters(1, 2, 3))
    assert [finding.code for finding in compared(*paths).findings] == ["KT-SNAP-LOG-VOTERS"]


def test_where_no_majority_is_left_nothing_can_be_removed(tmp_path: Path) -> None:
    swapped = [node(tmp_path, id, directory=f"NewDiskNewDiskNewDisk{id}A"[-22:]) for id in (1, 2)]
    for finding in stale(*swapped):
        assert finding.advice.startswith("neither remove-controller nor add-controller can help")


def test_a_copy_of_a_directory_is_told(tmp_path: Path) -> None:
    assert findings(node(tmp_path, 1), node(tmp_path, 1)) == [
        ("SAME-DIRECTORY-ID", Severity.WARNING)
    ]
    assert findings(node(tmp_path, 1), node(tmp_path, 2)) == []


def same_directory(*paths: Path) -> Finding:
    reported = [
        finding for finding in compared(*paths).findings if "SAME-DIRECTORY-ID" in finding.code
    ]
    assert len(reported) == 1
    return reported[0]


def test_an_id_of_another_nodes_directory_was_written_by_hand(tmp_path: Path) -> None:
    """Directory ids are random: node 3 has that of node 2, and the voters know its own."""
    paths = node(tmp_path, 1), node(tmp_path, 2), node(tmp_path, 3, directory=directory_of(2))
    finding = same_directory(*paths)
    assert (finding.file, finding.expected) == (str(paths[2]), directory_of(3))
    assert finding.text == f"{paths[1]} has the same directory.id as node 2"
    assert "a copy of the other" not in finding.text


def test_a_voter_whose_meta_properties_is_another_ones_is_missed(tmp_path: Path) -> None:
    """Voter 3 has no directory, and node 2 has two: one of them is voter 3's."""
    paths = node(tmp_path, 1), node(tmp_path, 2), node(tmp_path, 2, voted=(1, directory_of(1)))
    finding = same_directory(*paths)
    assert finding.severity is Severity.ERROR
    assert "voter 3 has no directory here: one of the two may belong to that node" in finding.text
    finding = same_directory(*paths[:2], node(tmp_path, 2))
    assert finding.severity is Severity.WARNING  # as an exact copy it may be one


def test_a_controller_that_is_yet_to_be_added_is_info(tmp_path: Path) -> None:
    outsider = node(tmp_path, 9)
    settings = server(tmp_path / "s.properties", 9, log_dirs=str(outsider))
    assert findings(settings) == [("NOT-A-VOTER", Severity.INFO)]
    assert "add-controller" in only(settings).advice
    broker = server(tmp_path / "b.properties", 9, log_dirs=str(outsider), process_roles="broker")
    assert findings(broker) == []


@pytest.mark.parametrize(
    "how",
    [
        {"voted": (9, directory_of(9)), "leader_id": -1},
        {"log": started().control(2, leader(1, (1, 2, 3, 9))), "epoch": 2},
    ],
    ids=["voted for itself", "listed by a leader"],
)
def test_a_controller_that_took_itself_for_a_voter_is_a_warning(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    outsider = node(tmp_path, 9, **how)
    settings = server(tmp_path / "s.properties", 9, log_dirs=str(outsider))
    assert ("NOT-A-VOTER", Severity.WARNING) in findings(settings)


def test_a_controller_in_a_voters_directory_has_an_edited_node_id(tmp_path: Path) -> None:
    """It starts as an observer: 4.3.0 and 3.9.1 did, and the voter is missing."""
    edited = node(tmp_path, 9, directory=directory_of(3))
    settings = server(tmp_path / "s.properties", 9, log_dirs=str(edited))
    assert findings(settings) == [("NODE-ID-EDITED", Severity.ERROR)]


def test_a_controller_outside_a_static_quorum_is_a_warning(tmp_path: Path) -> None:
    """Nobody can be added there: the settings are the voters."""
    log = LogBuilder().control(1, leader(1, (1, 2, 3))).noops(1, 3)
    outsider = node(tmp_path, 9, log=log)
    settings = server(
        tmp_path / "s.properties", 9, log_dirs=str(outsider), controller_quorum_voters=STATIC
    )
    assert ("NOT-A-VOTER", Severity.WARNING) in findings(settings)
