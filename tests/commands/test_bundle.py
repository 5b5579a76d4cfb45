"""`kraftool bundle` from this host, over ssh and from pods, and commands that read its file."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.kube_server import kube_api
from tests.commands.ssh_server import Hosts, ssh_hosts
from tests.support.bundles import as_new_process
from tests.support.copies import writable
from tests.support.places import PARTITION, ROOT

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
QUORUM = ROOT / "fixtures/kafka-4.3.0/dynamic-quorum"
NODES = tuple(QUORUM / f"node-{number}/server.properties" for number in (2, 3, 4))
Nodes = tuple[Path, ...]
COMMANDS = (
    ("doctor",),
    ("diff-voters",),
    ("timeline",),
    ("simulate-election", "--runs", "3"),
    ("verify-log",),
    ("verify-snapshot",),
)


@pytest.fixture(autouse=True)
def new_process() -> Iterator[None]:
    with as_new_process():
        yield


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Nodes:
    """Copies whose settings have absolute directories: where a relative one was looked for is a
    note on the node alone."""
    folder = tmp_path_factory.mktemp("nodes")
    return tuple(_absolute(QUORUM / f"node-{number}", folder) for number in (2, 3, 4))


def _absolute(node: Path, folder: Path) -> Path:
    settings = writable(node, folder / node.name) / "server.properties"
    relative = re.compile(r"(?<=[=,])data", re.MULTILINE)
    settings.write_text(
        "".join(
            relative.sub(f"{settings.parent}/data", line) if "log.dir" in line else line
            for line in settings.read_text().splitlines(keepends=True)
        )
    )
    return settings


@pytest.fixture
def case(kraftool: Run, tmp_path: Path, nodes: Nodes) -> Path:
    file = tmp_path / "case.zip"
    assert kraftool("bundle", *nodes, "--out", file).code == 0
    return file


def contents(file: Path) -> Any:
    with zipfile.ZipFile(file) as bundle:
        return json.loads(bundle.read("bundle.json"))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_a_command_says_of_a_bundle_what_it_says_of_the_nodes(
    kraftool: Run, case: Path, nodes: Nodes, command: tuple[str, ...]
) -> None:
    name, *options = command
    there = kraftool(name, *nodes, *options, "-o", "json")
    here = kraftool(name, case, *options, "-o", "json")
    said = re.sub(rf"{re.escape(str(case))}(:node-[234])?", "", here.text)
    assert (_unhashed(said), here.code) == (_unhashed(there.text), there.code)


def _unhashed(said: str) -> str:
    """What was said, without the hashes of states: those of a bundle have no secrets."""
    return re.sub(r'"stateHash": "\w+"', "", said)


def test_a_command_that_doctor_prints_for_a_bundle_runs_as_it_is(kraftool: Run, case: Path) -> None:
    printed = kraftool("doctor", case).text
    [verify] = (line for line in printed.splitlines() if "$ kraftool verify-log" in line)
    words = verify.split("kraftool ")[1].split()
    assert all(word.startswith(f"{case}:node-") for word in words[1:])
    assert kraftool(*words).code == kraftool("verify-log", *NODES).code


def test_a_command_on_one_directory_asks_which_node(
    kraftool: Run, case: Path, nodes: Nodes
) -> None:
    refused = kraftool("dump", case)
    assert refused.code == 3
    assert f"{case}:node-3" in refused.narration
    node = kraftool("dump", f"{case}:node-3")
    assert node.code == 0
    assert f"{case}:node-3/" in node.text
    assert "/files/" not in node.text
    snapshot = next(nodes[1].parent.glob(f"data/{PARTITION}/*.checkpoint"))
    one = kraftool("dump-log", f"{case}:node-3{snapshot}", "-o", "jsonl")
    assert one.code == 0
    assert f'"file":"{case}:node-3{snapshot}"' in one.text
    nobody = kraftool("dump", f"{case}:node-9")
    assert "has no node node-9" in nobody.narration


def test_a_bundle_has_what_it_lists(case: Path) -> None:
    listed = contents(case)
    with zipfile.ZipFile(case) as bundle:
        sizes = {info.filename: info.file_size for info in bundle.infolist()}
    every = [*listed["files"], *(file for node in listed["nodes"] for file in node["files"])]
    assert {file["path"]: file["size"] for file in every} == {
        name: size for name, size in sizes.items() if name != "bundle.json"
    }
    assert os.stat(case).st_mode & 0o777 == 0o600
    for node in listed["nodes"]:
        assert [one["subject"] for one in node["notHad"]] == ["server logs"]


def test_server_logs_are_asked_for_by_their_folder(kraftool: Run, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "server.log").write_text("x" * 2_000_000 + "\npassword=CANARY\nthe end\n")
    (logs / "unrelated").write_text("CANARY")
    file = tmp_path / "case.zip"
    options = ("--server-logs", logs, "--server-log-mb", "1")
    assert kraftool("bundle", NODES[0], "--out", file, *options).code == 0
    with zipfile.ZipFile(file) as bundle:
        log = bundle.read("node-2/server-logs/server.log")
        assert b"CANARY" not in b"".join(map(bundle.read, bundle.namelist()))
    assert log.endswith(b"\nthe end\n") or log == b"password=[redacted]\nthe end\n"
    missing = kraftool("bundle", NODES[0], "--out", tmp_path / "b.zip", "--server-logs", "/none")
    assert missing.code == 3
    assert "none was found" in missing.words


def test_more_metadata_than_asked_for_leaves_out_what_is_superseded(
    kraftool: Run, tmp_path: Path
) -> None:
    data = writable(QUORUM / "node-2/data", tmp_path / "data")
    old = data / PARTITION / "00000000000000000001-0000000001.checkpoint"
    old.write_bytes(bytes(1_500_000))
    file = tmp_path / "case.zip"
    assert kraftool("bundle", data, "--out", file, "--most", "1").code == 3
    [node] = contents(file)["nodes"]
    left_out = {one["subject"] for one in node["notHad"]} - {"server logs"}
    assert str(old) in left_out
    kept = {file["path"].removeprefix(f"node-2/files{data}/") for file in node["files"]}
    newest = max(path.name for path in (data / PARTITION).glob("*.checkpoint"))
    assert f"{PARTITION}/{newest}" in kept
    assert not kept & {path.removeprefix(f"{data}/") for path in left_out}


def test_a_log_that_does_not_fit_is_not_taken_for_a_lost_one(kraftool: Run, tmp_path: Path) -> None:
    data = writable(QUORUM / "node-2/data", tmp_path / "data")
    with next(data.glob(f"{PARTITION}/*.log")).open("ab") as log:
        log.write(bytes(1_500_000))
    file = tmp_path / "case.zip"
    assert kraftool("bundle", data, "--out", file, "--most", "1").code == 3
    assert contents(file)["nodes"][0]["isLogLeftOut"]
    for command in ("doctor", "simulate-election", "state", "timeline"):
        read = kraftool(command, file)
        assert read.code == 3, command
        assert "DATA LOSS" not in read.words
        if command != "simulate-election":  # which names the code alone
            assert "no log of node-2, which was larger" in read.words + read.narration
    planned = kraftool("recover", "plan", file)
    assert "1 of 3 voters' directories was checked" in planned.narration, "by what it collected"


def test_a_relative_path_and_a_directory_of_the_reader_of_that_name(
    kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy is read, and not what lies where the reader is."""
    writable(QUORUM / "node-2", tmp_path / "node")
    monkeypatch.chdir(tmp_path)
    assert kraftool("bundle", "node/server.properties", "--out", "case.zip").code == 0
    writable(QUORUM / "node-3/data", tmp_path / "data")
    assert "node              2, a voter" in kraftool("dump", "case.zip").text


def test_a_link_that_leads_nowhere_and_a_name_that_is_no_text(
    kraftool: Run, tmp_path: Path
) -> None:
    data = writable(QUORUM / "node-2/data", tmp_path / "data")
    (data / PARTITION / "gone").symlink_to("/nowhere")
    os.close(os.open(os.fsencode(data / PARTITION) + b"/bad\xff", os.O_CREAT))
    file = tmp_path / "case.zip"
    assert kraftool("bundle", data, "--out", file).code == 0
    here, there = (kraftool("doctor", path, "-o", "json").text for path in (file, data))
    codes = re.compile(r'"code": "KT-.*?"')
    assert codes.findall(here) == codes.findall(there) != []


def test_files_that_only_have_a_name_of_kafkas_have_no_secret_in_a_bundle(
    kraftool: Run, tmp_path: Path
) -> None:
    data = writable(QUORUM / "node-2/data", tmp_path / "data")
    partition = data / PARTITION
    (tmp_path / "elsewhere").write_text("0\n1\n0 0 CANARY\n")
    (partition / "leader-epoch-checkpoint.tmp").symlink_to(tmp_path / "elsewhere")
    for name in ("quorum-state.tmp", "00000000000000000500.index", "journal", "users.txt"):
        (partition / name).write_text("0\n1\nCANARY 0\npassword=CANARY\n")
    for name in ("replication-offset-checkpoint", "x.json", ".lock"):
        (data / name).write_text('{"leaderEpoch":1,"password":"CANARY"}')
    with (data / "meta.properties").open("a") as meta:
        meta.write("ssl.key.password=CANARY\n")
    file = tmp_path / "case.zip"
    assert kraftool("bundle", data, "--out", file).code in (0, 3)
    with zipfile.ZipFile(file) as bundle:
        assert not [name for name in bundle.namelist() if b"CANARY" in bundle.read(name)]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--out", "x.zip"), "no PATH"),
        ((NODES[0], "--out", "my case.zip"), "has ' ' in its name"),
        ((NODES[0], "--out", "case.tar"), "does not end with .zip"),
        (("--ssh", "h", "--kubectl", "a=b", "/x", "--out", "x.zip"), "--ssh takes one PATH"),
        ((NODES[0], "--sudo", "--out", "x.zip"), "--sudo is for --ssh"),
    ],
)
def test_what_it_refuses(
    kraftool: Run, tmp_path: Path, words: tuple[object, ...], problem: str
) -> None:
    refused = kraftool("bundle", *words)
    assert refused.code == 2
    assert problem in refused.narration


def test_a_file_that_exists_is_kept(kraftool: Run, tmp_path: Path) -> None:
    file = tmp_path / "case.zip"
    file.write_text("mine")
    assert kraftool("bundle", NODES[0], "--out", file).code == 5
    assert file.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["case.zip"]


def test_nothing_came_from_anywhere(kraftool: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    ran = kraftool("bundle", empty, "--out", tmp_path / "case.zip")
    assert ran.code == 4
    assert "there is no metadata in it" in ran.words
    assert not (tmp_path / "case.zip").exists()


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with ssh_hosts(tmp_path_factory.mktemp("ssh")) as servers:
        servers.program()
        yield servers


def test_hosts_are_read_with_ssh(
    kraftool: Run, hosts: Hosts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two log directories; one host that is not there costs nothing but itself."""
    monkeypatch.setenv("PATH", f"{hosts.folder / 'bin'}:{os.environ['PATH']}")
    where = _absolute(QUORUM / "node-11", tmp_path)
    file = tmp_path / "case.zip"
    ran = kraftool("bundle", "--ssh", "good,stranger", where, "--out", file)
    assert ran.code == 3
    there, nobody = contents(file)["nodes"]
    assert (there["name"], there["source"], nobody["source"]) == ("node-11", "good", "stranger")
    assert len(there["logDirs"]) == 2
    assert nobody["directory"] == ""
    assert [one["subject"] for one in nobody["notHad"]] == ["files"]
    here = kraftool("doctor", file, "-o", "json").text.replace(f"{file}:node-11", "")
    assert here.replace(str(file), "") == kraftool("doctor", where, "-o", "json").text


# The words that kubectl refuses are refused by kubectl alone, so no stand-in has this test.
if shutil.which("kubectl"):

    def test_pods_are_read_with_kubectl(
        kraftool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        file = tmp_path / "case.zip"
        with kube_api(tmp_path):
            monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
            monkeypatch.setenv("HOME", str(tmp_path))
            options = ("--kubectl", "app=kafka", "--namespace", "prod")
            ran = kraftool("bundle", *options, NODES[0], "--out", file)
        assert ran.code == 3
        nodes = {node["source"]: node for node in contents(file)["nodes"]}
        assert nodes["broken"]["directory"] == ""
        assert {nodes[pod]["name"] for pod in ("kafka-0", "kafka-1")} == {"node-2", "node-2.2"}
        with zipfile.ZipFile(file) as bundle:
            log = bundle.read("node-2/server-logs/container.log")
        assert log == b"cut off\nINFO started\npassword [redacted]\n"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_an_ended_run_leaves_nothing(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """It ends while a node sends."""
    ready, folder = tmp_path / "ready", tmp_path / "bin"
    folder.mkdir()
    os.mkfifo(ready)
    (folder / "tar").write_text(f"#!/bin/sh\necho x > {ready}\nsleep 60\n")
    (folder / "tar").chmod(0o755)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "out").mkdir()
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "TMPDIR": str(tmp_path / "tmp")}
    words = ("bundle", str(NODES[0]), "--out", str(tmp_path / "out/case.zip"))
    running = subprocess.Popen(
        [sys.executable, "-m", "kraftool", *words],
        env={**os.environ, **environment, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert ready.read_text() == "x\n", "the node sends"
    running.send_signal(number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == code
    assert "Traceback" not in said
    assert list((tmp_path / "out").iterdir()) == list((tmp_path / "tmp").iterdir()) == []


def test_a_command_that_copies_files_names_them_as_on_their_host(
    kraftool: Run, tmp_path: Path
) -> None:
    """cp opens no bundle."""
    settings = _absolute(QUORUM / "node-2", tmp_path)
    directory = settings.parent / "data"
    log = directory / PARTITION / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    data[700] ^= 1
    log.write_bytes(data)
    file = tmp_path / "damaged.zip"
    assert kraftool("bundle", settings, "--out", file).code == 0
    copy = f"cp -a {directory} {directory}.copy"
    assert f"$ {copy}" in kraftool("doctor", file).text
    assert f'"{copy}"' in kraftool("doctor", file, "-o", "json").text


def test_a_folder_above_a_data_directory_is_refused_as_elsewhere(
    kraftool: Run, nodes: Nodes, tmp_path: Path
) -> None:
    folder = nodes[0].parent
    bundled = kraftool("bundle", folder, "--out", tmp_path / "x.zip")
    collected = kraftool("recover", "collect", folder, "--out", tmp_path / "x.collect")
    assert bundled.narration == collected.narration
    assert f"did you mean {folder}/data?" in bundled.narration
    assert (bundled.code, (tmp_path / "x.zip").exists()) == (3, False)


def test_commands_that_open_files_by_themselves_read_a_bundle(
    kraftool: Run, case: Path, nodes: Nodes
) -> None:
    """Each is compared with what it says of the nodes."""
    log = nodes[1].parent / f"data/{PARTITION}/{0:020}.log"
    here = kraftool("explain", f"{case}:node-3{log}", "--position", 639)
    assert here.code == 0
    assert here.text == kraftool("explain", log, "--position", 639).text
    folders = [node.parent / "data" for node in nodes]
    there = kraftool("watch", *folders, "--once", "-o", "json")
    watched = kraftool("watch", case, "--once", "-o", "json")
    assert _replicas(watched.text) == _replicas(there.text)
    assert watched.code == there.code


def _replicas(text: str) -> Any:
    return [{**replica, "path": ""} for replica in json.loads(text)["replicas"]]


def test_a_pipeline_refuses_a_bundle(kraftool: Run, case: Path) -> None:
    refused = kraftool("pipeline", "audit", case)
    assert (refused.code, "pipelines read directories" in refused.narration) == (2, True)
