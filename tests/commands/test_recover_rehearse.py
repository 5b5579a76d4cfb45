"""`recover rehearse` as people and scripts run it: outcome, exit codes, processes, secrets."""

from __future__ import annotations

import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from kraftool.repair.plan import Plan
from kraftool.storage.lock_taking import DirectoryLock
from tests.commands.conftest import PATIENCE_S, Run, apart
from tests.commands.recover_files import fitting, written
from tests.commands.test_secrets import assert_no_secret
from tests.repair.directories import EQUAL, Quorum, cut_log
from tests.repair.repair_cases import contents
from tests.support.places import PARTITION, ROOT

pytestmark = pytest.mark.slow

SCENARIO = "kafka-4.3.0/dynamic-quorum"
"""Voters 2, 3, 4; 3 and 4 and broker 11 are at offset 224 of epoch 3."""

PATIENT = ("--timeout", 300)
"""A machine may be busy."""


@pytest.fixture(autouse=True)
def no_kafka(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Copies go where a test sees what is left of them."""
    monkeypatch.delenv("KAFKA_HOME", raising=False)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))


@pytest.fixture
def quorum(tmp_path: Path) -> Quorum:
    return Quorum(tmp_path / "quorum", SCENARIO, [2, 3, 4, 11])


@pytest.fixture
def plan(quorum: Quorum) -> Plan:
    return quorum.plan("lost=2,4", "seed=3", nodes=[3, 11])


@pytest.fixture
def file(plan: Plan, tmp_path: Path) -> Path:
    return written(plan, tmp_path)


def test_kraftools_own_node_leads_with_the_metadata_that_the_plan_saves(
    kraftool: Run, quorum: Quorum, file: Path, tmp_path: Path
) -> None:
    before = {node: contents(quorum[node]) for node in (2, 3, 4, 11)}
    given = [word for node in before for word in ("--dir", quorum[node])]
    ran = kraftool("recover", "rehearse", file, *given, "--seeds", 1, *PATIENT)
    assert ran.code == 0, ran.text + ran.err
    assert "Started kraftool's own node" in ran.words
    assert "node 3 leads" in ran.text
    assert "it serves the metadata that the plan saves: 7 topics, 18 partitions" in ran.words
    for node in (2, 4):
        assert f"node {node} comes back, and follows the recovered leader" in ran.words
    assert "· Everything that was rehearsed went as planned." in ran.text
    assert {node: contents(quorum[node]) for node in before} == before
    assert not (quorum[3] / ".lock").exists(), "no lock is taken there"
    assert not (quorum.partition(3) / ".kraftool-recover").exists()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_document_fits_the_schema_and_nothing_shows_a_secret(
    kraftool: Run, quorum: Quorum, file: Path, tmp_path: Path
) -> None:
    given = ("--dir", quorum[3], "--dir", quorum[11], "--dir", quorum[2], "--seeds", 1)
    kept = tmp_path / "kept"
    runs = [
        kraftool("recover", "rehearse", file, *given, *PATIENT, "-o", "json", "--keep", kept),
        kraftool("recover", "rehearse", file, *given, "--no-nodes"),
        kraftool("recover", "rehearse", file, *given, "--no-nodes", "-o", "json"),
        kraftool("recover", "rehearse", file, "--dir", quorum[11], "-o", "json"),
    ]
    for number, ran in enumerate(runs):
        assert_no_secret(SCENARIO, ran, number)
        assert ran.code == (1 if number == 3 else 0), ran.text + ran.err
    with_nodes, without, too_little = (fitting(runs[number].text) for number in (0, 2, 3))
    assert with_nodes["startedNodes"]["leaderId"] == 3
    assert with_nodes["startedNodes"]["isCompared"] is True
    assert with_nodes["kept"] == str(kept)
    assert (with_nodes["simulated"]["backIds"], with_nodes["simulated"]["assumedIds"]) == ([2], [4])
    assert without["startedNodes"] is None
    assert too_little["startedNodes"]["notStartedReason"]
    assert (kept / "node-3" / PARTITION).is_dir()
    log = (kept / "run-3" / "node.log").read_text()
    assert "43523" not in log, "the real endpoint is nowhere"


def test_what_apply_refuses_ends_with_5_and_is_told(
    kraftool: Run, quorum: Quorum, file: Path
) -> None:
    cut_log(quorum, 3, 1)
    given = ("--dir", quorum[3], "--dir", quorum[11])
    ran = kraftool("recover", "rehearse", file, *given)
    assert ran.code == 5
    assert "The plan cannot be applied as it is." in ran.text
    assert "Run recover collect and recover plan again" in ran.err
    ran = kraftool("recover", "rehearse", file, *given, "-o", "json")
    assert ran.code == 5
    document = fitting(ran.text)
    assert document["simulated"] is None
    assert "is not what it was when the plan was made" in document["copies"][0]["refusal"]["reason"]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--no-nodes", "--kafka", "/opt/kafka"), 2, "--no-nodes starts no Kafka"),
        (("--kafka", "/nowhere"), 3, "/nowhere/libs"),
        (("--source", "node-11"), 2, "is not HOST=PATH"),
        (("--dir", "/nowhere"), 3, "/nowhere"),
        (("--seeds", "0"), 2, "--seeds"),
    ],
)
def test_what_cannot_be_done_is_said(
    kraftool: Run, quorum: Quorum, file: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    ran = kraftool("recover", "rehearse", file, "--dir", quorum[3], *options)
    assert (ran.code, message in ran.err) == (code, True), ran.err


def test_a_running_node_makes_the_copy_one_of_a_moment(quorum: Quorum, file: Path) -> None:
    with DirectoryLock(str(quorum[3])):
        ran = apart("recover", "rehearse", file, "--dir", quorum[3], "--no-nodes")
    assert ran.code == 1, ran.err
    assert "KT-REC-RUNNING" in ran.text


def test_the_printed_command_rehearses_beside_a_running_majority(tmp_path: Path) -> None:
    """The plan leaves nodes 1 and 2 running; their directories elect a leader in the rehearsal."""
    equal = Quorum(tmp_path / "equal", EQUAL, [1, 2, 3])
    for snapshot in equal.snapshots(3):
        snapshot.chmod(0o644)
        snapshot.write_bytes(snapshot.read_bytes()[:700])
    with DirectoryLock(str(equal[1])), DirectoryLock(str(equal[2])):
        out = ("--out", tmp_path / "plan.yaml")
        planned = apart("recover", "plan", *(equal[node] for node in (1, 2, 3)), *out)
        assert planned.code == 0, planned.err
        command = planned.err.rstrip().rpartition("$ kraftool ")[2]
        ran = apart(*shlex.split(command), "--no-nodes")
    assert ran.code == 0, ran.text
    assert "leave this node running" in ran.text
    assert "the recovered voters alone: node " in " ".join(ran.text.split())
    assert "stop every node" not in ran.text


# --- the processes ------------------------------------------------------------------------------


def a_kafka(folder: Path, does: str) -> dict[str, str]:
    """A folder that looks like a Kafka's, with a java that is a script; the environment for it."""
    (folder / "libs").mkdir(parents=True)
    (folder / "libs" / "kafka-clients-9.9.9.jar").touch()
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\n{does}\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return {"JAVA_HOME": str(folder)}


def test_a_node_that_ends_is_a_finding_with_its_last_words(
    kraftool: Run, quorum: Quorum, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "echo '[x] ERROR it will \x1b[31mnot\x1b[0m run (kafka.Kafka)'; echo '\tat b'; exit 7"
    for name, value in a_kafka(tmp_path / "kafka", says).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("KAFKA_HOME", str(tmp_path / "kafka"))
    ran = kraftool("recover", "rehearse", file, "--dir", quorum[3], "--seeds", 1)
    assert ran.code == 1
    assert "Started Kafka 9.9.9" in ran.words
    assert "KT-REC-START" in ran.text
    words = " ".join(ran.text.split())
    assert "node 3 exited with 7" in words
    assert "[x] ERROR it will" in words
    assert "\x1b" not in ran.text


def test_a_node_without_a_leader_is_given_up(
    kraftool: Run, quorum: Quorum, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in a_kafka(tmp_path / "kafka", "exec sleep 600").items():
        monkeypatch.setenv(name, value)
    given = ("--dir", quorum[3], "--seeds", 1, "--kafka", tmp_path / "kafka", "--timeout", 1)
    ran = kraftool("recover", "rehearse", file, *given)
    assert ran.code == 1
    assert "no leader that commits within 1 s" in " ".join(ran.text.split())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_cut_short_it_leaves_no_process_and_no_copy(
    quorum: Quorum, file: Path, tmp_path: Path, number: signal.Signals
) -> None:
    mark = tmp_path / "started"
    environment = a_kafka(tmp_path / "kafka", f"echo $$ > {mark}.part; mv {mark}.part {mark}\n"
                          "trap '' INT TERM HUP; while :; do sleep 1; done")  # fmt: skip
    words = ("recover", "rehearse", file, "--dir", quorum[3], "--seeds", 1, "--timeout", 600)
    before = contents(quorum[3])
    process = subprocess.Popen(
        [sys.executable, "-m", "kraftool", *map(str, words), "--kafka", str(tmp_path / "kafka")],
        cwd=ROOT,
        env={**os.environ, **environment, "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        child = _eventually(lambda: int(mark.read_text()))
        assert len(list((tmp_path / "tmp").iterdir())) == 1
        process.send_signal(number)
        code = process.wait(PATIENCE_S)
    finally:
        process.kill()
    if number == signal.SIGKILL:  # nobody is left to clean up; the system ends the node
        _eventually(lambda: _is_gone(child))
    else:
        assert code == (130 if number == signal.SIGINT else 128 + number)
        assert _is_gone(child)
        assert list((tmp_path / "tmp").iterdir()) == []
    assert contents(quorum[3]) == before


def _is_gone(child: int) -> bool:
    """Whether a process has ended; one whose parent is gone may wait to be buried."""
    try:
        state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def _eventually(look: Callable[[], int]) -> int:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        with suppress(FileNotFoundError):
            if value := look():
                return value
        time.sleep(0.05)
    raise AssertionError("it never came")


def test_a_plan_that_was_edited_is_refused(kraftool: Run, quorum: Quorum, file: Path) -> None:
    options = ("--dir", quorum[3], "--no-nodes")
    assert kraftool("recover", "rehearse", file, *options).code == 0
    text = file.read_text()
    file.write_text(text.replace("nodeId: 3", "nodeId: 5"))
    assert file.read_text() != text
    ran = kraftool("recover", "rehearse", file, *options)
    assert (ran.code, "but its content has the id" in ran.err) == (5, True), ran.err
