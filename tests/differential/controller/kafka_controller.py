"""Kafka's own controller, as a process that takes steps."""

from __future__ import annotations

from pathlib import Path

from tests.differential.kafka_client import RELEASES, KafkaDriver
from tests.interop import kafka

JAVA = Path(__file__).with_name("java")


class KafkaController(KafkaDriver):
    """One JVM, which runs one QuorumController after the other."""

    def __init__(self, version: str, log: Path) -> None:
        sources = [*JAVA.glob("*.java"), *(JAVA / RELEASES[version]).glob("*.java")]
        compiled = kafka.compiled(version, *sorted(sources))
        super().__init__(version, "org.apache.kafka.controller.ControllerDriver", compiled, log)
