"""`recover collect --ssh` and `--kubectl` with stand-ins for ssh and kubectl on PATH."""

from __future__ import annotations

import io
import os
import shlex
import tarfile
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from kraftool.commands.remote_copy import survey_copy
from kraftool.commands.remote_fetch import FetchedNode, fetch
from kraftool.commands.remote_head import RemoteHead
from kraftool.commands.remote_nodes import RemoteNode
from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file

Run = Callable[..., Any]

_SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
case $2 in
hangs) exec sleep 60 ;;
refuses) echo 'ssh: connect to host refuses port 22: Connection refused' >&2; exit 255 ;;
denied) echo '/data: permission denied' >&2; exit 92 ;;
once) mkdir "$0.came" || exit 255 ;;
breaks)
  if [ -e "${0%/*}/../break" ]; then
    sh -c "$3" | head -c 4000
    kill -KILL $$
  fi ;;
grows) sh -c "$3"; echo 'tar: /data/0.log: file changed as we read it' >&2; exit 1 ;;
shrinks) sh -c "$3"; echo 'tar: /data/0.log: File shrank by 9 bytes' >&2; exit 1 ;;
esac
exec sh -c "$3"
"""
_KUBECTL = """#!/bin/sh
if [ "$1" = config ]; then echo prod; exit; fi
if [ "$1" = get ]; then
  echo '{"items":[{"metadata":{"name":"kafka-0"},"spec":{"containers":[{"name":"kafka"}]}}]}'
  exit
fi
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""
_HEAD = r"kraftool-collect 1\nfiles 1\ntotal 9\ndirectory /data\n\n"


@pytest.fixture
def data(fixtures_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("ssh", _SSH), ("kubectl", _KUBECTL)):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return min((fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-3").glob("data*"))


def assert_same(kraftool: Run, file: Path, data: Path, tmp_path: Path) -> None:
    assert kraftool("recover", "collect", data, "--out", tmp_path / "here").code == 0
    (carried,) = collect_file.read(str(file)).surveys
    (here,) = collect_file.read(str(tmp_path / "here")).surveys
    assert (carried.files, carried.log, carried.state) == (here.files, here.log, here.state)


def test_each_host_has_its_file_or_its_problem(kraftool: Run, data: Path, tmp_path: Path) -> None:
    out = tmp_path / "collected"
    hosts = f"good,hangs,refuses,denied,shrinks,none:{tmp_path}/not there"
    options = ("--ssh", hosts, data, "--out", out, "--timeout", 2)
    ran = kraftool("recover", "collect", *options)
    assert ran.code == 3, ran.err
    assert [path.name for path in out.iterdir()] == ["good.collect"]
    text = ran.out.decode() if isinstance(ran.out, bytes) else ran.out
    for part in (
        "nothing came for 2 s",
        "Connection refused",
        "permission denied",
        "no such file",
        "shrank",
    ):
        assert part in " ".join(text.split())
    assert_same(kraftool, out / "good.collect", data, tmp_path)


def test_a_connection_that_breaks_costs_only_its_host(
    kraftool: Run, data: Path, tmp_path: Path
) -> None:
    """ssh is killed in the middle of one host's files. The printed command fetches only that host:
    the other host refuses a second connection."""
    out = tmp_path / "collected"
    (tmp_path / "break").touch()
    ran = kraftool("recover", "collect", "--ssh", "once,breaks", data, "--out", out)
    assert ran.code == 3, ran.err
    assert [path.name for path in out.iterdir()] == ["once.collect"]
    assert "collected 1 node of 2; missing: breaks" in ran.narration
    (command,) = [line for line in ran.err.splitlines() if "--keep" in line]
    (tmp_path / "break").unlink()
    (out / "breaks.collect").write_bytes(b"half")
    words = shlex.split(command.replace("$ kraftool", ""))
    ran = kraftool(*words)
    assert ran.code == 3, "a part of a file is not kept as a whole file"
    assert "move" in ran.words
    (out / "breaks.collect").unlink()
    ran = kraftool(*words)
    assert ran.code == 0, ran.err
    assert "once.collect" in ran.words
    assert "kept from an earlier run" in ran.words
    assert_same(kraftool, out / "breaks.collect", data, tmp_path)


def test_a_file_system_without_links_gets_collect_files(
    kraftool: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    ran = kraftool("recover", "collect", "--ssh", "good", data, "--out", tmp_path / "c")
    assert ran.code == 0, ran.err
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["good.collect"]


def test_a_collect_file_that_cannot_be_written_leaves_nothing(
    kraftool: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    ran = kraftool("recover", "collect", "--ssh", "good", data, "--out", tmp_path / "c")
    assert ran.code == 3
    assert "No space left" in ran.words
    assert not list((tmp_path / "c").iterdir())


def test_a_growing_log_is_collected_and_is_a_finding(
    kraftool: Run, data: Path, tmp_path: Path
) -> None:
    ran = kraftool("recover", "collect", "--ssh", "grows", data, "--out", tmp_path / "c")
    assert ran.code == 1
    assert (tmp_path / "c/grows.collect").exists()


def test_no_host_reached(kraftool: Run, data: Path, tmp_path: Path) -> None:
    ran = kraftool("recover", "collect", "--ssh", "refuses", data, "--out", tmp_path / "c")
    assert ran.code == 4


def test_a_path_is_quoted_and_properties_name_the_directory(
    kraftool: Run, data: Path, tmp_path: Path
) -> None:
    odd = tmp_path / f"it's $(touch {tmp_path.name}) .properties"
    odd.write_text(f"log.dirs=/nowhere\nmetadata.log.dir = {data}\nssl.key.password=hunter2\n")
    ran = kraftool("recover", "collect", "--ssh", "good", odd, "--out", tmp_path / "c")
    assert ran.code == 0, ran.err
    assert_same(kraftool, tmp_path / "c/good.collect", data, tmp_path)


def test_pods(kraftool: Run, data: Path, tmp_path: Path) -> None:
    ran = kraftool("recover", "collect", "--kubectl", "app=k", data, "--out", tmp_path / "c")
    assert ran.code == 0, ran.err
    assert_same(kraftool, tmp_path / "c/kafka-0.collect", data, tmp_path)


def test_links_are_followed_and_a_dead_one_is_no_lost_log(
    kraftool: Run, data: Path, tmp_path: Path
) -> None:
    for name, target in (("live", data / "__cluster_metadata-0"), ("dead", tmp_path / "none")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "meta.properties").write_bytes((data / "meta.properties").read_bytes())
        (tmp_path / name / "__cluster_metadata-0").symlink_to(target)
    hosts = f"live:{tmp_path}/live,dead:{tmp_path}/dead"
    ran = kraftool("recover", "collect", "--ssh", hosts, data, "--out", tmp_path / "c")
    assert ran.code == 3
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["live.collect"]
    (survey,) = collect_file.read(str(tmp_path / "c/live.collect")).surveys
    assert survey.log is not None


def _fetched(file: Path, sent: str, *, seconds: float) -> FetchedNode:
    """What comes of a node that sends the output of a command."""
    node = RemoteNode(name="a", command=("sh", "-c", sent))
    return fetch(
        node,
        file,
        seconds=seconds,
        stop=Event(),
        room=1 << 30,
        progress=lambda came, total: None,
    )


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        (f"printf '{_HEAD}'; head -c 999999 /dev/zero", "No space left"),
        ("yes | head -c 999999", "something else came"),
    ],
)
def test_a_stream_that_cannot_be_kept_is_a_problem(tmp_path: Path, sent: str, problem: str) -> None:
    (tmp_path / "0.tar").symlink_to("/dev/full")
    fetched = _fetched(tmp_path / "0.tar", sent, seconds=10)
    assert problem in fetched.problem
    assert fetched.hint


def test_a_helper_that_keeps_stderr_open_holds_up_nobody(tmp_path: Path) -> None:
    """ssh leaves one that shares its connections. It is silent for longer than the limit."""
    sent = f"printf '{_HEAD}'; sleep 6 >/dev/null &"
    fetched = _fetched(tmp_path / "0.tar", sent, seconds=2)
    assert (fetched.problem, fetched.head.total) == ("", 9)


@pytest.mark.parametrize("name", ["../../escaped", "/../escaped"])
def test_no_file_is_written_outside_of_the_copies(tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "0.tar", "w") as archive:
        member = tarfile.TarInfo(name)
        member.size = 1
        archive.addfile(member, io.BytesIO(b"x"))
    (tmp_path / "a/b").mkdir(parents=True)
    node = RemoteNode(name="a", command=())
    head = RemoteHead(directory="/data", log_dirs=("/data",))
    fetched = FetchedNode(node=node, file=tmp_path / "0.tar", head=head)
    with pytest.raises(KraftoolError, match="did not ask for"):
        survey_copy(fetched, tmp_path / "a/b", now_ms=0, at=None)
    assert not list(tmp_path.rglob("escaped"))
