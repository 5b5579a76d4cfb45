"""A broker's own min.insync.replicas with eligible leader replicas on."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.image.configs import BROKER
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "ELR-MIN-ISR",
    Severity.WARNING,
    "A broker sets its own min.insync.replicas while eligible leader replicas are enabled."
    " They use only the topic's and the cluster's setting, so the ISR is kept by another"
    " number than acks=all requires.",
    "set it for the cluster or the topic, and remove it from the broker",
    references=("KIP-966",),
)

_KEY = "min.insync.replicas"


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        if not state.image.features.is_elr_enabled:
            continue
        for resource, configs in state.image.configs.resources.items():
            if resource.type != BROKER or not resource.name or _KEY not in configs:
                continue
            yield Diagnosis(
                finding=KIND.at(
                    examined.path,
                    f"broker {resource.name} sets its own {_KEY}={configs[_KEY]}",
                    field=_KEY,
                    found=configs[_KEY],
                ),
                directory=examined.path,
                evidence=(
                    Evidence(
                        file=examined.path,
                        offset=state.image.provenance.last_offset,
                        found="eligible.leader.replicas.version"
                        f" {state.image.features.finalized['eligible.leader.replicas.version']}",
                    ),
                ),
                commands=(
                    shell_text.line(
                        "kafka-configs", *tools.broker(examined), "--alter",
                        "--entity-type", "brokers", "--entity-name", resource.name,
                        "--delete-config", _KEY,
                    ),
                ),
            )  # fmt: skip
