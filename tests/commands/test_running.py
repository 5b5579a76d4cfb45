"""Directories of running nodes are read one after another: what commands say of them."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from tests.commands.conftest import Run
from tests.repair.directories import EQUAL, Quorum
from tests.repair.test_mending import cleaned
from tests.support.locks import run_on

FEW = ("--runs", "3", "-v")


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path, EQUAL, (1, 2, 3))


def cut(quorum: Quorum, node: int, batches: int) -> None:
    """Leave out the last batches of a log, as if it was read before they were written."""
    segment = quorum.segment(node)
    data = segment.read_bytes()
    whole = [
        item
        for item in scan(lambda at, size: data[at : at + size])
        if isinstance(item, RecordBatch)
    ]
    segment.chmod(0o644)
    segment.write_bytes(data[: whole[-batches].position])


def test_logs_of_a_running_majority_end_apart(
    quorum: Quorum, locks: ExitStack, kraftool: Run
) -> None:
    """1 and 3 run, and 1 is read first. 2 was stopped a while ago."""
    cut(quorum, 1, 1)
    cut(quorum, 2, 6)
    run_on(locks, quorum[1], quorum[3])
    paths = [quorum[node] for node in (1, 2, 3)]
    text = kraftool("doctor", *paths).words
    assert "Voters 1 and 3 are running, which is a majority" in text
    assert "takes the log of voter 1 as long as" in text
    assert "kraftool quorum health --bootstrap-controller" in text
    assert "recover plan" not in text
    assert "first, wait until" not in text
    assert "lost" not in text
    ran = kraftool("simulate-election", *FEW, *paths)
    assert "DATA LOSS" not in ran.words
    assert "Do not start" not in ran.words
    assert "Voters 1 and 3 are running" in ran.words.partition("Nodes")[0]
    assert ran.code == 0


def test_logs_of_stopped_voters_that_end_apart_are_judged(quorum: Quorum, kraftool: Run) -> None:
    cut(quorum, 1, 1)
    cut(quorum, 2, 6)
    text = kraftool("doctor", *(quorum[node] for node in (1, 2, 3))).words
    assert "If node 1 is elected" in text
    assert "Start 1 and 3 first, wait until they have a leader" in text


def test_one_running_voter_is_the_same_sentence_everywhere(
    quorum: Quorum, locks: ExitStack, kraftool: Run
) -> None:
    """3 leads, and wrote a little more after 1 and 2 were stopped."""
    cut(quorum, 1, 1)
    cut(quorum, 2, 2)
    run_on(locks, quorum[3])
    paths = [quorum[node] for node in (1, 2, 3)]
    sentence = "Voter 3 is running and needs 1 more voter for a majority. Start 1 (best) or 2."
    assert sentence in kraftool("doctor", *paths).words
    ran = kraftool("simulate-election", *FEW, *paths)
    assert sentence in ran.words
    assert "DATA LOSS" not in ran.words
    assert "only a minority of the voters has" in ran.words


def test_dump_says_if_the_lock_is_held(quorum: Quorum, locks: ExitStack, kraftool: Run) -> None:
    (quorum[1] / ".lock").touch()
    assert "lock file, not held" in kraftool("dump", quorum[1]).words
    run_on(locks, quorum[1])
    assert "lock file, held by a running process" in kraftool("dump", quorum[1]).words


def test_a_single_directory_asks_for_the_live_quorum_first(quorum: Quorum, kraftool: Run) -> None:
    """Two lost voters are declared only if nothing answers."""
    text = kraftool("doctor", quorum[2]).words
    asked = text.index("To ask first if the quorum has a leader: $ kraftool quorum health")
    assert asked < text.index("If there is no leader, and the directories of voters 1 and 3")
    assert asked < text.index("--set lost=1,3")


def test_a_damaged_snapshot_is_replaced_by_a_whole_one(quorum: Quorum, kraftool: Run) -> None:
    newest = quorum.snapshots(3)[-1]
    whole = quorum.partition(1) / newest.name
    newest.chmod(0o644)
    newest.write_bytes(newest.read_bytes()[:700])
    ran = kraftool("doctor", *(quorum[node] for node in (1, 2, 3)))
    assert f"$ cp -pf {whole} {newest}" in ran.text
    assert "# then start node 3" in ran.text
    whole.unlink()
    without = kraftool("doctor", *(quorum[node] for node in (1, 2, 3)))
    assert "cp -pf" not in without.text
    assert f"$ kraftool recover plan {quorum[1]} {quorum[2]} {quorum[3]} --out" in without.text


def test_a_damaged_log_of_one_node_is_fetched_again_if_the_others_lead(
    quorum: Quorum, kraftool: Run
) -> None:
    segment = quorum.segment(1)
    data = bytearray(segment.read_bytes())
    data[5000] ^= 1
    segment.chmod(0o644)
    segment.write_bytes(data)
    text = kraftool("doctor", quorum[1]).words
    assert (
        "If the other voters run and have a leader, start this node once you have the copy" in text
    )
    assert "If they have none, use the log of an intact node" in text


def test_voters_that_only_a_damaged_snapshot_names(quorum: Quorum, kraftool: Run) -> None:
    """As after cleaning: the log begins at the snapshot."""
    newest = cleaned(quorum, 1)
    newest.chmod(0o644)
    newest.write_bytes(newest.read_bytes()[:-300])
    ran = kraftool("recover", "plan", quorum[1])
    assert ran.code == 5
    assert "Only a damaged file names the voters: 1, 2 and 3." in ran.narration
    collected = quorum[1].parent / "one.collect"
    assert kraftool("recover", "collect", quorum[1], "--out", collected).code in (0, 1)
    assert "names the voters: 1, 2 and 3" in kraftool("recover", "plan", collected).narration


def test_dump_names_one_registered_controller_as_one(quorum: Quorum, kraftool: Run) -> None:
    """`controllers 2` could be a count."""
    text = kraftool("dump", quorum[1]).words
    assert "registered broker 11; controllers 1, 2, 3" in text


def test_status_leads_to_the_health_of_the_quorum(kraftool: Run) -> None:
    assert "did you mean quorum health" in kraftool("status").err
    assert "did you mean health" in kraftool("quorum", "status").err
