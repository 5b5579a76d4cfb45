"""`node run` up to where it would talk to others: what it says it would be, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.error_codes import Error
from kraftool.raft.messages import FetchResponse, Response
from kraftool.raft.names import OffsetAndEpoch, VoterSet
from kraftool.raft.records import Batch
from kraftool.storage.lock_taking import DirectoryLock
from kraftool.storage.log_config import LogConfig
from kraftool.storage.metadata_log import MetadataLog
from tests.client.scripted_leader import ScriptedLeader
from tests.commands.conftest import Run, apart
from tests.net.certificates import authority, node

pytestmark = pytest.mark.slow

DIRECTORY = "kafka-4.3.0/dynamic-quorum/node-2/data"
"""Of voter 2 of 1, 2, 3."""


@pytest.fixture
def server(fixtures_dir: Path, tmp_path: Path) -> Path:
    """The configuration of the controller that wrote the directory, and a copy of that."""
    shutil.copytree(fixtures_dir / DIRECTORY, tmp_path / "data")
    path = tmp_path / "server.properties"
    path.write_text(
        f"""process.roles=controller
node.id=2
controller.quorum.bootstrap.servers=127.0.0.1:1
controller.listener.names=CONTROLLER
listeners=CONTROLLER://127.0.0.1:0
log.dirs={tmp_path / "data"}
"""
    )
    return path


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_says_who_it_would_be_and_touches_nothing(kraftool: Run, server: Path) -> None:
    before = content(server.parent)
    ran = kraftool("node", "run", "--config", server, "--dry-run")
    assert ran.code == 0, ran.err
    words = " ".join(ran.text.split())
    assert "node 2, directory " in words
    assert "lock free" in words
    assert "runs as voter, an ordinary candidate; the active controller while it leads" in words
    assert "log offsets 0 to 223 (end offset 224)" in words, "as dump says it"
    assert "recorded at 127.0.0.1:41733 (CONTROLLER): will be changed" in words
    assert content(server.parent) == before


def test_a_dry_run_says_whether_the_recorded_endpoint_is_the_one_it_advertises(
    kraftool: Run, server: Path
) -> None:
    def shown(change: str) -> str:
        ran = kraftool("node", "run", "--config", server, "--dry-run", "--override", change)
        assert ran.code == 0, ran.err
        return next(line for line in ran.text.splitlines() if line.startswith("recorded"))

    same = shown("listeners=CONTROLLER://127.0.0.1:41733")
    assert same.split() == ["recorded", "at", "127.0.0.1:41733", "(CONTROLLER)"]
    moved = shown("listeners=CONTROLLER://127.0.0.1:9093")
    assert moved.endswith("at 127.0.0.1:41733 (CONTROLLER): will be changed to 127.0.0.1:9093")


def test_a_dry_run_says_who_holds_the_lock(kraftool: Run, server: Path) -> None:
    with DirectoryLock(str(server.parent / "data")):
        ran = kraftool("node", "run", "--config", server, "--dry-run")
    assert ran.code == 1
    assert f"as process {os.getpid()}" in ran.text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("node.id=seven", "--override node.id: node.id: 'seven' is not an integer of 32 bits"),
        ("process.roles=broker", "server.properties with --override process.roles: listeners: "),
        ("node.id=7", "meta.properties belongs to node 2, but --override node.id configures 7"),
    ],
)
def test_what_comes_of_an_override_is_not_laid_on_the_file(
    kraftool: Run, server: Path, change: str, message: str
) -> None:
    ran = kraftool("node", "run", "--config", server, "--dry-run", "--override", change)
    assert ran.code in (3, 5)
    assert message in ran.err


def test_a_directory_in_use_is_refused(kraftool: Run, server: Path) -> None:
    with DirectoryLock(str(server.parent / "data")):
        done = apart("node", "run", "--config", server)
    assert done.code == 5, done.err
    assert "another process holds its lock" in done.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("node.id=7", "belongs to node 2"),
        ("log.dirs=nowhere", "is not formatted"),
    ],
)
def test_a_directory_that_is_not_its_own_is_refused(
    kraftool: Run, server: Path, change: str, message: str
) -> None:
    ran = kraftool("node", "run", "--config", server, "--override", change)
    assert ran.code == 5, ran.err
    assert message in ran.err


def test_a_directory_without_meta_properties_is_not_formatted_at_first(
    kraftool: Run, server: Path
) -> None:
    """A voter that is formatted anew is one no more: what else it may be is told before."""

    def told() -> str:
        ran = kraftool("node", "run", "--config", server, "--dry-run", *override)
        assert ran.code == 5, ran.err
        return " ".join(ran.err.split())

    data = server.parent / "data"
    override: tuple[str, ...] = ("--override", f"log.dirs={data / '__cluster_metadata-0'}")
    assert "log.dirs requires the directory above it" in told()
    override = ("--override", f"log.dirs={server.parent / 'mistyped'}")
    assert "correct log.dirs, or mount its disk" in told()
    override = ("--override", f"log.dirs={server.parent}")
    assert "is it the right directory?" in told()
    override = ()
    override = ()
    (data / "meta.properties").unlink()
    assert "restore its meta.properties, and do not format it" in told()


def test_a_voter_is_not_made_to_observe_and_nothing_of_it_is_mended(
    kraftool: Run, server: Path
) -> None:
    [segment] = (server.parent / "data" / "__cluster_metadata-0").glob("*.log")
    segment.write_bytes(segment.read_bytes()[:-7])
    before = content(server.parent / "data")
    observer = ("node", "run", "--config", server, "--role", "observer")
    planned = kraftool(*observer, "--dry-run")
    ran = kraftool(*observer)
    assert ran.code == 5, ran.err
    assert "it cannot only observe" in ran.err
    assert (planned.code, planned.err) == (ran.code, ran.err), "a dry run refuses what the run does"
    assert planned.out == b""
    after = content(server.parent / "data")
    after.pop(str(server.parent / "data" / ".lock"), None)
    before.pop(str(server.parent / "data" / ".lock"), None)
    assert after == before


@pytest.mark.parametrize(
    "options",
    [
        ("--role", "observer", "--witness"),
        ("--override", "node.id"),
        ("--metrics-listen", "here"),
        ("--override", "process.roles=broker"),
    ],
)
def test_what_contradicts_itself_is_a_usage_error(
    kraftool: Run, server: Path, options: tuple[str, ...]
) -> None:
    ran = kraftool("node", "run", "--config", server, *options)
    assert ran.code in (2, 3), ran.err
    assert ran.err


def test_a_signal_ends_a_voter_that_waits_for_a_leader(server: Path) -> None:
    """There is nobody that could take over: the second signal ends it at once, with 1."""
    # With it, it would know of a leader, and go at once.
    (server.parent / "data" / "__cluster_metadata-0" / "quorum-state").unlink()
    command = [
        sys.executable, "-m", "kraftool", "node", "run", "--config", str(server),
        "--shutdown-timeout", "60", "--log-format", "json",
    ]  # fmt: skip
    with subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr is not None
        for line in running.stderr:
            if '"message":"started"' in line:
                break
        running.send_signal(signal.SIGTERM)
        for line in running.stderr:
            if '"message":"shutting down"' in line:
                break
        running.send_signal(signal.SIGTERM)
        rest = running.stderr.read()
        assert running.wait(30) == 1, rest
    assert "ended without waiting any longer" in _parsed(rest)[-1]["message"]


@pytest.fixture
def only(kraftool: Run, tmp_path: Path) -> Path:
    """The configuration of the only voter of its quorum, with a formatted directory."""
    config = tmp_path / "server.properties"
    config.write_text(
        f"""process.roles=controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:1
controller.listener.names=CONTROLLER
listeners=CONTROLLER://127.0.0.1:0
advertised.listeners=CONTROLLER://127.0.0.1:9093
log.dirs={tmp_path / "data"}
"""
    )
    formatted = kraftool("format", "-c", config, "-t", "cccccccccccccccccccccA", "-s", "-r", "4.4")
    assert formatted.code == 0, formatted.err
    return config


def _started(config: Path, *, ignored: tuple[signal.Signals, ...] = ()) -> subprocess.Popen[str]:
    """A node that has started, with lines of JSON."""
    command = [
        sys.executable, "-m", "kraftool", "node", "run", "--config", str(config),
        "--log-format", "json",
    ]  # fmt: skip

    def ignore() -> None:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    running = subprocess.Popen(
        command, cwd=Path(__file__).parents[2], stderr=subprocess.PIPE, text=True, preexec_fn=ignore
    )
    assert running.stderr is not None
    for line in running.stderr:
        if '"message":"started"' in line:
            break
    return running


def test_a_hangup_stops_it_in_order_as_it_stops_a_jvm(only: Path) -> None:
    with _started(only) as running:
        running.send_signal(signal.SIGHUP)
        assert running.stderr is not None
        rest = running.stderr.read()
        assert running.wait(30) == 0, rest
    assert '"signal":"SIGHUP"' in rest


def _parsed(text: str) -> list[dict[str, Any]]:
    """Every line, as JSON."""
    return [json.loads(line) for line in text.splitlines()]


def test_every_line_is_json_from_the_first_to_the_last(only: Path) -> None:
    """The note of an unknown key comes first, why it failed comes last."""
    only.write_text(only.read_text() + "unknown.key=1\n")
    (only.parent / "data" / "__cluster_metadata-0" / "quorum-state").unlink(missing_ok=True)
    done = apart(
        "node", "run", "--config", only, "--log-format", "json",
        "--override", "listeners=CONTROLLER://203.0.113.1:9093",
    )  # fmt: skip
    assert done.code == 3
    first, *_, last = _parsed(done.err)
    assert "unknown.key" in first["message"]
    assert last["level"] == "ERROR"
    assert "cannot listen on 203.0.113.1:9093" in last["message"]


def test_an_expired_certificate_of_its_own_is_reported_at_the_start(only: Path) -> None:
    store = node(authority(), days=-1).write(only.parent / "node.pem")
    only.write_text(
        only.read_text() + f"listener.security.protocol.map=CONTROLLER:SSL\nssl.keystore.type=PEM\n"
        f"ssl.keystore.location={store}\n"
    )
    done = apart(
        "node", "run", "--config", only, "--log-format", "json",
        "--override", "listeners=CONTROLLER://203.0.113.1:9093",
    )  # fmt: skip
    warning, *_ = [entry for entry in _parsed(done.err) if entry["level"] == "WARNING"]
    assert warning["message"] == "own certificate has expired"
    assert (warning["store"], warning["listeners"]) == (str(store), ["CONTROLLER"])


def test_a_refusal_and_an_end_without_a_successor_are_json(server: Path) -> None:
    command = ("node", "run", "--config", server, "--log-format", "json")
    with DirectoryLock(str(server.parent / "data")):
        done = apart(*command)
    assert done.code == 5
    [refused] = _parsed(done.err)
    assert "another process holds its lock" in refused["message"]
    done = apart(*command, "--override", "node.id=7")
    [refused] = _parsed(done.err)
    assert refused["hint"] == "either the directory or the configuration belongs to another node"


def test_a_hangup_that_is_ignored_stays_ignored(only: Path) -> None:
    with _started(only, ignored=(signal.SIGHUP,)) as running:
        running.send_signal(signal.SIGHUP)
        running.send_signal(signal.SIGTERM)
        assert running.stderr is not None
        rest = running.stderr.read()
        assert running.wait(30) == 0, rest
    assert '"signal":"SIGTERM"' in rest
    assert "SIGHUP" not in rest


def test_metadata_that_it_does_not_know_ends_a_node_with_that_reason(
    kraftool: Run, tmp_path: Path, only: Path
) -> None:
    """The only voter of its quorum: it commits what its log ends with, and then sees it."""
    unknown = b"\x01\xe7\x07\x00\x00"
    batch = Batch(base_offset=0, last_offset=0, epoch=1, timestamp_ms=1, data=[unknown])
    log = MetadataLog.open(str(tmp_path / "data"), LogConfig(), static_voters=VoterSet())
    log.append([batch])
    log.close()
    done = apart(
        "node", "run", "--config", only, "--quiet",
        "--override", "controller.quorum.election.timeout.ms=100",
    )  # fmt: skip
    assert done.code == 70, done.err
    assert "at offset 0: a record type 999 version 0 that cannot be replayed" in done.err
    assert "--no-image" in done.err
    assert "Traceback" not in done.err
    assert kraftool("dump-log", tmp_path / "data").code == 3, "the log is as it was, and longer"


def test_a_leader_that_truncates_committed_records_stops_the_node(
    fixtures_dir: Path, server: Path
) -> None:
    """It exits 70, says what to do, shows its state, and its log keeps every byte."""
    partition = server.parent / "data" / "__cluster_metadata-0"
    # Without it the node asks its bootstrap server who leads.
    (partition / "quorum-state").unlink()
    before = fixtures_dir / DIRECTORY / partition.name
    leader = ScriptedLeader(before)

    served: list[Response] = []

    def spoiled(response: Response) -> Response:
        """Name the leader. After two answers with its high watermark, request a truncation."""
        assert isinstance(response, FetchResponse)
        response = replace(response, endpoints={"CONTROLLER": leader.bound})
        if response.error is Error.NONE:
            served.append(response)
        if len(served) < 3:
            return response
        return replace(response, batches=(), diverging_epoch=OffsetAndEpoch(1, 1))

    leader.spoil = spoiled

    async def run() -> tuple[int, str]:
        async with leader.running():
            node = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "kraftool", "node", "run", "--config", str(server),
                "--log-format", "json", "--override",
                f"controller.quorum.bootstrap.servers={leader.bound.host}:{leader.bound.port}",
                cwd=Path(__file__).parents[2], stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            async with asyncio.timeout(60):
                _, err = await node.communicate()
            return node.returncode or 0, err.decode()

    code, err = asyncio.run(run())
    assert code == 70, err
    assert "leader 1 of epoch 9 requested a truncation of the metadata log to offset 1" in err
    assert f"all records below offset {leader.end} are committed; nothing was truncated" in err
    assert "Copy the data directory before you restart this node" in err
    failed = next(json.loads(line) for line in err.splitlines() if '"failed"' in line)
    assert failed["state"]["committedOffset"] == leader.end, failed
    assert "Traceback" not in err
    for path in before.glob("*.log"):
        assert (partition / path.name).read_bytes() == path.read_bytes()
