"""JVMs that the clusters of a process share: a start takes as much CPU as that of a node.

Owns the admin client, kafka-storage, the command line tools and the trees of kafka-metadata-shell,
each with a line of JSON each way, and their end with the process.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import select
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.interop import kafka

ADMIN_SOURCE = Path(__file__).with_name("java") / "Admin.java"
STORAGE_SOURCE = ADMIN_SOURCE.with_name("StorageEach.java")
TOOLS_SOURCE = ADMIN_SOURCE.with_name("ToolsEach.java")
TREES_SOURCE = ADMIN_SOURCE.with_name("ShellTrees.java")


class AdminRefused(kafka.KafkaFailed):
    """Kafka answered an admin operation with an error."""


_admin_sessions: dict[str, AdminSession] = {}


def admin_client(version: str) -> str:
    """A 4.x client talks to every server from 2.1 on; only 4.4's can unregister a controller."""
    return version if kafka.at_least(version, "4.4") else kafka.TOOLS_VERSION


def admin_session(version: str) -> AdminSession:
    """The admin JVM of this process for servers of a version; a new one where that has ended.

    Clusters share it, since its start takes as much CPU as a node's.
    """
    client = admin_client(version)
    session = _admin_sessions.get(client)
    if session is None or not session.process.alive():
        session = AdminSession(client, _stderr_of("kafka-admin-"))
        atexit.register(session.process.close)
        _admin_sessions[client] = session
    return session


def _stderr_of(prefix: str) -> Path:
    """A file for what a JVM writes that stays as long as this process."""
    folder = tempfile.mkdtemp(prefix=prefix)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder) / "stderr"


class AdminSession:
    """An admin JVM: one operation at a time, one JSON line each way."""

    def __init__(self, client: str, log: Path) -> None:
        command = kafka.java_command(client, ADMIN_SOURCE, heap="-Xmx200m", level="ERROR")
        self.process = kafka.Process(command, log, piped=True)

    def call(self, operation: Mapping[str, Any], *, timeout: float = kafka.PATIENCE_S) -> Any:
        self.process.stdin.write(json.dumps(operation).encode() + b"\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], timeout)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self.process.require_alive()
            self.process.close()  # its answer would be taken for that to the next operation
            raise kafka.KafkaFailed(f"no answer within {timeout:g} s to {operation}")
        answer = json.loads(line)
        if not answer["ok"]:
            raise AdminRefused(f"{operation['op']}: {answer['error']}")
        return answer["value"]


@functools.cache
def storage_session(version: str) -> StorageSession:
    """The one of this process for a version."""
    return StorageSession(version)


class StorageSession:
    """A JVM that runs kafka-storage again and again; it goes with this process."""

    def __init__(self, version: str) -> None:
        command = kafka.java_command(version, STORAGE_SOURCE, heap="-Xmx200m", level="ERROR")
        self.process = kafka.Process(command, _stderr_of("kafka-storage-"), piped=True)
        atexit.register(self.process.close)

    def call(self, arguments: Sequence[str]) -> str:
        """Run it once and return the output. Raise KafkaFailed with the output if it fails."""
        self.process.stdin.write(json.dumps(list(arguments)).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process.require_alive()
            raise kafka.KafkaFailed(f"no answer to kafka-storage {' '.join(arguments)}")
        answer = json.loads(line)
        if answer["code"]:
            shown = answer["out"] + (answer["error"] or "")
            raise kafka.KafkaFailed(f"kafka-storage {' '.join(arguments)} failed:\n{shown}")
        output: str = answer["out"]
        return output


@functools.cache
def tool_session(version: str) -> ToolSession:
    """The one of this process for a version."""
    return ToolSession(version)


class ToolOutput(NamedTuple):
    """How a tool ended, and what it printed."""

    code: int
    out: str
    err: str


class ToolSession:
    """A JVM that runs Kafka's command line tools again and again; it goes with this process."""

    def __init__(self, version: str) -> None:
        command = kafka.java_command(version, TOOLS_SOURCE, heap="-Xmx200m", level="ERROR")
        self.process = kafka.Process(command, _stderr_of("kafka-tools-"), piped=True)
        atexit.register(self.process.close)

    def run(self, tool: str, *arguments: str) -> ToolOutput:
        """Run a tool, which is named by its class."""
        self.process.stdin.write(json.dumps([tool, *arguments]).encode() + b"\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], kafka.PATIENCE_S)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self.process.require_alive()
            raise kafka.KafkaFailed(f"no answer of {tool} {' '.join(arguments)}")
        return ToolOutput(**json.loads(line))


@functools.cache
def tree_session() -> TreeSession:
    """The session of this process."""
    return TreeSession(kafka.TOOLS_VERSION)


class TreeSession:
    """A JVM that shows files as kafka-metadata-shell does; it goes with this process."""

    def __init__(self, version: str) -> None:
        command = kafka.java_command(version, TREES_SOURCE)
        self.process = kafka.Process(command, _stderr_of("kafka-trees-"), piped=True)
        atexit.register(self.process.close)

    def call(self, *words: str) -> list[str]:
        """The fields that it answers with."""
        self.process.stdin.write(json.dumps(words).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            tree_session.cache_clear()
            self.process.require_alive()
            raise kafka.KafkaFailed(f"no answer to {' '.join(words)}")
        fields: list[str] = json.loads(line)
        return fields


def forget_all(version: str) -> None:
    """Let the admin client close its connections, if it runs."""
    session = _admin_sessions.get(admin_client(version))
    if session is not None and session.process.alive():
        with contextlib.suppress(kafka.KafkaFailed):
            session.call({"op": "forget-all"}, timeout=20)
