"""`kraftool watch --once`: what scripts and tickets get, and how it ends."""

from __future__ import annotations

import csv
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.reports.text.json_document import json_object
from kraftool.watching.document import watch_document
from kraftool.watching.quorum import quorum_report
from tests.client.scripted_leader import ScriptedLeader
from tests.client.test_observing import FOLDER
from tests.commands.live_leader import OPTIONS, live_leader
from tests.commands.test_secrets import assert_no_secret
from tests.reports.doctor.cases import broker, partition, snapshot, state, topic
from tests.support.json_contract import hold_document
from tests.support.places import PARTITION
from tests.tui.recording import pictures

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
NODES = "kafka-4.3.0/dynamic-quorum/node-{}/data"
NOBODY = ("--bootstrap-controller", "127.0.0.1:1")


def test_directories_of_a_quorum_as_text(fixtures_dir: Path, kraftool: Run) -> None:
    ran = kraftool("watch", "--once", *(fixtures_dir / NODES.format(node) for node in (1, 2, 3)))
    assert ran.code == 0, ran.err
    assert "node 2, as the newest quorum-state has it  epoch 3" in ran.text
    assert "Voters     2, 3, 4  committed  majority 2" in ran.text
    assert "   1  · observer  rL8PS7n-QUSyvdAlV-qtgg     ▲ 81  143  node 2, epoch 3" in ran.text


def test_the_documents_of_directories_and_of_live_quorums(
    fixtures_dir: Path, kraftool: Run
) -> None:
    ran = kraftool("watch", "--once", "-o", "json", fixtures_dir / NODES.format(2))
    document = json.loads(ran.out)
    assert document["leaderId"] == 2
    assert document["voterState"]["offset"] == 80
    assert document["replicas"][0]["directoryEndOffset"] == 224
    ran = kraftool("watch", "--once", "-o", "csv", fixtures_dir / NODES.format(2))
    rows = list(csv.DictReader(ran.text.splitlines()))
    assert [row["id"] for row in rows] == [str(replica["id"]) for replica in document["replicas"]]
    assert rows[0]["directoryEndOffset"] == "224"
    for name in ("healthy", "leader-killed", "no-leader", "uncommitted-voter"):
        for picture in pictures(name):
            hold_document("watch", json_object(watch_document(quorum_report(picture))))


@pytest.mark.parametrize("arguments", [(), ("-o", "json")])
def test_nobody_reached_ends_with_4(arguments: tuple[str, ...], kraftool: Run) -> None:
    ran = kraftool("watch", "--once", *NOBODY, *arguments)
    assert ran.code == 4
    assert "connection refused" in ran.text + ran.err
    assert "asked, and none answered" in ran.text


def _dead_brokers(tmp_path: Path, *, in_order: bool) -> ScriptedLeader:
    """A leader whose only broker was killed, or was shut down in order."""
    down = broker(11, fenced=True, inControlledShutdown=in_order)
    path = state(tmp_path / "data", topic(), partition(replicas=[11], isr=[11], leader=-1), down)
    snapshot(path, 0)
    return ScriptedLeader(path / PARTITION, with_snapshot=False)


def test_partitions_without_a_leader_are_shown_and_end_with_1(
    kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with live_leader(_dead_brokers(tmp_path, in_order=False), monkeypatch):
        ran = kraftool("watch", "--once", *OPTIONS)
        document = json.loads(kraftool("watch", "--once", *OPTIONS, "-o", "json").out)
        doctor = kraftool("doctor", *OPTIONS).text
    assert ran.code == 1
    assert "✖ 0 of 1 broker active; 1 partition of 1 topic: 1 offline" in ran.text
    assert "✖ 1 partition without a leader until broker 11 is back (no  error KT-SIG" in ran.text
    hold_document("watch", document)
    assert document["clusterHealth"]["offlinePartitionCount"] == 1
    severities = {one["code"]: one["severity"] for one in document["clusterFindings"]}
    assert severities["KT-SIG-OFFLINE"] == "error"
    assert "✖ 1 partition without a leader until broker 11 is back" in " ".join(doctor.split())


def test_partitions_of_a_broker_that_was_shut_down_in_order_are_a_note(
    kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with live_leader(_dead_brokers(tmp_path, in_order=True), monkeypatch):
        document = json.loads(kraftool("watch", "--once", *OPTIONS, "-o", "json").out)
    severities = {one["code"]: one["severity"] for one in document["clusterFindings"]}
    assert severities["KT-SIG-OFFLINE"] == "info"


def test_what_cannot_be_read_ends_with_3(kraftool: Run, tmp_path: Path) -> None:
    ran = kraftool("watch", "--once", tmp_path / "nowhere")
    assert ran.code == 3
    assert "no such file or directory" in ran.err


def test_directories_that_disagree_end_with_1(fixtures_dir: Path, kraftool: Run) -> None:
    ran = kraftool(
        *("watch", "--once", fixtures_dir / NODES.format(2)),
        fixtures_dir / "kafka-4.3.0/static-single/node-1/data",
    )
    assert ran.code == 1
    assert "are not of one cluster" in ran.text.replace("\n", " ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing was named to watch"),
        ((*NOBODY, "-o", "json"), "require --once"),
        (NOBODY, "a dashboard needs a terminal"),
        (("--once", "--bootstrap-controller", "nonsense"), "is not HOST:PORT"),
        (("--once", *NOBODY, "--interval", "0"), "--interval"),
    ],
)
def test_what_cannot_be_watched_is_a_usage_error(
    arguments: tuple[str, ...], words: str, kraftool: Run
) -> None:
    ran = kraftool("watch", *arguments)
    assert ran.code == 2
    assert words in ran.err


def test_a_dashboard_without_a_terminal_on_stderr_is_a_usage_error(tmp_path: Path) -> None:
    """Textual draws on stderr: with 2>FILE the screen would stay blank."""
    controller, terminal = pty.openpty()
    with (tmp_path / "stderr").open("wb") as stderr:
        words = [sys.executable, "-m", "kraftool", "watch", *NOBODY]
        code = subprocess.run(
            words, stdin=terminal, stdout=terminal, stderr=stderr, timeout=60, check=False
        ).returncode
    os.close(controller)
    os.close(terminal)
    assert code == 2
    assert "a dashboard needs a terminal on stderr too" in (tmp_path / "stderr").read_text()


def test_names_from_directories_do_not_act_on_a_terminal(
    fixtures_dir: Path, kraftool: Run, tmp_path: Path
) -> None:
    bad = tmp_path / "x\x1b[2J[red]"
    bad.mkdir()
    (bad / "meta.properties").write_text("version=1\ncluster.id=a\\u001b[2J[red]b\nnode.id=1\n")
    ran = kraftool("watch", "--once", bad)
    assert "\x1b" not in ran.text + ran.err
    assert "[red]b" in ran.text


@pytest.mark.parametrize("arguments", [(), ("-o", "json")])
def test_no_secret_is_shown(arguments: tuple[str, ...], fixtures_dir: Path, kraftool: Run) -> None:
    scenario = "kafka-4.3.0/static-single"
    ran = kraftool("watch", "--once", fixtures_dir / scenario / "node-1/data", *arguments)
    assert_no_secret(scenario, ran, arguments)


@pytest.mark.parametrize("command", [("quorum", "describe"), ("watch", "--once")])
def test_a_leader_that_has_committed_nothing_ends_with_1(
    command: tuple[str, ...], kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    leader = ScriptedLeader(FOLDER)
    for mark, code in ((-1, 1), (leader.end, 0)):
        leader.high_watermark = mark
        with live_leader(leader, monkeypatch):
            assert kraftool("quorum", "describe", *OPTIONS).code == code
    leader.high_watermark = -1
    with live_leader(leader, monkeypatch):
        assert kraftool(*command, *OPTIONS).code == 1


def test_what_is_said_of_a_quorum_is_muted_by_its_code_until_a_second_one(
    fixtures_dir: Path, tmp_path: Path, kraftool: Run
) -> None:
    """One directory twice is one warning, and three times are three."""
    path = fixtures_dir / NODES.format(2)
    mutes = tmp_path / "mutes.yaml"
    mutes.write_text(
        f"- {{code: KT-DIR-SAME-NODE-ID, subject: '{path}', until: 2999-01-31, reason: a copy}}\n"
    )
    plain = kraftool("watch", "--once", path, path)
    assert (plain.code, "KT-DIR-SAME-NODE-ID" in plain.text) == (1, True)
    muted = kraftool("watch", "--once", path, path, "--mute", mutes, "--show-muted")
    assert muted.code == 0
    assert "1 finding muted" in muted.text
    assert "a copy" in muted.text
    document = json.loads(
        kraftool("watch", "--once", path, path, "--mute", mutes, "-o", "json").out
    )
    hold_document("watch", document)
    assert document["statements"] == []
    assert [one["finding"]["code"] for one in document["muted"]] == ["KT-DIR-SAME-NODE-ID"]
    assert kraftool("watch", "--once", path, path, path, "--mute", mutes).code == 1
