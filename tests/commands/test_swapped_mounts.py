"""The log directories of a node in each other's place: its log is there, and Kafka exits.

Kafka 4.3.1 exits with "Found unexpected metadata location"; `tests/interop/start_claims_files.py`
starts 4.3.0 and 3.9.1 on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.repair.directories import EQUAL, Quorum

Run = Callable[..., Any]


@pytest.fixture
def swapped(tmp_path: Path) -> list[Path]:
    """The settings of three voters with two log directories each; those of node 2 are swapped."""
    quorum = Quorum(tmp_path, EQUAL, [1, 2, 3])
    given = []
    for node in (1, 2, 3):
        first, second = quorum[node], tmp_path / f"node-{node}.d2"
        second.mkdir()
        lines = (first / "meta.properties").read_text().splitlines()
        meta = "\n".join(line for line in lines if not line.startswith("directory.id"))
        (second / "meta.properties").write_text(
            f"{meta}\ndirectory.id=AAAAAAAAAAAAAAAAAAABA{node}\n"
        )
        if node == 2:
            first.rename(tmp_path / "kept")
            second.rename(first)
            (tmp_path / "kept").rename(second)
        settings = tmp_path / f"node-{node}.properties"
        settings.write_text(
            f"process.roles=controller\nnode.id={node}\nlog.dirs={first},{second}\n"
            f"metadata.log.dir={first}\ncontroller.quorum.bootstrap.servers=127.0.0.1:48119\n"
        )
        given.append(settings)
    return given


def _assessment(kraftool: Run, command: str, given: list[Path]) -> Any:
    return json.loads(kraftool(*command.split(), *given, "-o", "json").text)["assessment"]


@pytest.mark.parametrize("command", ["doctor", "simulate-election", "recover plan"])
def test_the_log_of_the_voter_is_counted_and_the_voter_is_down(
    command: str, kraftool: Run, swapped: list[Path]
) -> None:
    assessment = _assessment(kraftool, command, swapped)
    assert assessment["state"] == "safe"
    assert (assessment["canLeadIds"], assessment["toRepairIds"]) == ([1, 3], [2])
    assert not assessment["forgetful"]
    assert not assessment["lagging"]


def test_every_command_says_to_swap_the_mounts_and_none_to_remove_the_voter(
    kraftool: Run, swapped: list[Path], tmp_path: Path
) -> None:
    for command in ("doctor", "recover plan"):
        said = " ".join(kraftool(*command.split(), *swapped).text.split()).replace("''", "'")
        where = f"mount {tmp_path}/node-2 and {tmp_path}/node-2.d2 in each other's place"
        assert where in said
        assert "remove-controller" not in said
        assert "nothing to do" not in said


def test_a_second_metadata_log_is_found_too(
    kraftool: Run, tmp_path: Path, swapped: list[Path]
) -> None:
    (tmp_path / "node-1.d2" / "__cluster_metadata-0").mkdir()
    document = json.loads(kraftool("doctor", *swapped, "-o", "json").text)
    findings = [
        finding["file"]
        for directory in document["directories"]
        for finding in directory["diagnoses"]
        if finding["code"] == "KT-DIR-METADATA-PLACE"
    ]
    assert findings == [
        str(tmp_path / f"node-{node}.d2" / "__cluster_metadata-0") for node in (1, 2)
    ]
    assert document["assessment"]["toRepairIds"] == [1, 2]
