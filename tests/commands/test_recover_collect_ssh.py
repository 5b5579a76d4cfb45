"""`recover collect --ssh` with the real ssh client and a real SSH server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftool.repair import collect_file
from kraftool.repair.plan_yaml import plan_from_yaml
from kraftool.repair.survey import Survey
from tests.commands.recover_files import fitting, signalled
from tests.commands.ssh_server import Hosts, ssh_hosts
from tests.repair.directories import APART, Quorum
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
KAFKA_4_3 = ROOT / "fixtures/kafka-4.3.0"


_HOLD = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
input()
"""


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    with ssh_hosts(tmp_path_factory.mktemp("ssh")) as servers:
        servers.program()
        yield servers


@pytest.fixture
def ssh(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> Hosts:
    monkeypatch.setenv("PATH", f"{hosts.folder / 'bin'}:{os.environ['PATH']}")
    return hosts


def surveys(file: Path) -> tuple[Survey, ...]:
    """The contents of a collect file, but for when and where it was made, and its name."""
    read = collect_file.read(str(file)).surveys
    return tuple(replace(survey, collected_ms=0, collect_file="", origin="") for survey in read)


@pytest.mark.parametrize(
    "path",
    [
        "dynamic-quorum/node-1/data",
        "dynamic-quorum/node-1/server.properties",
        "dynamic-quorum/node-11/server.properties",  # two log directories
        "static-single",
        "aborted-transaction",
    ],
)
def test_a_host_sends_what_collect_finds_there(
    kraftool: Run, ssh: Hosts, tmp_path: Path, path: str
) -> None:
    """All of the survey, with its paths: static voters and endpoints of server.properties, too."""
    where = KAFKA_4_3 / path
    if not path.startswith("dynamic"):
        where = min(where.rglob("server.properties"))
    here = kraftool("recover", "collect", where, "--out", tmp_path / "here.collect")
    ran = kraftool("recover", "collect", "--ssh", "good", where, "--out", tmp_path / "c")
    assert ran.code == here.code, ran.err
    collected = surveys(tmp_path / "c/good.collect")
    assert collected == surveys(tmp_path / "here.collect")
    settings = collected[0].settings
    assert (settings is not None) is (where.name == "server.properties")
    if path == "static-single":
        assert settings is not None
        assert settings.static_voters
        assert settings.listeners


def test_a_relative_log_dir_is_resolved_as_here(kraftool: Run, ssh: Hosts, tmp_path: Path) -> None:
    """The login's folder has one of the same name, without data."""
    (ssh.folder / "home/data").mkdir()
    where = KAFKA_4_3 / "dynamic-quorum/node-1/server.properties"
    assert kraftool("recover", "collect", where, "--out", tmp_path / "here.collect").code == 0
    kraftool("recover", "collect", "--ssh", "good", where, "--out", tmp_path / "c")
    assert surveys(tmp_path / "c/good.collect") == surveys(tmp_path / "here.collect")


def test_damage_is_reported_with_the_host_s_own_paths(
    kraftool: Run, ssh: Hosts, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(KAFKA_4_3 / "dynamic-quorum/node-1/data", data)
    segment = max((data / "__cluster_metadata-0").glob("*.log"))
    whole = segment.read_bytes()
    segment.write_bytes(whole[: len(whole) // 2] + b"\0\1" + whole[len(whole) // 2 + 2 :])
    (data / "__cluster_metadata-0/quorum-state").unlink()
    (data / "__cluster_metadata-0/00000000000000000999.log").mkdir()
    here = kraftool("recover", "collect", data, "--out", tmp_path / "here.collect")
    ran = kraftool("recover", "collect", "--ssh", "good", data, "--out", tmp_path / "c")
    assert (here.code, ran.code) == (3, 3)
    assert here.err.split("kraftool: ")[1].split("\n")[0] in " ".join(text(ran).split())
    (data / "__cluster_metadata-0/00000000000000000999.log").rmdir()
    assert kraftool("recover", "collect", data, "--out", tmp_path / "here.collect").code == 1
    ran = kraftool("recover", "collect", "--ssh", "good", data, "--out", tmp_path / "c")
    assert ran.code == 1
    assert surveys(tmp_path / "c/good.collect") == surveys(tmp_path / "here.collect")


def text(ran: Any) -> str:
    return str(ran.out.decode() if isinstance(ran.out, bytes) else ran.out)


def report(kraftool: Run, *words: object) -> dict[str, Any]:
    ran = kraftool("recover", "collect", "--ssh", *words, "-o", "json")
    assert ran.code == 3
    return {node["name"]: node for node in fitting(text(ran))["nodes"]}


def test_each_host_that_sends_nothing_has_its_reason(
    kraftool: Run, ssh: Hosts, tmp_path: Path
) -> None:
    data = KAFKA_4_3 / "dynamic-quorum/node-1/data"
    names = "noisy,down,stranger,nokey,notar,cut"
    began = time.monotonic()
    nodes = report(kraftool, names, data, "--out", tmp_path / "c")
    assert time.monotonic() - began < 30, "no host waits for an answer at a question"
    assert {host for host, node in nodes.items() if node["file"]} == {"noisy"}
    for name, reached, problem, hint in (
        ("down", False, "Connection refused", None),
        ("stranger", False, "Host key verification failed", "log in once with ssh"),
        ("nokey", False, "Permission denied", "ssh-add"),
        ("notar", True, "there is no tar", "install tar"),
        ("cut", True, "damaged", None),
    ):
        assert problem in nodes[name]["reason"]
        assert (hint or "") in (nodes[name]["advice"] or "")
        assert nodes[name]["isReached"] is reached, name


def test_a_silent_host_fails_and_a_slow_one_does_not(
    kraftool: Run, ssh: Hosts, tmp_path: Path
) -> None:
    """The slow one takes longer than the limit."""
    data = KAFKA_4_3 / "dynamic-quorum/node-1/data"
    began = time.monotonic()
    nodes = report(kraftool, "hangs,slow", data, "--out", tmp_path / "c", "--timeout", 3)
    assert time.monotonic() - began > 3
    assert nodes["slow"]["reason"] is None
    assert nodes["hangs"]["reason"] == "nothing came for 3 s"
    assert "--timeout" in nodes["hangs"]["advice"]
    assert not nodes["hangs"]["isReached"]


def test_no_host_is_reached(kraftool: Run, ssh: Hosts, tmp_path: Path) -> None:
    ran = kraftool("recover", "collect", "--ssh", "down:/x,stranger:/x", "--out", tmp_path / "c")
    assert ran.code == 4


def test_files_that_change_meanwhile_are_a_finding(
    kraftool: Run, ssh: Hosts, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(KAFKA_4_3 / "dynamic-quorum/node-1/data", data)
    (ssh.folder / "growing").write_text(str(data))
    ran = kraftool("recover", "collect", "--ssh", "grows", data, "--out", tmp_path / "c")
    assert ran.code == 1
    assert "Kafka wrote while tar read the files" in text(ran)
    assert (tmp_path / "c/grows.collect").exists()


def test_a_running_process_and_a_half_done_plan_are_seen(
    kraftool: Run, ssh: Hosts, tmp_path: Path
) -> None:
    quorum = Quorum(tmp_path / "quorum", APART, (3,))
    data = quorum[3]
    kraftool("recover", "plan", data, "--set", "lost=2,4", "--out", tmp_path / "plan.yaml")
    plan = plan_from_yaml((tmp_path / "plan.yaml").read_bytes())
    words = ("recover", "apply", tmp_path / "plan.yaml", "--dir", data, "--yes", plan.id)
    assert signalled(words, 8, signal.SIGKILL).code == -signal.SIGKILL
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, data / ".lock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout
        holder.stdout.readline()
        kraftool("recover", "collect", data, "--out", tmp_path / "here.collect")
        ran = kraftool("recover", "collect", "--ssh", "good", data, "--out", tmp_path / "c")
        holder.communicate(b"\n")
    assert ran.code == 1
    (survey,) = surveys(tmp_path / "c/good.collect")
    assert survey.running
    assert f"--dir {data}" in survey.half_done
    assert (survey,) == surveys(tmp_path / "here.collect")


def test_ctrl_c_ends_ssh_and_keeps_what_came(ssh: Hosts, tmp_path: Path) -> None:
    data = KAFKA_4_3 / "dynamic-quorum/node-1/data"
    words = ("recover", "collect", "--ssh", "good,hangs", str(data), "--out", str(tmp_path / "c"))
    process = subprocess.Popen(
        [sys.executable, "-m", "kraftool", *words], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    until = time.monotonic() + 30
    while not (tmp_path / "c/good.collect").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "interrupted; collected: good" in stderr
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert f"{ssh.folder}/config -l hangs" not in left


def test_only_the_quorum_s_settings_leave_the_host(
    kraftool: Run, ssh: Hosts, tmp_path: Path
) -> None:
    """Also where a setting goes on in the next lines."""
    from kraftool.commands.remote_script import remote_command

    properties = tmp_path / "server.properties"
    properties.write_text(
        "node.id = 7\nsasl.jaas.config=a \\\n  listeners=hunter2\n listeners : CONTROLLER\\\n"
        f"  ://c7:9093\nlog.dirs={KAFKA_4_3}/dynamic-quorum/node-1/data\nssl.key.password=hunter2\n"
    )
    ran = subprocess.run(remote_command(str(properties)), capture_output=True, check=True)
    head = ran.stdout.split(b"\n\n")[0]
    assert b"hunter2" not in ran.stdout
    assert b"setting node.id = 7\n" in head
    assert b"setting  listeners : CONTROLLER://c7:9093" in head


@pytest.mark.parametrize(
    "words",
    [
        ("--ssh", "a", "--kubectl", "b", "/x"),
        ("--ssh", "a", "/x", "/y"),
        ("--kubectl", "b"),
        ("--sudo", "/x"),
        ("--container", "c", "/x"),
        (),
    ],
)
def test_options_that_do_not_fit(kraftool: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    assert kraftool("recover", "collect", *words, "--out", tmp_path / "c").code == 2


def test_here_with_a_document(kraftool: Run, tmp_path: Path) -> None:
    where = KAFKA_4_3 / "dynamic-quorum/node-1/server.properties"
    file = tmp_path / "here.collect"
    ran = kraftool("recover", "collect", where, "--out", file, "-o", "json")
    (node,) = fitting(text(ran))["nodes"]
    assert node["name"] is None
    assert node["size"] == file.stat().st_size
    (directory,) = node["surveys"]
    assert (directory["nodeId"], directory["endOffset"], directory["isHealthy"]) == (1, 81, True)
    assert directory["hasSettings"]
    assert json.loads(text(ran))["nodes"][0]["isReached"]
