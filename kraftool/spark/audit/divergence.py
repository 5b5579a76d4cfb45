"""The ranges in which the logs of a cluster's nodes are not the same bytes, and who has what.

Owns the comparison of batches by offset, epoch and CRC, in one pass over batches in offset order,
whatever their number. A log that ends earlier or begins later is no divergence, and damage is none:
it says nothing about what the batch was. Only batches whose CRC holds are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import NamedTuple

from kraftool.reports.findings.finding import Finding, FindingKind, Severity
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import signatures
from kraftool.reports.fleet.model import DirectorySummary, DivergedSide, Divergence
from kraftool.reports.timeline import divergence_advice

MOST_RANGES = 200
"""So many ranges of one cluster are told; a cluster with more is no cluster."""


_Identity = tuple[int, int, int, int]


class BatchAt(NamedTuple):
    """One batch of one directory."""

    base_offset: int
    directory: str
    last_offset: int
    epoch: int
    crc: int
    file: str
    position: int

    @property
    def identity(self) -> _Identity:
        return self.base_offset, self.last_offset, self.epoch, self.crc


@dataclass(slots=True)
class _Part:
    """The part of one directory in an open range."""

    first: BatchAt
    side: int
    """Together are those that were alike when the later one of them came into the range."""
    last_offset: int
    batches: int = 1


@dataclass(slots=True)
class _Range:
    """A range that has not been closed yet."""

    first_offset: int
    parts: dict[str, _Part] = field(default_factory=dict)
    same_epoch: bool = False
    only_epoch: bool = True

    def extend(self, batches: list[BatchAt]) -> None:
        """Take what all directories that reach here have at one offset."""
        alike = {
            batch.identity: self.parts[batch.directory].side
            for batch in batches
            if batch.directory in self.parts
        }
        epochs: dict[int, set[_Identity]] = {}
        for batch in batches:
            epochs.setdefault(batch.epoch, set()).add(batch.identity)
            part = self.parts.get(batch.directory)
            if part is None:
                side = alike.setdefault(batch.identity, len(self.parts))
                self.parts[batch.directory] = _Part(
                    first=batch, side=side, last_offset=batch.last_offset
                )
            elif batch.base_offset > part.last_offset:
                part.last_offset, part.batches = batch.last_offset, part.batches + 1
        self.same_epoch |= any(len(epoch) > 1 for epoch in epochs.values())
        # Without its epoch, which no CRC covers; the CRC covers all else.
        self.only_epoch &= len({batch._replace(epoch=0).identity for batch in batches}) == 1

    def sides(self) -> list[list[str]]:
        """The directories, side by side."""
        sides: dict[int, list[str]] = {}
        for name, part in sorted(self.parts.items()):
            sides.setdefault(part.side, []).append(name)
        return list(sides.values())


def divergences(cluster: str, batches: Iterable[BatchAt]) -> Iterator[Divergence]:
    """The ranges in which logs differ, of batches in the order of their base offsets."""
    last: dict[str, BatchAt] = {}
    open_range: _Range | None = None
    range_count = 0
    for base, group in groupby(batches, key=lambda batch: batch.base_offset):
        here = {batch.directory: batch for batch in group if _goes_on(batch, last)}
        if not here:
            continue
        over = {
            name: batch
            for name, batch in last.items()
            if batch.last_offset >= base and name not in here
        }
        last.update(here)
        if over or len({batch.identity for batch in here.values()}) > 1:
            if open_range is None:
                open_range = _Range(base)
            open_range.extend([*over.values(), *here.values()])
        elif open_range is not None and len(here) > 1:  # of one log alone nothing can be said
            sides = [set(side) & here.keys() for side in open_range.sides()]
            is_open = sum(map(bool, sides)) < 2
            yield _closed(cluster, open_range, is_open=is_open)
            range_count, open_range = range_count + 1, None
            if range_count >= MOST_RANGES:
                return
    if open_range is not None:
        yield _closed(cluster, open_range, is_open=True)


def _goes_on(batch: BatchAt, last: dict[str, BatchAt]) -> bool:
    """True if a batch follows what its log had before; one that goes back cannot be placed."""
    before = last.get(batch.directory)
    return before is None or batch.base_offset > before.last_offset


def _closed(cluster: str, open_range: _Range, *, is_open: bool) -> Divergence:
    sides = []
    ends = []
    for names in open_range.sides():
        part = open_range.parts[names[0]]
        ends.append(max(open_range.parts[name].last_offset for name in names))
        sides.append(
            DivergedSide(
                paths=tuple(names),
                epoch=part.first.epoch,
                base_offset=part.first.base_offset,
                last_offset=part.first.last_offset,
                crc=part.first.crc,
                batches=max(open_range.parts[name].batches for name in names),
                file=part.first.file,
                position=part.first.position,
            )
        )
    return Divergence(
        cluster=cluster,
        first_offset=open_range.first_offset,
        # Beyond the second highest end there is one side alone.
        last_offset=sorted(ends)[-2],
        sides=tuple(sorted(sides, key=lambda side: (-len(side.paths), side.paths))),
        same_epoch=open_range.same_epoch,
        only_epoch=open_range.only_epoch,
        is_open=is_open,
    )


def findings_of(
    divergences: Iterable[Divergence], directories: Mapping[str, DirectorySummary]
) -> Iterator[tuple[Finding, Sequence[Divergence]]]:
    """Divergences as findings, with the codes that doctor has for them: one for all places at which
    the same directories differ in the same way, with those places."""
    alike: dict[tuple[object, ...], list[Divergence]] = {}
    for divergence in divergences:
        sides = tuple(sorted(side.paths for side in divergence.sides))
        alike.setdefault((sides, divergence.same_epoch, divergence.only_epoch), []).append(
            divergence
        )
    for places in alike.values():
        finding = _finding(places[0], places[1:])
        if finding.code == log_kinds.DIVERGED.code and len(places) == 1:
            finding = replace(finding, severity=_severity(places[0], directories))
        yield finding, places


def _severity(divergence: Divergence, directories: Mapping[str, DirectorySummary]) -> Severity:
    """Return how bad it is that logs have records of different epochs."""
    is_tail = divergence.is_open and divergence.first_offset > 0 and not divergence.only_epoch
    if not is_tail or len(divergence.sides) != 2:
        return log_kinds.DIVERGED.severity
    tail, rest = sorted(divergence.sides, key=lambda side: side.epoch or 0)
    log = directories.get(tail.paths[0])
    if log is None or log.epoch is None or rest.epoch is None:
        return log_kinds.DIVERGED.severity
    return divergence_advice.tail_severity(
        log.epoch,
        rest.epoch,
        alone=len(tail.paths) == 1,
        others=len(rest.paths),
        snapshot_beyond=(log.newest_snapshot_offset or 0) > divergence.first_offset,
    )


def _finding(divergence: Divergence, more: Sequence[Divergence]) -> Finding:
    first, *others = divergence.sides
    side = others[0] if others else first
    kind = signatures.SAME_PLACE if divergence.same_epoch else log_kinds.DIVERGED
    is_majority = len(first.paths) > len(side.paths)
    return kind.at(
        side.file,
        _text(divergence, more, is_majority=is_majority),
        position=side.position,
        offset=side.base_offset,
        expected=_batch(first),
        found="; ".join(_batch(other) for other in others),
        advice=_advice(kind, divergence, is_majority=is_majority),
    )


def _text(divergence: Divergence, more: Sequence[Divergence], *, is_majority: bool) -> str:
    first, *others = divergence.sides
    span = f"offsets {divergence.first_offset} to {divergence.last_offset}"
    if divergence.first_offset == divergence.last_offset:
        span = f"offset {divergence.first_offset}"
    names = " and ".join(first.paths)
    what = "the same records in another epoch" if divergence.only_epoch else "other records"
    text = f"{what} than {names} at {span}"
    if not is_majority:
        rest = "".join(f" and {' with '.join(other.paths)}" for other in others)
        text = f"{what} in each of {' with '.join(first.paths)}{rest} at {span}"
    if divergence.same_epoch:
        epochs = {side.epoch for side in divergence.sides}
        text += (
            f", in the same epoch {first.epoch}"
            if len(epochs) == 1
            else (", some of them in the same epoch")
        )
    if _has_no_beginning_in_common(divergence):
        text += "; the logs have nothing in common"
    elif divergence.is_open:
        text += "; the logs do not agree again"
    else:
        text += "; after it they are the same again"
    if more:
        places = "place" if len(more) == 1 else "places"
        text += f"; so it is at {len(more)} more {places}, up to offset {more[-1].last_offset}"
    return text


def _has_no_beginning_in_common(divergence: Divergence) -> bool:
    return divergence.is_open and divergence.first_offset == 0


def _advice(kind: FindingKind, divergence: Divergence, *, is_majority: bool) -> str:
    if divergence.only_epoch:
        return divergence_advice.EPOCH_ALONE
    if _has_no_beginning_in_common(divergence):
        return divergence_advice.NOTHING_IN_COMMON
    if not divergence.same_epoch:
        return kind.advice
    return divergence_advice.advice(kind, divergence.sides[0].paths, is_majority=is_majority)


def _batch(side: DivergedSide) -> str:
    assert side.crc is not None, "a side has a batch"
    return (
        f"batch {side.base_offset}-{side.last_offset} of epoch {side.epoch}, crc {side.crc:08x}"
        f" ({', '.join(side.paths)})"
    )
