"""A live quorum instead of a PATH, or among several of them: usage, codes, interruption.

What real controllers tell is shown by tests/interop/test_live_reports.py.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from kraftool.commands.quorum_options import LiveOptions
from tests.commands.conftest import Run
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

DIRECTORY = ROOT / "fixtures/kafka-4.3.0/dynamic-quorum/node-2/data"
BESIDE = ("diff-voters", "doctor", "features")
"""These take directories and a quorum together."""
INSTEAD = ("state", "dump-log", "shell")
COMMANDS = (*BESIDE, *INSTEAD, "timeline")
NOWHERE = ("--bootstrap-controller", "127.0.0.1:1")


@pytest.fixture
def silent_server() -> Iterator[socket.socket]:
    """Takes connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--bootstrap-controller"),
        (("--bootstrap-controller", "ctl-1"), "is not HOST:PORT"),
        ((*NOWHERE, "--resolve", "x"), "is not ID=HOST:PORT"),
        ((*NOWHERE, "--command-config", "/nowhere/client.properties"), "/nowhere"),
        ((str(DIRECTORY), "--command-config", "client.properties"), "for a live quorum"),
        ((str(DIRECTORY), "--resolve", "1=a:1"), "for a live quorum"),
    ],
)
def test_what_cannot_be_meant_is_usage(
    kraftool: Run, command: str, options: tuple[str, ...], message: str
) -> None:
    done = kraftool(command, *options)
    assert (done.code, done.out) == (2, b""), done.err
    assert message in done.err


def test_the_commands_that_are_told_ask_as_this_one_did() -> None:
    given = LiveOptions(bootstrap_controller="a:1")
    assert given.again == ("--bootstrap-controller", "a:1")
    given = LiveOptions(
        bootstrap_controller="a:1,b:2",
        command_config="/etc/client.properties",
        timeout=7.5,
        resolve=["1=c:3", "2=d:4"],
    )
    assert given.again == (
        *("--bootstrap-controller", "a:1,b:2", "--command-config", "/etc/client.properties"),
        *("--timeout", "7.5", "--resolve", "1=c:3", "--resolve", "2=d:4"),
    )


LIVE = (*COMMANDS, "quorum health", "quorum describe", "watch --once")


@pytest.mark.parametrize("command", LIVE)
def test_nobody_there_ends_with_4_and_the_reason_is_printed_once(
    kraftool: Run, command: str
) -> None:
    done = kraftool(*command.split(), *NOWHERE)
    assert done.code == 4
    assert (done.text + done.err).count("connection refused") == 1
    assert "Traceback" not in done.err
    if command != "watch --once":  # its screen has one line for each problem, and no advice
        assert "check that the process is running" in " ".join((done.text + done.err).split())


@pytest.mark.parametrize("command", ["quorum health", "quorum describe", "watch --once"])
def test_scripts_read_the_reason_on_stderr_too(kraftool: Run, command: str) -> None:
    done = kraftool(*command.split(), *NOWHERE, "-o", "json")
    assert done.code == 4
    assert done.err.count("127.0.0.1:1: connection refused") == 1


@pytest.mark.parametrize("command", INSTEAD)
def test_a_path_and_a_quorum_are_two_things(kraftool: Run, command: str) -> None:
    done = kraftool(command, DIRECTORY, *NOWHERE)
    assert (done.code, done.out) == (2, b"")
    assert "name one of them" in done.err


@pytest.mark.parametrize("command", BESIDE)
def test_nobody_there_costs_no_directory(kraftool: Run, command: str) -> None:
    both = kraftool(command, DIRECTORY, *NOWHERE, "-o", "json")
    assert both.code == 4
    alone = kraftool(command, DIRECTORY, "-o", "json")
    document, kept = json.loads(both.out), json.loads(alone.out)
    if command == "features":
        assert document == kept
    elif command == "doctor":
        assert document["directories"] == kept["directories"]
    else:
        assert document["sources"][0] == kept["sources"][0]
        assert document["sources"][1]["kind"] == "live controller"


@pytest.mark.parametrize("command", [*COMMANDS, "quorum health"])
def test_an_interrupted_wait_ends_with_130(command: str, silent_server: socket.socket) -> None:
    port = silent_server.getsockname()[1]
    arguments = (*command.split(), "--bootstrap-controller", f"127.0.0.1:{port}")
    process = subprocess.Popen(
        [sys.executable, "-m", "kraftool", *arguments, "--timeout", "600"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        asked, _ = silent_server.accept()
        with asked:
            assert asked.recv(4), "it asks"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert "Traceback" not in err


def test_a_server_that_is_no_kafka_is_nobody(kraftool: Run, silent_server: socket.socket) -> None:
    port = silent_server.getsockname()[1]
    done = kraftool("doctor", "--bootstrap-controller", f"127.0.0.1:{port}", "--timeout", "0.2")
    assert done.code == 4
    assert "did not answer within 0.2 s" in done.text
