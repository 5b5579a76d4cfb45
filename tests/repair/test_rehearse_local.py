"""Copies that nodes of this machine run on: no real host is left in what they are told.

A byte is only another where the voters' endpoints stand; the log stays the same log.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from kraftool.decoders import control, properties
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.raft.names import Endpoint
from kraftool.raft.wire.batches import voter_set
from kraftool.repair.rehearsal_local import (
    LocalNode,
    listener_of,
    localize,
    write_settings,
)
from kraftool.repair.rehearsal_software import free_ports
from kraftool.reports.findings.finding import Severity
from kraftool.reports.verify.log import verify_logs
from kraftool.reports.verify.snapshot import verify_snapshots
from kraftool.storage.paths import open_path
from tests.repair.directories import Quorum, batches, flip_in_batch
from tests.support.places import PARTITION

DYNAMIC = "kafka-4.3.0/dynamic-quorum"
PORTS = {3: 23003, 4: 23004}
NOWHERE = 23999


def voters_of(path: Path) -> list[dict[int, dict[str, Endpoint]]]:
    """Every VotersRecord of a file."""
    voter_sets = []
    for batch in batches(path):
        for record in batch.records() if batch.is_control else ():
            if control.BY_ID.get(control.read_key(record.key)) is ControlRecordType.KRAFT_VOTERS:
                message = control.decode_value(ControlRecordType.KRAFT_VOTERS, record.value)[1]
                voter_sets.append(
                    {voter.key.id: dict(voter.endpoints) for voter in voter_set(message)}
                )
    return voter_sets


def test_every_record_of_the_voters_names_this_machine_and_nothing_else_changes(
    tmp_path: Path,
) -> None:
    quorum = Quorum(tmp_path, DYNAMIC, [3])
    old = tmp_path / "old"
    shutil.copytree(quorum[3], old)
    changed = localize(str(quorum[3]), "CONTROLLER", PORTS, NOWHERE)
    seen = 0
    for path in sorted(quorum.partition(3).iterdir()):
        before = old / PARTITION / path.name
        if path.suffix not in (".log", ".checkpoint"):
            assert path.read_bytes() == before.read_bytes()
            continue
        voters = voters_of(path)
        assert len(voters) == len(voters_of(before))
        for voter in voters:
            seen += 1
            for node_id, endpoints in voter.items():
                port = PORTS.get(node_id, NOWHERE)
                assert endpoints == {"CONTROLLER": Endpoint("127.0.0.1", port)}
        for ours, theirs in zip(batches(path), batches(before), strict=True):
            assert (ours.base_offset, ours.last_offset, ours.epoch, ours.is_control) == (
                theirs.base_offset, theirs.last_offset, theirs.epoch, theirs.is_control,
            )  # fmt: skip
            assert ours.is_control or ours.data == theirs.data
    assert changed >= 2, "the log and snapshots"
    assert seen >= 4
    assert not list(quorum.partition(3).glob("*.index")), "positions are others"
    assert not list(quorum.partition(3).glob("*.rehearsed"))
    location = open_path(str(quorum[3]))
    wrong = [*verify_logs([location]).rows, *verify_snapshots([location]).all_findings]
    assert [finding for finding in wrong if finding.severity is Severity.ERROR] == []


def test_logs_that_were_alike_stay_alike(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, DYNAMIC, [3, 4])
    assert quorum.segment(3).read_bytes() == quorum.segment(4).read_bytes()
    for node in (3, 4):
        localize(str(quorum[node]), "CONTROLLER", PORTS, NOWHERE)
    assert quorum.segment(3).read_bytes() == quorum.segment(4).read_bytes()


def test_damage_stays_what_it_is(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, DYNAMIC, [3])
    damaged = flip_in_batch(quorum.segment(3), 20)
    tail = b"\x00\x00torn"
    with quorum.segment(3).open("ab") as file:
        file.write(tail)
    before = quorum.segment(3).read_bytes()
    localize(str(quorum[3]), "CONTROLLER", PORTS, NOWHERE)
    after = quorum.segment(3).read_bytes()
    assert after.endswith(tail)
    assert before[damaged.position : damaged.position + damaged.size] in after


def test_static_quorums_have_no_such_record(tmp_path: Path) -> None:
    quorum = Quorum(tmp_path, "kafka-3.7.2/static-quorum", [1])
    before = quorum.segment(1).read_bytes()
    assert localize(str(quorum[1]), "CONTROLLER", PORTS, NOWHERE) == 0
    assert quorum.segment(1).read_bytes() == before
    assert listener_of([str(quorum[1])]) == "CONTROLLER"


def test_settings_have_nothing_of_a_real_node(tmp_path: Path) -> None:
    nodes = [
        LocalNode(
            id=node_id,
            directory=str(tmp_path / f"d{node_id}"),
            folder=str(tmp_path / f"r{node_id}"),
            port=port,
        )
        for node_id, port in PORTS.items()
    ]  # fmt: skip
    for node in nodes:
        Path(node.folder).mkdir()
    write_settings(nodes, [node.endpoint for node in nodes], "CTL", {})
    settings = properties.decode(Path(nodes[0].config).read_bytes())[0].as_dict()
    assert settings == {
        "process.roles": "controller",
        "node.id": "3",
        "controller.listener.names": "CTL",
        "listeners": "CTL://127.0.0.1:23003",
        "listener.security.protocol.map": "CTL:PLAINTEXT",
        "log.dirs": str(tmp_path / "d3"),
        "controller.quorum.bootstrap.servers": "127.0.0.1:23003,127.0.0.1:23004",
        "delegation.token.secret.key": "made-for-a-rehearsal",
    }
    for node in nodes:
        Path(node.config).unlink()
    write_settings(nodes, [], "CTL", {3: 23003, 4: 23004, 5: NOWHERE})
    settings = properties.decode(Path(nodes[1].config).read_bytes())[0].as_dict()
    assert "controller.quorum.bootstrap.servers" not in settings
    assert settings["controller.quorum.voters"] == (
        "3@127.0.0.1:23003,4@127.0.0.1:23004,5@127.0.0.1:23999"
    ), "one that is not given is a voter all the same, and down"


@pytest.mark.parametrize("name", ["récup 恢复 😀", "a\\b", "a: b=#!", "a\nb"])
def test_a_path_comes_back_whatever_is_in_it(tmp_path: Path, name: str) -> None:
    node = LocalNode(id=1, directory=str(tmp_path / name), folder=str(tmp_path), port=1)
    write_settings([node], [], "CTL", {})
    settings = properties.decode(Path(node.config).read_bytes())[0]
    assert settings.get("log.dirs") == node.directory


def test_a_path_that_kafka_would_split_is_refused(tmp_path: Path) -> None:
    node = LocalNode(id=1, directory="/a,b", folder=str(tmp_path), port=1)
    with pytest.raises(KraftoolError, match="comma"):
        write_settings([node], [], "CTL", {})


def test_ports_are_held_so_that_nobody_takes_what_stands_for_nobody() -> None:
    with ExitStack() as one, ExitStack() as other:
        held = free_ports(one, 3)
        assert not set(held) & set(free_ports(other, 3))
