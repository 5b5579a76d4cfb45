"""`node standalone` before brokers come: the directory, what it prints, and what it refuses."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftool.decoders.properties import decode
from kraftool.node.standalone import default_release, existing, prepare
from kraftool.raft.names import Endpoint
from tests.commands.conftest import PATIENCE_S, Run
from tests.support.ports import HOST, free_ports

pytestmark = pytest.mark.slow


@contextmanager
def started(directory: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A node that does not outlive its test."""
    command = [sys.executable, "-m", "kraftool", "node", "standalone", str(directory), *options]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, bufsize=1) as process:
        try:
            yield process
        finally:
            process.kill()


def until_active(process: subprocess.Popen[str]) -> str:
    """What the node has said by the time it is the active controller."""
    assert process.stderr is not None
    output = ""
    while "active controller" not in output:
        line = process.stderr.readline()
        assert line, f"the node has ended:\n{output}"
        output += line
    return output


def ended(process: subprocess.Popen[str]) -> str:
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return out


def status(url: str) -> int:
    try:
        with urllib.request.urlopen(url, timeout=30) as page:
            return int(page.status)
    except urllib.error.HTTPError as error:
        return error.code


def until_shown(base: str, line: str) -> None:
    """Wait for a line on the page of metrics: the first records are committed a little later."""
    ends = time.monotonic() + PATIENCE_S
    lines: list[str] = []
    while line not in lines:
        assert time.monotonic() < ends, f"never: {line}\n{lines}"
        with urllib.request.urlopen(f"{base}/metrics", timeout=30) as page:
            lines = page.read().decode().splitlines()


def test_a_dry_run_writes_nothing(kraftool: Run, tmp_path: Path) -> None:
    run = kraftool("node", "standalone", str(tmp_path / "new"), "--dry-run")
    assert run.code == 0
    assert "Would start a cluster" in run.text
    assert not (tmp_path / "new").exists()


def test_what_is_something_else_is_left_alone(kraftool: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("something")
    run = kraftool("node", "standalone", str(tmp_path))
    assert run.code == 5
    assert "is not empty" in run.err
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("is_moved", [False, True], ids=["copied", "moved"])
def test_a_directory_that_names_the_data_of_another_is_refused(
    kraftool: Run, tmp_path: Path, is_moved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """server.properties has the whole path of the data: a copy would write to the original."""

    def started(*_: object) -> None:  # a node that is not refused would run until a timeout
        pytest.fail("the node was started")

    monkeypatch.setattr("kraftool.commands.node_standalone.run_to_end", started)
    original, copy = tmp_path / "original", tmp_path / "copy"
    prepare(existing(str(original)), listen=Endpoint(HOST, 9093), release=default_release())
    if is_moved:
        original.rename(copy)
    else:
        shutil.copytree(original, copy)
    before = sorted(tmp_path.rglob("*"))
    run = kraftool("node", "standalone", str(copy))
    assert run.code == 5
    assert f"log.dirs={original}/data" in run.err
    assert sorted(tmp_path.rglob("*")) == before


def batches_of(log: Path) -> list[int]:
    """Where the batches of a log begin."""
    data, positions = log.read_bytes(), [0]
    while (length := int.from_bytes(data[positions[-1] + 8 : positions[-1] + 12], "big")) > 0:
        positions.append(positions[-1] + 12 + length)
    return positions[:-1]


def test_a_log_is_cut_at_its_torn_end_and_at_other_damage_only_if_asked(
    kraftool: Run, tmp_path: Path
) -> None:
    directory = tmp_path / "controller"
    [port] = free_ports(1)
    with started(directory, "--listen", f"{HOST}:{port}") as process:
        until_active(process)
        [log] = directory.glob("data/__cluster_metadata-0/*.log")
        ends = time.monotonic() + PATIENCE_S
        while len(batches_of(log)) < 4:  # a no-op record comes every half second
            assert time.monotonic() < ends, "the log does not grow"
            time.sleep(0.1)
        ended(process)
    whole = log.read_bytes()
    second = batches_of(log)[1]

    log.write_bytes(whole[:-1])
    begun = log.with_name(f"{1_000:020}.log")  # a segment was begun, and no batch reached it
    begun.touch()
    with started(directory) as process:
        assert "is cut at position" in until_active(process)
        ended(process)
    assert not begun.exists()

    sound = log.read_bytes()
    damaged = bytearray(sound)
    damaged[second + 65] ^= 4
    log.write_bytes(damaged)
    run = kraftool("node", "standalone", str(directory))
    assert run.code == 5
    assert re.search(
        rf"is damaged at position {second} \(.*CRC.*\), before \d+ whole batches", run.err
    )
    assert "--cut-damaged-log" in run.err
    assert log.read_bytes() == damaged

    last = bytearray(sound)
    last[-1] ^= 4  # whole once, so it may be committed
    log.write_bytes(last)
    run = kraftool("node", "standalone", str(directory))
    assert run.code == 5
    assert "CRC" in run.err
    assert log.read_bytes() == last

    log.write_bytes(damaged)
    with started(directory, "--cut-damaged-log") as process:
        assert "whole batches behind it" in until_active(process)
        ended(process)
    assert log.read_bytes()[:second] == whole[:second]


def test_a_release_that_never_was_is_refused_first(kraftool: Run, tmp_path: Path) -> None:
    run = kraftool("node", "standalone", str(tmp_path / "new"), "-r", "9.9")
    assert run.code == 2
    assert not (tmp_path / "new").exists()


def test_a_cluster_begins_and_goes_on_and_tells_its_metrics(kraftool: Run, tmp_path: Path) -> None:
    directory = tmp_path / "controller"
    port, metrics = free_ports(2)
    options = ("--listen", f"{HOST}:{port}", "--metrics-listen", str(metrics))
    with started(directory, *options) as first:
        until_active(first)
        base = f"http://{HOST}:{metrics}"
        until_shown(base, "kafka_server_metadataloader_currentmetadataversion 30.0")
        until_shown(
            base, 'kafka_server_metadataloader_finalizedlevel{featurename="group.version"} 1.0'
        )
        until_shown(base, "kafka_server_snapshotemitter_latestsnapshotgeneratedbytes 0.0")
        until_shown(base, "kafka_controller_kafkacontroller_activecontrollercount 1.0")
        assert status(f"{base}/ready") == 200
        assert (status(f"{base}/health"), status(f"{base}/nothing")) == (200, 404)
        begun = ended(first)
    shown = "\n".join(re.findall(r"^    (\S+)$", begun, re.MULTILINE)).encode()
    lines_of_broker = decode(shown)[0].as_dict()
    assert lines_of_broker["controller.quorum.bootstrap.servers"] == f"{HOST}:{port}"
    assert lines_of_broker["process.roles"] == "broker"

    moved = kraftool("node", "standalone", str(directory), "--listen", "9999")
    assert moved.code == 2
    assert "already has a cluster" in moved.err

    # A secret that somebody put into the file is shown nowhere.
    with (directory / "server.properties").open("a") as file:
        file.write("ssl.keystore.password=CANARY-keystore\n")
    with started(directory) as second:
        output = until_active(second)
        went_on = ended(second)
    assert "CANARY" not in output + went_on
    names = [re.search(r"Cluster (\S+) ", text) for text in (begun, went_on)]
    assert names[0] is not None
    assert names[1] is not None
    assert names[0][1] == names[1][1]
