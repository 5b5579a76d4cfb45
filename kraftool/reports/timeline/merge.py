"""The logs of several nodes, merged by offset into one course of events.

Owns finding out where logs differ. Each log is read once, side by side with the others; the same
batch on several nodes is decoded once. A log that merely ends earlier, or begins later, is no
disagreement; two different batches at one offset are. Damage is none either: it says nothing
about what the batch was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from kraftool.reports.findings.finding import Finding
from kraftool.reports.timeline.batches import LogBatch
from kraftool.reports.timeline.events import Category, Event, Rank
from kraftool.reports.timeline.line import LogBranch
from kraftool.reports.timeline.segments import Found
from kraftool.reports.timeline.sources import NodeLog, Progress


@dataclass(slots=True)
class _Cursor:
    """The position up to which one node has been read."""

    index: int
    items: Iterator[LogBatch | Found]
    head: LogBatch | None = None
    end: int = -1
    """Behind the last batch that was taken."""


@dataclass(frozen=True, slots=True)
class Parting:
    """An offset at which lines part: for each side its nodes, and its batch there."""

    offset: int
    sides: tuple[tuple[tuple[int, ...], LogBatch], ...]


@dataclass(slots=True)
class Merged:
    """The result of a merge."""

    lines: list[LogBranch] = field(default_factory=list)
    partings: list[Parting] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


class Merge:
    """Goes over all logs once and gives the events as they come."""

    def __init__(
        self,
        nodes: Sequence[NodeLog],
        new_line: Callable[[LogBatch], LogBranch],
        progress: Progress,
    ) -> None:
        self._nodes = nodes
        self._new_line = new_line
        self._cursors = [_Cursor(index, node.items(progress)) for index, node in enumerate(nodes)]
        self._line_of: list[LogBranch | None] = [None] * len(nodes)
        self.merged = Merged()

    def events(self) -> Iterator[Event]:
        for cursor in self._cursors:
            yield from self._advance(cursor)
        while True:
            live = [cursor for cursor in self._cursors if cursor.head is not None]
            if not live:
                break
            yield from self._step(live)
        for line in self.merged.lines:
            line.present = self._longest(line)
            yield from line.end()

    def _longest(self, line: LogBranch) -> tuple[int, ...]:
        """The nodes of a line whose logs reach its end."""
        ends = {index: self._cursors[index].end for index in line.nodes}
        return tuple(sorted(index for index, end in ends.items() if end == max(ends.values())))

    def _advance(self, cursor: _Cursor) -> Iterator[Event]:
        """Take the node's next batch; damage on the way is told at once."""
        node = self._nodes[cursor.index]
        head = cursor.head
        if head is not None:
            cursor.end = head.last + 1
            node.end_offset, node.last_epoch = cursor.end, head.epoch
            node.last_timestamp = head.max_timestamp
            cursor.head = None
        while (item := next(cursor.items, None)) is not None:
            if isinstance(item, Found):
                self.merged.findings.append(item.finding)
                yield damage(item.offset, item.finding, (cursor.index,))
            elif item.last >= item.base >= cursor.end:
                if node.start_offset is None:
                    node.start_offset = item.base
                cursor.head = item
                return
            elif item.stretch is not None:
                cursor.items = chain(item.batches(), cursor.items)
            # What goes back is told as a gap in the offsets, and cannot be put in order.

    def _step(self, live: list[_Cursor]) -> Iterator[Event]:
        """Tell the batches at the lowest offset and move on."""
        together = self._together(live)
        if together is not None:
            line, batch = together
            yield from self._tell(batch, [(line, tuple(cursor.index for cursor in live))])
            for cursor in live:
                yield from self._advance(cursor)
            return
        heads = [(cursor, cursor.head) for cursor in live if cursor.head is not None]
        base = min(head.base for _, head in heads)
        here = [(cursor, head) for cursor, head in heads if head.base == base]
        groups: dict[tuple[int, int, int], list[tuple[_Cursor, LogBatch]]] = {}
        for cursor, head in here:
            groups.setdefault(head.identity, []).append((cursor, head))
        if any(head.stretch is not None for _, head in here):
            later = min((head.base for _, head in heads if head.base > base), default=None)
            if len(groups) > 1 or not self._has_place(here, later):
                self._take_apart(here)
                return
        self._join(base, list(groups.values()))
        for group in groups.values():
            yield from self._tell(group[0][1], self._lines(group))
        for cursor, _ in here:
            yield from self._advance(cursor)

    def _together(self, live: list[_Cursor]) -> tuple[LogBranch, LogBatch] | None:
        """The batch that all logs have next and their line, which is how it is nearly always."""
        first, line = live[0].head, self._line_of[live[0].index]
        if first is None or line is None:
            return None
        for cursor in live[1:]:
            head = cursor.head
            if (
                head is None
                or head.base != first.base
                or head.crc != first.crc
                or head.epoch != first.epoch
                or head.last != first.last
                or self._line_of[cursor.index] is not line
            ):
                return None
        if any(cursor.end > first.base for cursor in self._cursors):
            return None
        return line, first

    def _has_place(self, here: list[tuple[_Cursor, LogBatch]], later: int | None) -> bool:
        """True if no other node has anything at the offsets of a stretch."""
        nodes, head = {cursor.index for cursor, _ in here}, here[0][1]
        return (later is None or head.last < later) and not any(
            cursor.end > head.base for cursor in self._cursors if cursor.index not in nodes
        )

    def _take_apart(self, here: list[tuple[_Cursor, LogBatch]]) -> None:
        """Have the batches of stretches one by one."""
        for cursor, head in here:
            if head.stretch is not None:
                batches = head.batches()
                cursor.head = next(batches)
                cursor.items = chain(batches, cursor.items)

    def _tell(
        self, batch: LogBatch, lines: list[tuple[LogBranch, tuple[int, ...]]]
    ) -> Iterator[Event]:
        """The events of one batch, on each line that has it."""
        content = batch.content() if not batch.is_idle else None
        if content is not None:
            for finding in content.findings:
                self.merged.findings.append(finding)
                at = finding.offset if finding.offset is not None else batch.base
                yield damage(at, finding, tuple(index for _, nodes in lines for index in nodes))
        for line, nodes in lines:
            yield from line.tell(batch, content, nodes)

    def _lines(
        self, group: list[tuple[_Cursor, LogBatch]]
    ) -> list[tuple[LogBranch, tuple[int, ...]]]:
        first = self._line_of[group[0][0].index]
        if first is not None and all(self._line_of[cursor.index] is first for cursor, _ in group):
            return [(first, tuple(cursor.index for cursor, _ in group))]
        lines: dict[int, tuple[LogBranch, list[int]]] = {}
        for cursor, _ in group:
            line = self._line_of[cursor.index]
            assert line is not None, "every node was put on a line"
            lines.setdefault(id(line), (line, []))[1].append(cursor.index)
        return [(line, tuple(nodes)) for line, nodes in lines.values()]

    def _join(self, base: int, groups: list[list[tuple[_Cursor, LogBatch]]]) -> None:
        """Put every node on a line: new ones on that of their like, those that part on another."""
        overlapping = [
            cursor for cursor in self._cursors
            if cursor.end > base and (cursor.head is None or cursor.head.base != base)
        ]  # fmt: skip
        if len(groups) == 1 and not overlapping:
            group = groups[0]
            known = next(
                (line for cursor, _ in group if (line := self._line_of[cursor.index]) is not None),
                None,
            )
            for cursor, batch in group:
                if self._line_of[cursor.index] is None:
                    known = known or self._begin(batch)
                    self._put(cursor.index, known)
            return
        apart = False
        for group in groups:
            lines = {
                id(line): line
                for cursor, _ in group
                if (line := self._line_of[cursor.index]) is not None
            }
            like = next(iter(lines.values()), None)
            apart = apart or (like is None and (len(groups) > 1 or bool(overlapping)))
            for cursor, batch in group:
                if self._line_of[cursor.index] is None:
                    like = like or self._begin(batch)
                    self._put(cursor.index, like)
        self._part(base, groups, overlapping, apart=apart)

    def _part(
        self,
        base: int,
        groups: list[list[tuple[_Cursor, LogBatch]]],
        overlapping: list[_Cursor],
        *,
        apart: bool,
    ) -> None:
        """Fork the lines whose nodes have different batches here."""
        forked = False
        for line in list(self.merged.lines):
            mine = [
                [cursor.index for cursor, _ in group if self._line_of[cursor.index] is line]
                for group in groups
            ]
            sides = [side for side in mine if side]
            stays = [cursor.index for cursor in overlapping if self._line_of[cursor.index] is line]
            leaving = sides if stays and sides else sides[1:]
            for side in leaving:
                self._move(set(side), line)
                forked = True
        if forked or apart:
            self.merged.partings.append(
                Parting(
                    base,
                    tuple(
                        (tuple(sorted(cursor.index for cursor, _ in group)), group[0][1])
                        for group in groups
                    ),
                )
            )
            for line in self.merged.lines:
                line.disputed = True

    def _move(self, nodes: set[int], line: LogBranch) -> None:
        other = line.fork(nodes)
        self.merged.lines.append(other)
        for index in nodes:
            self._line_of[index] = other

    def _begin(self, batch: LogBatch) -> LogBranch:
        line = self._new_line(batch)
        line.disputed = any(
            log_branch.known.last_offset >= batch.base for log_branch in self.merged.lines
        )
        self.merged.lines.append(line)
        return line

    def _put(self, index: int, line: LogBranch) -> None:
        line.nodes.add(index)
        self._line_of[index] = line


def damage(offset: int, finding: Finding, nodes: tuple[int, ...]) -> Event:
    """Damage as an event at its place."""
    return Event(
        category=Category.DAMAGE,
        type="damage",
        offset=offset,
        rank=Rank.DAMAGE,
        what=f"damage: {finding.sentence()}",
        details=(finding.code, finding.where()),
        severity=finding.severity,
        data={"code": finding.code, "file": finding.file, "position": finding.position},
        nodes=nodes,
    )


def united(events: Iterator[Event]) -> list[Event]:
    """Events in offset order; what several lines tell in the same words is one event."""
    events_by_key: dict[tuple[object, ...], Event] = {}
    for event in events:
        key = (
            event.offset, event.rank, event.type, event.epoch, event.timestamp, event.text,
            event.visibility,
        )  # fmt: skip
        before = events_by_key.get(key)
        if before is not None:
            nodes = tuple(sorted({*before.nodes, *event.nodes}))
            event = replace(before, nodes=nodes)
        events_by_key[key] = event
    return sorted(events_by_key.values(), key=lambda event: (event.offset, event.rank))
