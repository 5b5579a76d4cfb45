"""Kafka's own classes, as a process that takes steps.

Owns the compilation of Java sources against a release's jars, once a release, and the lines of JSON
between the two processes. `KafkaClient` is the raft client's.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.interop import kafka

JAVA = Path(__file__).with_name("java")
RELEASES = {"4.3.0": "v43", "4.4.0": "v44"}
"""The releases that are compared, each with the folder of what differs in it."""


class DriverFailed(AssertionError):
    """The Java process ended."""


def available(version: str) -> str | None:
    """Return why the comparison cannot run here, with the remedy; None if it can."""
    problem = kafka.available(version)
    if problem is None and shutil.which("javac") is None:
        return "no javac on the PATH: install a JDK (apt-get install openjdk-17-jdk-headless)"
    return problem


def classes(version: str) -> Path:
    """Return the folder of the compiled driver."""
    sources = sorted([*JAVA.glob("*.java"), *(JAVA / RELEASES[version]).glob("*.java")])
    return kafka.compiled(version, *sources)


class KafkaDriver:
    """One JVM, which runs one class of Kafka's after the other."""

    def __init__(self, version: str, main: str, compiled: Path, log: Path) -> None:
        command = kafka.java_command(version, main, level="OFF")
        at = command.index("-cp") + 1
        command[at] = f"{command[at]}:{compiled}"
        self._process = kafka.Process(command, log, piped=True)

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        line = json.dumps({"command": command, **arguments})
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise DriverFailed(f"the driver ended:\n{self._process.output()[-3000:]}")
        document: dict[str, Any] = json.loads(answer)
        return document

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.close()


class KafkaClient(KafkaDriver):
    """The raft client."""

    def __init__(self, version: str, log: Path) -> None:
        super().__init__(version, "org.apache.kafka.raft.Driver", classes(version), log)
