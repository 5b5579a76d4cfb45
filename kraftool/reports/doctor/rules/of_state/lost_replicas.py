"""Partitions whose in-sync replicas are on unregistered brokers only."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import partitions as of_image
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Examination
from kraftool.reports.doctor.partitions import Partition
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "LOST-REPLICAS",
    Severity.ERROR,
    "The only in-sync replicas of partitions are on brokers that are no longer registered."
    " Unless such a broker returns with its disk, their records are lost.",
    "if the disk still exists, start a broker with that node id on it. Otherwise delete the"
    " topic, or elect a leader uncleanly if another replica is left",
    references=("KIP-966",),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        brokers = state.image.cluster.brokers
        by_brokers: dict[tuple[int, ...], list[Partition]] = {}
        for partition in of_image.without_leader(state.image):
            holders = of_image.holders(partition)
            if not any(id in brokers for id in holders):
                by_brokers.setdefault(holders, []).append(partition)
        for ids, partitions in sorted(by_brokers.items()):
            listed = ", ".join(map(str, ids)) or "none that is known"
            others = [
                partition
                for partition in partitions
                if any(id in brokers for id in partition.state.replicas)
            ]
            server = tools.broker(examined)
            commands = list(of_image.describe(examined, partitions))
            if others:
                # Records are lost by it, so that nobody is to run it with the others.
                commands.append(
                    "# only if you give up the disk: "
                    + shell_text.line(
                        "kafka-leader-election", *server, "--election-type", "unclean",
                        "--topic", others[0].topic, "--partition", others[0].number,
                    )
                )  # fmt: skip
            yield Diagnosis(
                finding=KIND.at(
                    examined.path,
                    f"{of_image.counted(partitions)} whose last in-sync replica was on a"
                    f" broker that is no longer registered ({listed}):"
                    f" {of_image.named(partitions)}",
                    expected=f"broker {listed} registered",
                    found=", ".join(map(str, sorted(brokers))) or "no broker",
                ),
                directory=examined.path,
                evidence=of_image.evidence(
                    examined, partitions, "leader", "isr", "elr", "replicas"
                ),
                commands=tuple(commands),
            )
