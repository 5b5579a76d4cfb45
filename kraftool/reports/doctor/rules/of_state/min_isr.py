"""min.insync.replicas of a topic, or of the cluster, above the number of replicas."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.image.configs import BROKER, TOPIC, ConfigResource
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "MIN-ISR",
    Severity.WARNING,
    "min.insync.replicas of a topic is larger than its number of replicas. Every produce"
    " request with acks=all fails.",
    "lower the setting, or add replicas with kafka-reassign-partitions.sh",
)

_KEY = "min.insync.replicas"


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        configs = state.image.configs.resources
        default = _number(configs.get(ConfigResource(BROKER, ""), {}).get(_KEY))
        for topic in state.image.topics.by_id.values():
            own = _number(configs.get(ConfigResource(TOPIC, topic.name), {}).get(_KEY))
            wanted = own if own is not None else default
            fewest = min(
                (len(partition.replicas) for partition in topic.partitions.values()), default=0
            )
            if wanted is None or not fewest or wanted <= fewest:
                continue
            whose = "its" if own is not None else "the cluster's"
            entity = ("topics", topic.name) if own is not None else ("brokers", "")
            where = ("--entity-name", entity[1]) if entity[1] else ("--entity-default",)
            yield Diagnosis(
                finding=KIND.at(
                    examined.path,
                    f"topic {topic.name} has {fewest} replicas, but {whose} {_KEY} is {wanted}",
                    field=_KEY,
                    expected=f"at most {fewest}",
                    found=str(wanted),
                ),
                directory=examined.path,
                evidence=(
                    Evidence(
                        file=examined.path,
                        offset=state.image.provenance.last_offset,
                        found=f"{entity[0]} {entity[1] or '(default)'}: {_KEY}={wanted}",
                    ),
                ),
                commands=(
                    shell_text.line(
                        "kafka-configs", *tools.broker(examined), "--alter",
                        "--entity-type", entity[0], *where, "--add-config", f"{_KEY}={fewest}",
                    ),
                ),
            )  # fmt: skip


def _number(value: str | None) -> int | None:
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
