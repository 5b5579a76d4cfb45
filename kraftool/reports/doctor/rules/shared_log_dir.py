"""One log directory id with two brokers."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "SHARED-LOG-DIR",
    Severity.ERROR,
    "Two brokers have a log directory with the same id: one disk is a copy of the other.",
    "stop the broker on the copy. Empty its disk and format it under the broker's own node id",
    references=("KIP-858",),
)

_RESERVED = frozenset({"AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAQ"})
"""No directory, and a lost one; many brokers may have them."""


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        owner: dict[str, int] = {}
        for broker in sorted(state.image.cluster.brokers.values(), key=lambda broker: broker.id):
            for directory in broker.directories:
                first = owner.setdefault(directory, broker.id)
                if first == broker.id or directory in _RESERVED:
                    continue
                starts = [
                    start for start in examined.statistics.starts
                    if start.broker_id in (first, broker.id) and directory in start.directories
                ]  # fmt: skip
                yield Diagnosis(
                    finding=KIND.at(
                        examined.path,
                        f"brokers {first} and {broker.id} have the same log directory {directory}",
                        found=directory,
                    ),
                    directory=examined.path,
                    evidence=tuple(
                        Evidence(
                            file=start.file,
                            position=start.position,
                            offset=start.offset,
                            found=f"registration of broker {start.broker_id}",
                        )
                        for start in starts[-4:]
                    ),
                    commands=(
                        shell_text.on(examined.path, "dump-log", "--type", "RegisterBrokerRecord"),
                    ),
                )
