"""What doctor, diff-voters and simulate-election say of a directory that a witness runs on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from kraftool.decoders import meta_properties
from kraftool.storage.files import Files
from kraftool.storage.witness_marker import WitnessMarker
from tests.commands.conftest import Run

NODES = "kafka-4.3.0/dynamic-quorum"


@pytest.fixture
def directories(fixtures_dir: Path, tmp_path: Path) -> list[Path]:
    """The voters 2 and 3 of 2, 3 and 4; a witness was killed on 3."""
    for node_id in (2, 3):
        shutil.copytree(fixtures_dir / NODES / f"node-{node_id}" / "data", tmp_path / str(node_id))
    meta, _ = meta_properties.decode((tmp_path / "3" / "meta.properties").read_bytes())
    assert meta.directory_id is not None
    WitnessMarker.of_this_process(3, meta.directory_id, is_last_resort=True).write(
        Files(), str(tmp_path / "3")
    )
    return [tmp_path / "2", tmp_path / "3"]


def test_the_doctor_says_that_a_directory_is_a_witness_s(
    kraftool: Run, directories: list[Path]
) -> None:
    ran = kraftool("doctor", *directories)
    assert "UNKNOWN-FILE" not in ran.text
    other, _, own = ran.text.partition(str(directories[1]))
    assert str(directories[0]) in other
    assert "witness" not in other
    assert own.splitlines()[1] == "  a witness's: kraftool node runs on it, or was killed"


def test_simulate_election_models_the_witness_that_a_directory_names(
    kraftool: Run, directories: list[Path]
) -> None:
    ran = kraftool("simulate-election", *directories, "--runs", "3", "-v")
    words = " ".join(ran.text.split())
    assert "3 is a witness, which leads only as a last resort" in words
    assert "Node 3 is a witness: it votes, and leads only as a last resort." in words
    assert "A leader is elected: 3" not in words


def test_a_marker_counts_no_more_once_a_kafka_has_written_quorum_state(
    kraftool: Run, directories: list[Path]
) -> None:
    state = directories[1] / "__cluster_metadata-0" / "quorum-state"
    later = state.stat().st_mtime_ns + 3_000_000_000
    os.utime(state, ns=(later, later))
    assert "witness's" not in kraftool("doctor", *directories).text
    assert "witness" not in kraftool("simulate-election", *directories, "--runs", "3", "-v").text


def test_an_option_makes_a_witness_of_any_node(kraftool: Run, directories: list[Path]) -> None:
    (directories[1] / "kraftool-witness").unlink()
    ran = kraftool("simulate-election", *directories, "--runs", "3", "-v", "--witness", "2")
    assert "Node 2 is a witness" in " ".join(ran.text.split())
    wrong = kraftool("simulate-election", *directories, "--witness", "9")
    assert wrong.code == 2
    assert "--witness 9: there is no such node here" in wrong.err


def test_witnesses_alone_cannot_lead(kraftool: Run, directories: list[Path]) -> None:
    # A witness leads only to hand over to a Kafka: without one the table says no.
    ran = kraftool(
        "simulate-election", *directories, "--runs", "3", "-v", "--witness", "2", "--witness", "3"
    )
    assert "No leader is possible" in ran.text
    assert "as a last resort\n" not in ran.text
    assert ran.text.count("no: a witness") == 2
