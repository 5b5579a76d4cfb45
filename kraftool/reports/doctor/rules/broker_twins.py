"""Two processes with one node id that take turns at registering."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.addresses import shown_address
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.log_statistics import BrokerStart
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "BROKER-TWINS",
    Severity.WARNING,
    "Registrations of one broker id alternate between different machines. Two processes run"
    " with the same node id, and each registers when the other's session expires.",
    "stop one of them, and give it its own node id",
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        examined = max(directories, key=lambda examined: examined.statistics.rank)
        last: dict[int, list[BrokerStart]] = {}
        twin_ids: set[int] = set()
        for start in examined.statistics.starts:
            changes = last.setdefault(start.broker_id, [])
            if not changes or _machine(changes[-1]) != _machine(start):
                changes.append(start)
            if len(changes) >= 4 and start.broker_id not in twin_ids and _returns(changes[-4:]):
                twin_ids.add(start.broker_id)
        for broker in sorted(twin_ids):
            shown = next(
                last[broker][number : number + 4]
                for number in range(len(last[broker]) - 3)
                if _returns(last[broker][number : number + 4])
            )
            yield Diagnosis(
                finding=KIND.at(
                    shown[-1].file,
                    f"broker {broker} registers alternately from {_words(shown[-2])} and from"
                        f" {_words(shown[-1])}",
                    position=shown[-1].position,
                    offset=shown[-1].offset,
                ),
                directory=examined.path,
                evidence=tuple(
                    Evidence(
                        file=twin.file, position=twin.position, offset=twin.offset,
                        found=f"{_words(twin)}, incarnation {twin.incarnation_id}",
                    )
                    for twin in shown
                ),
                commands=(tools.on_all(examination, "timeline"),),
            )  # fmt: skip


def _machine(start: BrokerStart) -> object:
    return start.listeners, tuple(sorted(start.directories))


def _returns(four: list[BrokerStart]) -> bool:
    """One, another, the one, the other: no move from machine to machine looks so."""
    one, other, again, once_more = map(_machine, four)
    return one == again and other == once_more


def _words(start: BrokerStart) -> str:
    place = start.listeners[0] if start.listeners else ("", "nowhere", 0)
    directories = f" with log dirs {', '.join(start.directories)}" if start.directories else ""
    return f"{shown_address(place[1], place[2])}{directories}"
