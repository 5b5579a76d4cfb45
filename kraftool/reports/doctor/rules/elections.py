"""A leader that changes more often than restarts explain."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "ELECTIONS",
    Severity.WARNING,
    "The leader changes often: controllers restart, or answer too slowly (garbage collection,"
    " disk, network).",
    "check GC pauses, disk latency and the network between the controllers. Raise"
    " controller.quorum.fetch.timeout.ms only after that",
    references=(
        "KIP-595",
        "KIP-996",
    ),
)

_HOUR = 3_600_000
_ELECTIONS_IN_AN_HOUR = 8
"""A rolling restart of five controllers brings about five elections, and a few more around it."""
_SUSTAINED_HOURS = 4


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        best = max(
            directories, key=lambda examined: (_end(examined), len(examined.statistics.elections))
        )
        yield from _of(examination, best)


def _end(examined: ExaminedDirectory) -> tuple[int, int]:
    log = examined.summary.log
    return ((log.last_epoch or 0), log.end) if log is not None else (-1, -1)


def _of(examination: Examination, examined: ExaminedDirectory) -> Iterator[Diagnosis]:
    log = examined.summary.log
    elections = list(examined.statistics.elections)
    if log is None or log.last_timestamp is None or not elections:
        return
    end = log.last_timestamp
    last_hour = [election for election in elections if election.timestamp > end - _HOUR]
    begins = max(log.first_timestamp or end, end - 24 * _HOUR)
    hours = (end - begins) / _HOUR
    last_day = [election for election in elections if election.timestamp >= begins]
    if len(last_hour) >= _ELECTIONS_IN_AN_HOUR:
        logged_elections, words = last_hour, "in the last hour of the log"
    elif hours >= _SUSTAINED_HOURS and len(last_day) > hours + 1:
        logged_elections, words = last_day, f"in the last {hours:.0f} hours of the log"
    else:
        return
    leaders = {led.leader_id for led in logged_elections}
    ids = ", ".join(map(str, sorted(leaders)))
    whom = f"between the controllers {ids}" if len(leaders) > 1 else f"always of controller {ids}"
    newest = logged_elections[-1]
    shown = logged_elections[-5:]
    yield Diagnosis(
        finding=KIND.at(
            newest.file,
            f"{len(logged_elections)} elections {words}, {whom}",
            position=newest.position,
            offset=newest.offset,
            expected="at most 1 an hour",
            found=str(len(logged_elections)),
        ),
        directory=examined.path,
        evidence=tuple(
            Evidence(
                file=led.file, position=led.position, offset=led.offset,
                found=f"epoch {led.epoch}: controller {led.leader_id}, after"
                f" {max(led.timestamp - led.before_timestamp, 0)} ms without a record"
                if led.before_timestamp >= 0
                else f"epoch {led.epoch}: controller {led.leader_id}",
            )
            for led in shown
        ),
        commands=(
            tools.on_all(examination, "timeline"),
            tools.quorum(examination, examined, "describe", "--replication"),
        ),
    )  # fmt: skip
