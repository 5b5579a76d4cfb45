"""A broker that registers as a new process again and again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.log_statistics import BrokerStart
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "RESTART-LOOP",
    Severity.WARNING,
    "A broker registers again and again, each time as a new process: it is in a restart loop.",
    "look at the end of the broker's log to see what stops it",
)

_HOUR = 3_600_000
_MANY = 5
"""Processes of one broker within an hour; a rolling restart makes one, a bad day two or three."""


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        examined = max(directories, key=lambda examined: examined.statistics.rank)
        by_broker: defaultdict[int, list[BrokerStart]] = defaultdict(list)
        for start in examined.statistics.starts:
            if not by_broker[start.broker_id] or (
                by_broker[start.broker_id][-1].incarnation_id != start.incarnation_id
            ):
                by_broker[start.broker_id].append(start)
        for broker, starts in sorted(by_broker.items()):
            busiest = _busiest_hour(starts)
            if len(busiest) < _MANY:
                continue
            seconds = (busiest[-1].timestamp - busiest[0].timestamp) / 1000
            yield Diagnosis(
                finding=KIND.at(
                    busiest[-1].file,
                    f"broker {broker} started {len(busiest)} times in {seconds:.0f} s",
                    position=busiest[-1].position,
                    offset=busiest[-1].offset,
                    found=f"{len(busiest)} incarnations",
                ),
                directory=examined.path,
                evidence=tuple(
                    Evidence(
                        file=broker_start.file,
                        position=broker_start.position,
                        offset=broker_start.offset,
                        found=f"incarnation {broker_start.incarnation_id}",
                    )
                    for broker_start in busiest[-5:]
                ),
                commands=(tools.on_all(examination, "timeline"),),
            )


def _busiest_hour(starts: list[BrokerStart]) -> list[BrokerStart]:
    best: list[BrokerStart] = []
    first = 0
    for last, start in enumerate(starts):
        while start.timestamp - starts[first].timestamp > _HOUR:
            first += 1
        if last - first + 1 >= len(best):
            best = starts[first : last + 1]
    return best
