"""Logs of several nodes that part: other bytes at the same offset.

Of another epoch, that is a leader that lost its last records and truncates them. Of the same epoch,
Kafka cannot tell them apart, and never repairs it: what most of the logs have there is what the
others are held against, and where it is one against one, neither is known to be right.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kraftool.reports.doctor.log_statistics import LogStatistics
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import signatures as kinds
from kraftool.reports.text import shell_text
from kraftool.reports.timeline import divergence_advice


class _Batch(NamedTuple):
    """The batch that a log has at an offset."""

    epoch: int
    crc: int


class _Parting(NamedTuple):
    """The place where two logs diverge, and what others have there."""

    offset: int
    other: ExaminedDirectory
    mine: _Batch
    theirs: _Batch
    agreeing: tuple[ExaminedDirectory, ...]
    """Those with the same batch as the other, which is among them."""
    is_majority: bool
    is_alone: bool
    """True if no other log has what this one has there."""


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        logs = [directory for directory in directories if directory.statistics.offsets]
        if len(logs) < 2:
            continue
        reference = max(logs, key=lambda examined: examined.statistics.rank)
        paths: set[str] = set()
        for examined in logs:
            parted = (
                None if examined is reference else _parts(examined.statistics, reference.statistics)
            )
            if parted is None:
                continue
            one, fork = _held_against_most(logs, examined, reference, *parted)
            if one.path not in paths:
                paths.add(one.path)
                yield _diagnosis(one, fork)


def _held_against_most(
    logs: Sequence[ExaminedDirectory],
    examined: ExaminedDirectory,
    reference: ExaminedDirectory,
    offset: int,
    mine: _Batch,
    theirs: _Batch,
) -> tuple[ExaminedDirectory, _Parting]:
    """The one that fewer agree with, and what there is to say about it."""
    others = [
        (log, _batch_at(log.statistics, offset))
        for log in logs
        if log is not examined and log is not reference
    ]
    with_mine = (examined, *(directory for directory, batch in others if batch == mine))
    with_theirs = (reference, *(directory for directory, batch in others if batch == theirs))
    if mine.epoch == theirs.epoch and len(with_mine) > len(with_theirs):
        return reference, _Parting(
            offset, examined, theirs, mine, with_mine, True, len(with_theirs) == 1
        )
    is_majority = len(with_theirs) > len(with_mine)
    return examined, _Parting(
        offset, reference, mine, theirs, with_theirs, is_majority, len(with_mine) == 1
    )


def _batch_at(log: LogStatistics, offset: int) -> _Batch | None:
    number = bisect_left(log.offsets, offset)
    if number == len(log.offsets) or log.offsets[number] != offset:
        return None
    return _Batch(log.epochs[number], log.crcs[number])


def _parts(one: LogStatistics, other: LogStatistics) -> tuple[int, _Batch, _Batch] | None:
    """The first offset at which both have a batch that differs, and the two."""
    here = there = 0
    while here < len(one.offsets) and there < len(other.offsets):
        mine, theirs = one.offsets[here], other.offsets[there]
        if mine < theirs and not (here and there):
            here += 1
        elif theirs < mine and not (here and there):
            there += 1
        elif (mine, one.epochs[here], one.crcs[here]) == (
            theirs, other.epochs[there], other.crcs[there],
        ):  # fmt: skip
            here, there = here + 1, there + 1
        elif mine == theirs:
            return (
                mine,
                _Batch(one.epochs[here], one.crcs[here]),
                _Batch(other.epochs[there], other.crcs[there]),
            )
        else:
            return None  # a log with a gap, which has a finding of its own
    return None


def _diagnosis(examined: ExaminedDirectory, fork: _Parting) -> Diagnosis:
    same_epoch = fork.mine.epoch == fork.theirs.epoch
    only_epoch = fork.mine.crc == fork.theirs.crc
    kind = kinds.SAME_PLACE if same_epoch else log_kinds.DIVERGED
    what = "the same records in another epoch" if only_epoch else "other records"
    names = " and ".join(directory.path for directory in fork.agreeing)
    text = f"{what} than {names} from offset {fork.offset} on"
    if same_epoch:
        text += f", in the same epoch {fork.mine.epoch}"
    advice = kind.advice
    severity = None
    if not (same_epoch or only_epoch) and fork.offset > 0:
        severity = divergence_advice.tail_severity(
            examined.statistics.epochs[-1],
            fork.theirs.epoch,
            alone=fork.is_alone,
            others=len(fork.agreeing),
            snapshot_beyond=any(
                snapshot.offset > fork.offset for snapshot in examined.summary.snapshots
            ),
        )
    if same_epoch:
        agreeing = [directory.path for directory in fork.agreeing]
        advice = divergence_advice.advice(kind, agreeing, is_majority=fork.is_majority)
    if only_epoch:
        advice = divergence_advice.EPOCH_ALONE
    elif fork.offset == 0:
        text += ": the logs have nothing in common"
        advice = divergence_advice.NOTHING_IN_COMMON
    return Diagnosis(
        finding=kind.at(
            examined.path,
            text,
            offset=fork.offset,
            expected=f"the batch of epoch {fork.theirs.epoch} that {fork.other.path} has",
            found=f"another one of epoch {fork.mine.epoch}",
            advice=advice,
            severity=severity,
        ),
        directory=examined.path,
        evidence=(
            _evidence(fork.other, fork.offset, fork.theirs, "a"),
            _evidence(examined, fork.offset, fork.mine, "another"),
        ),
        commands=(
            shell_text.keep_copy(examined.path),
            shell_text.on(examined.path, "dump-log", "--offsets", f"{fork.offset}.."),
            shell_text.on(fork.other.path, "dump-log", "--offsets", f"{fork.offset}.."),
        ),
    )


def _evidence(examined: ExaminedDirectory, offset: int, batch: _Batch, which: str) -> Evidence:
    text = f"{which} batch of epoch {batch.epoch}, crc {batch.crc:08x}"
    return Evidence(file=examined.path, offset=offset, found=text)
