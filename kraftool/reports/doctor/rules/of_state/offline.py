"""Partitions without a leader though the cluster runs, and those that lost their last replica."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kraftool.image.cluster import BrokerRegistration
from kraftool.reports.doctor import partitions as of_image
from kraftool.reports.doctor.model import Diagnosis, Examination
from kraftool.reports.doctor.partitions import Partition
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "OFFLINE",
    Severity.ERROR,
    "Partitions have no leader. Clients cannot read or write them until a broker in their ISR"
    " or ELR returns.",
    "start the brokers named. An unclean election loses records that only these brokers have",
    references=("KIP-966",),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        brokers = state.image.cluster.brokers
        by_brokers: dict[tuple[int, ...], list[Partition]] = {}
        for partition in of_image.without_leader(state.image):
            if not _is_lost(partition, brokers):
                by_brokers.setdefault(of_image.holders(partition), []).append(partition)
        is_live = examined.source.is_live or examined.is_live
        running = any(not broker.fenced for broker in brokers.values())
        for ids, partitions in sorted(by_brokers.items()):
            wanted = [brokers[id] for id in ids if id in brokers]
            stopped = bool(wanted) and all(broker.in_controlled_shutdown for broker in wanted)
            # In a cluster that was stopped, brokers are down. While a controller runs, clients miss
            # them, unless an operator shut them down.
            quiet = stopped or not (running or is_live)
            listed = ", ".join(map(str, ids))
            who = f"broker {listed}" if len(ids) == 1 else f"one of the brokers {listed}"
            words = (
                "all brokers are stopped" if not (running or is_live)
                else "all brokers were shut down" if stopped and not running
                else "it was shut down" if stopped
                else "it is fenced" if running
                else "no broker is active"
            )  # fmt: skip
            yield Diagnosis(
                finding=KIND.at(
                    examined.path,
                    f"{of_image.counted(partitions)} without a leader until {who} is back"
                    f" ({words}): {of_image.named(partitions)}",
                    severity=Severity.INFO if quiet else None,
                    advice="" if quiet else None,
                ),
                directory=examined.path,
                evidence=of_image.evidence(
                    examined, partitions, "leader", "isr", "elr", "replicas"
                ),
                commands=() if quiet else of_image.describe(examined, partitions),
            )


def _is_lost(partition: Partition, brokers: Mapping[int, BrokerRegistration]) -> bool:
    """True if no broker that has all records is registered; rules/lost_replicas.py tells it."""
    return not any(id in brokers for id in of_image.holders(partition))
