"""Small words of the verdict and of the advice: lists, times, records, what is empty or slow.

Owns nothing but wording.
"""

from __future__ import annotations

from collections.abc import Iterable

from kraftool.reports.election.case import NodeCase
from kraftool.reports.election.losses import CommitStatus, RecordLoss
from kraftool.reports.text.words import listed, many, offsets
from kraftool.sim.report import Report


def seconds(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "never"
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    return (
        f"{milliseconds / 1000:.1f} s"
        if milliseconds < 600_000
        else f"{milliseconds // 60_000} min"
    )


def lost(loss: RecordLoss) -> str:
    """Records that are cut off, in words."""
    words = {
        CommitStatus.COMMITTED: "which were committed",
        CommitStatus.MAJORITY: "which are on a majority, so treat them as committed",
        CommitStatus.POSSIBLE: "which may have been committed",
        CommitStatus.MINORITY: "which only a minority of the voters has: uncommitted, unless a"
        " directory is an old copy or lost its end",
        CommitStatus.NOT: "which no majority had",
    }[loss.commit_status]
    what = offsets(loss.first_offset, loss.end)
    return (
        f"{what} ({many(loss.records, 'record')}) of {listed(loss.holders)}"
        f" {'is' if loss.records == 1 else 'are'} truncated, {words}"
    )


def is_empty(node: NodeCase) -> bool:
    return node.log.view().end_offset == 0


def all_empty(report: Report) -> bool:
    return all(is_empty(node) for node in report.case.nodes)


def slow(report: Report) -> Iterable[str]:
    """Yield a sentence if answers come too late to count."""
    conditions = report.conditions
    up = [report.case.by_id[node_id] for node_id in report.up]
    patience = min((node.settings.timing.request_timeout_ms for node in up), default=0)
    if up and 2 * conditions.longest_ms > patience:
        yield (
            f"A request and its answer take {seconds(2 * conditions.shortest_ms)} to"
            f" {seconds(2 * conditions.longest_ms)} together. After"
            f" controller.quorum.request.timeout.ms ({seconds(patience)}) an answer no longer"
            " counts."
        )
