"""`format` and `storage`: what is planned, what is refused, what is left on the disk."""

from __future__ import annotations

import hashlib
import hmac
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import meta_properties
from kraftool.storage.format_voters import voters_of
from kraftool.storage.random_ids import random_directory_id
from kraftool.storage.scram_records import scram_user
from tests.support.json_contract import validator
from tests.support.places import PARTITION, ROOT

Run = Callable[..., Any]
CLUSTER = "5L6g3nShT-eMCtK--X86sw"
FIRST, SECOND = "m4edhskZReujT5KaPved-A", "tZQSAvsjSkG1h6dlBS_MFA"
BEGINS = ("-s", "-r", "4.4")
"""The options of a cluster's first controller."""
FIRST_SNAPSHOT = f"{PARTITION}/{0:020}-{0:010}.checkpoint"


def _settings(folder: Path, **more: str) -> Path:
    given = {
        "process.roles": "controller",
        "node.id": "1",
        "controller.listener.names": "CONTROLLER",
        "listeners": "CONTROLLER://127.0.0.1:9093",
        "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
        "log.dirs": f"{folder / 'a'},{folder / 'b'}",
        **{key.replace("_", "."): value for key, value in more.items()},
    }
    path = folder / "server.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in given.items()))
    return path


def _files(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name != "server.properties"
    )


def test_a_dry_run_tells_and_writes_nothing(kraftool: Run, tmp_path: Path) -> None:
    config = _settings(tmp_path)
    words = ("format", "-c", config, "-t", CLUSTER, *BEGINS, "--dry-run")
    ran = kraftool(*words, "--add-scram", "SCRAM-SHA-256=[name=alice,password=canary]")
    assert ran.code == 0
    assert "Would format dynamic metadata voter directory" in ran.text
    assert "SCRAM-SHA-256 for alice" in ran.text
    assert "canary" not in ran.text + ran.err
    assert _files(tmp_path) == []


@pytest.mark.parametrize("dry", [True, False])
def test_the_document_says_what_was_formatted(kraftool: Run, tmp_path: Path, dry: bool) -> None:
    config = _settings(tmp_path)
    words = ("format", "-c", config, "-t", CLUSTER, "-o", "json", *BEGINS)
    ran = kraftool(
        *words,
        *("-S", "SCRAM-SHA-512=[name=alice,password=canary]"),
        *(("--dry-run",) if dry else ()),
    )
    document = json.loads(ran.out)
    assert document["isDryRun"] is dry
    assert [directory["role"] for directory in document["directories"]] == [
        "dynamic metadata voter directory",
        "data directory",
    ]
    assert "canary" not in ran.text
    if not dry:
        data = (tmp_path / "a" / "meta.properties").read_bytes()
        meta, findings = meta_properties.decode(data)
        assert findings == ()
        assert meta.directory_id == document["directories"][0]["directoryId"]
        assert meta.directory_id == document["voters"][0]["directoryId"]


def test_a_formatted_directory_is_refused_and_left_alone(kraftool: Run, tmp_path: Path) -> None:
    config = _settings(tmp_path)
    assert kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS).code == 0
    before = {name: (tmp_path / name).read_bytes() for name in _files(tmp_path)}
    ran = kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS)
    assert ran.code == 5
    assert "is formatted already" in ran.err
    ran = kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS, "--ignore-formatted")
    assert ran.code == 0
    assert ran.text == "All of the log directories are already formatted.\n"
    assert {name: (tmp_path / name).read_bytes() for name in _files(tmp_path)} == before


def test_with_ignore_formatted_the_others_are_formatted(kraftool: Run, tmp_path: Path) -> None:
    config = _settings(tmp_path)
    assert kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS).code == 0
    (tmp_path / "b" / "meta.properties").unlink()
    ran = kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS, "-g")
    assert ran.code == 0, ran.err
    assert ran.text.startswith(f"Formatting data directory {tmp_path / 'b'} ")
    assert (tmp_path / "b" / "meta.properties").exists()


def test_another_cluster_or_node_is_refused(kraftool: Run, tmp_path: Path) -> None:
    config = _settings(tmp_path)
    assert kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS).code == 0
    ran = kraftool("format", "-c", config, "-t", "another", *BEGINS, "-g")
    assert (ran.code, f"cluster.id {CLUSTER}" in ran.err) == (5, True)
    config = _settings(tmp_path, node_id="2")
    ran = kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS, "-g")
    assert (ran.code, "node.id 1" in ran.err) == (5, True)


@pytest.mark.parametrize(
    "left",
    [
        f"a/{PARTITION}/quorum-state",
        f"a/{PARTITION}/{0:020}.log",
        f"a/{PARTITION}/{5:020}-{1:010}.checkpoint",
        f"b/{PARTITION}/quorum-state",
    ],
)
def test_where_a_quorum_has_begun_no_other_begins(kraftool: Run, tmp_path: Path, left: str) -> None:
    """kafka-storage formats a directory that has lost its meta.properties, or another log dir."""
    config = _settings(tmp_path)
    path = tmp_path / left
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x")
    ran = kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS)
    assert ran.code == 5
    assert "already has metadata" in ran.err
    assert _files(tmp_path) == [left]


def test_a_format_that_was_cut_short_can_be_run_again(kraftool: Run, tmp_path: Path) -> None:
    """The last thing written is meta.properties; what came before is written over."""
    config = _settings(tmp_path)
    assert kraftool("format", "-c", config, "-t", CLUSTER, "-s", "-r", "4.3").code == 0
    whole = _files(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name / "meta.properties").unlink()
    ran = kraftool("format", "-c", config, "-t", CLUSTER, "-s", "-r", "4.3")
    assert ran.code == 0, ran.err
    assert _files(tmp_path) == whole


def test_a_directory_in_use_is_refused(kraftool: Run, tmp_path: Path) -> None:
    config = _settings(tmp_path)
    (tmp_path / "a").mkdir()
    code = (
        "import sys; from kraftool.storage.lock_taking import DirectoryLock\n"
        "with DirectoryLock(sys.argv[1]): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        ran = kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS)
        holder.communicate(b"")
    assert (ran.code, "in use" in ran.err) == (5, True)
    assert _files(tmp_path) == ["a/.lock"]


def test_a_directory_that_cannot_be_written_is_told_and_is_not_formatted(
    kraftool: Run, tmp_path: Path
) -> None:
    config = _settings(tmp_path)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / PARTITION).write_text("")
    ran = kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS)
    assert (ran.code, "does not count as formatted" in ran.err) == (3, True)
    assert _files(tmp_path) == [f"a/{PARTITION}"]


def test_the_same_voter_in_another_directory_is_refused(kraftool: Run, tmp_path: Path) -> None:
    config = _settings(tmp_path)
    mine = f"1@127.0.0.1:9093:{FIRST}"
    assert kraftool("format", "-c", config, "-t", CLUSTER, "-r", "4.4", "-I", mine).code == 0
    other = mine.replace(FIRST, SECOND)
    again = kraftool("format", "-c", config, "-t", CLUSTER, "-r", "4.4", "-g", "-I", other)
    assert (again.code, FIRST in again.err) == (5, True)


@pytest.mark.parametrize(
    ("voters", "word"),
    [
        (f"1@h:9093:{FIRST},2@h:9093:{SECOND}", "the address"),
        (f"1@h:9093:{FIRST},2@h:9094:{FIRST}", "the directory id"),
        (f"1@h:9093:{FIRST},1@h:9094:{SECOND}", "the id"),
        (f"1@h:0:{FIRST}", "can reach"),
        ("1@h:9093:AAAAAAAAAAAAAAAAAAAAAQ", "no directory may have"),
        (f"-1@h:9093:{FIRST}", "not of the form"),
        (f"1@[::1:9093:{FIRST}", "not of the form"),
        (",", "is empty"),
    ],
)
def test_voters_that_could_not_be_told_apart_are_refused(
    kraftool: Run, tmp_path: Path, voters: str, word: str
) -> None:
    ran = kraftool("format", "-c", _settings(tmp_path), "-t", CLUSTER, "-I", voters)
    assert ran.code == 2
    assert word in ran.err
    assert _files(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ((), "name the initial voters"),
        (("-s", "-N"), "cannot be used together"),
        (("-s", "-r", "9.9"), "not a release"),
        (("-s", "-f", "nonsense"), "NAME=LEVEL"),
        ((*BEGINS, "-f", "foo.version=1"), "not a known feature"),
        ((*BEGINS, "-f", "group.version=9"), "has no level 9"),
        ((*BEGINS, "-S", "nonsense"), "--add-scram"),
    ],
)
def test_options_that_can_mean_nothing_are_a_mistake_of_usage(
    kraftool: Run, tmp_path: Path, options: tuple[str, ...], word: str
) -> None:
    """Whatever the directories hold; what they hold is refused for safety, with 5."""
    ran = kraftool("format", "-c", _settings(tmp_path), "-t", CLUSTER, *options)
    assert (ran.code, word in ran.err) == (2, True), ran.err
    assert _files(tmp_path) == []


def test_nothing_is_promised_where_all_is_formatted(kraftool: Run, tmp_path: Path) -> None:
    """A dry run over a voter's directory does not say that this node alone will be the quorum."""
    config = _settings(tmp_path)
    assert kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS).code == 0
    ran = kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS, "-g", "--dry-run")
    assert (ran.code, ran.err) == (0, "")
    first, *left, last = ran.text.splitlines()
    assert first == f"Cluster {CLUSTER}, node 1"
    assert left == [f"Would leave {tmp_path / name}, which is formatted" for name in "ab"]
    assert last == "All of the log directories are already formatted: nothing would be written."


def test_a_cluster_id_that_is_no_uuid_is_taken_with_a_word(kraftool: Run, tmp_path: Path) -> None:
    """kafka-storage takes it, too."""
    ran = kraftool("format", "-c", _settings(tmp_path), "-t", "hello", *BEGINS)
    assert ran.code == 0
    assert (
        "--cluster-id hello does not have the form that `kraftool storage random-uuid` prints"
        in ran.err
    )
    assert b"cluster.id=hello\n" in (tmp_path / "a" / "meta.properties").read_bytes()


def test_a_configuration_that_kafka_refuses_is_refused(kraftool: Run, tmp_path: Path) -> None:
    config = _settings(tmp_path, listeners="OTHER://127.0.0.1:9093")
    ran = kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS)
    assert ran.code != 0
    assert "listener.security.protocol.map does not have OTHER" in ran.err
    assert _files(tmp_path) == []


def test_which_files_depend_on_the_release(kraftool: Run, tmp_path: Path) -> None:
    for release, expected in (
        ("4.3", ["a/" + FIRST_SNAPSHOT, "a/bootstrap.checkpoint", "a/meta.properties"]),
        ("4.4", ["a/" + FIRST_SNAPSHOT, "a/meta.properties"]),
    ):
        folder = tmp_path / release
        folder.mkdir()
        config = _settings(folder, log_dirs=str(folder / "a"))
        assert kraftool("format", "-c", config, "-t", CLUSTER, "-s", "-r", release).code == 0
        assert _files(folder) == expected


def test_a_format_is_what_verify_snapshot_accepts(kraftool: Run, tmp_path: Path) -> None:
    config = _settings(tmp_path)
    assert kraftool("format", "-c", config, "-t", CLUSTER, *BEGINS).code == 0
    ran = kraftool("verify-snapshot", tmp_path / "a" / FIRST_SNAPSHOT)
    assert ran.code == 0, ran.text


def test_uuids_never_begin_with_a_hyphen(kraftool: Run) -> None:
    ran = kraftool("storage", "random-uuid")
    assert (ran.code, len(ran.text), ran.text[:1] != "-") == (0, 23, True)
    assert not any(random_directory_id().startswith("-") for _ in range(500))


def test_an_address_of_ipv6_is_written_out_as_java_does() -> None:
    voters = voters_of(f"1@[2001:db8::1]:9093:{FIRST}", "controller")
    endpoint = voters.voters[1].endpoints["CONTROLLER"]
    assert endpoint == ("2001:db8:0:0:0:0:0:1", 9093)


def test_the_keys_of_a_password_are_those_of_rfc_5802() -> None:
    user = scram_user(
        'SCRAM-SHA-256=[name="a b",salt=bWFueSBncmFpbnM=,iterations=8192,password=p=w]'
    )
    salted = hashlib.pbkdf2_hmac("sha256", b"p=w", b"many grains", 8192)
    client = hmac.digest(salted, b"Client Key", "sha256")
    assert user.name == "a b"
    assert user.record["storedKey"] == hashlib.sha256(client).digest()
    assert user.record["serverKey"] == hmac.digest(salted, b"Server Key", "sha256")


def test_info_as_json_is_what_the_text_says(
    kraftool: Run, fixtures_dir: Path, tmp_path: Path
) -> None:
    node = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2"
    config = tmp_path / "server.properties"
    for log_dir, code in ((node / "data", 0), (tmp_path / "nowhere", 1)):
        config.write_text(
            "process.roles=controller\nnode.id=2\ncontroller.listener.names=CONTROLLER\n"
            "listeners=CONTROLLER://localhost:9092\n"
            f"controller.quorum.bootstrap.servers=localhost:9092\nlog.dirs={log_dir}\n"
        )
        ran = kraftool("storage", "info", "-c", config, "-o", "json")
        shown = kraftool("storage", "info", "-c", config)
        assert (ran.code, shown.code) == (code, code)
        document = json.loads(ran.out)
        validator("storage-info").validate(document)
        assert document["logDirs"] == ([str(log_dir)] if code == 0 else [])
        assert all(problem in shown.text for problem in document["problems"])
        assert bool(document["problems"]) is bool(code)
        if document["clusterId"] is not None:
            assert f"cluster.id={document['clusterId']}" in shown.text
            assert f"directory.id={document['directoryId']}" in shown.text
    assert document["nodeId"] is None
