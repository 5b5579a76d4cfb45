"""Brokers that are fenced, with what they were last seen as."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "BROKER-FENCED",
    Severity.INFO,
    "A broker is fenced: it stopped, or its heartbeats do not arrive. It leads no partition.",
    "start it. If it is gone for good, move its replicas. Then remove it with kafka-cluster.sh"
    " unregister",
    references=("KIP-631",),
)

_BY_ITS_QUORUM = "KT-LIVE-FENCED"
"""The same of a running quorum, which also knows the cause."""


def find(examination: Examination) -> Iterator[Diagnosis]:
    if any(finding.code == _BY_ITS_QUORUM for finding in examination.findings):
        return
    for examined, state in examination.states():
        brokers = state.image.cluster.brokers.values()
        fenced = sorted((broker for broker in brokers if broker.fenced), key=lambda node: node.id)
        if not fenced:
            continue
        ids = ", ".join(str(broker.id) for broker in fenced)
        whole = "every broker is" if len(fenced) == len(brokers) else f"brokers {ids} are"
        last = {broker_start.broker_id: broker_start for broker_start in examined.statistics.starts}
        evidence = []
        for broker in fenced:
            start = last.get(broker.id)
            stopped = ", was shutting down" if broker.in_controlled_shutdown else ""
            evidence.append(
                Evidence(
                    file=start.file if start is not None else examined.path,
                    position=start.position if start is not None else None,
                    offset=start.offset if start is not None else None,
                    found=f"broker {broker.id}: last registration with epoch {broker.epoch},"
                    f" incarnation {broker.incarnation_id}{stopped}",
                )
            )
        yield Diagnosis(
            finding=KIND.at(
                examined.path,
                f"{whole} fenced" if len(fenced) > 1 or len(brokers) == 1
                else f"broker {ids} is fenced",
                found=f"{len(fenced)} of {len(brokers)} brokers",
            ),
            directory=examined.path,
            evidence=tuple(evidence[:10]),
            commands=(
                shell_text.line(
                    "kafka-cluster", "list-endpoints", *tools.broker(examined),
                    "--include-fenced-brokers",
                ),
            ),
        )  # fmt: skip
