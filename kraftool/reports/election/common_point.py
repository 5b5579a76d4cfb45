"""Directories of running nodes, which are read moments apart: their logs at one common point.

Owns which difference between two logs the order of reading explains: both nodes run, both logs end
in the same epoch, and one log is a prefix of the other. The shorter log then counts as long as the
other.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.reports.election.case import ElectionCase, Log, NodeCase


def at_one_moment(case: ElectionCase) -> ElectionCase:
    """The case with logs of running nodes that are as long as the longest of the same epoch."""
    nodes = [_caught_up(case, node) for node in case.nodes]
    return case if nodes == list(case.nodes) else replace(case, nodes=tuple(nodes))


def _caught_up(case: ElectionCase, node: NodeCase) -> NodeCase:
    ahead = [other for other in case.nodes if _is_read_later(node, other)]
    if not ahead:
        return node
    best = max(ahead, key=lambda node_case: node_case.log.end)
    return replace(node, log=_extended(node.log, best.log), read_end=node.log.end)


def _is_read_later(node: NodeCase, other: NodeCase) -> bool:
    """True if both run, and the other log is the same one with more of its last epoch."""
    if not (node.is_running and other.is_running) or node.log.is_cut or other.log.is_cut:
        return False
    if not 0 < node.log.end < other.log.end or node.end.offset != node.log.end:
        return False
    return node.end.epoch == other.end.epoch and _is_prefix(node.log, other.log)


def _is_prefix(log: Log, longer: Log) -> bool:
    """True if every record that both have is of the same epoch."""
    first, last = max(log.start, longer.start), log.end - 1
    starts = (entry.start_offset for entry in (*log.epochs, *longer.epochs))
    borders = {first, last, *(start for start in starts if first <= start <= last)}
    return first <= last and all(
        log.epoch_at(border) == longer.epoch_at(border) for border in borders
    )


def _extended(log: Log, longer: Log) -> Log:
    end = log.end
    return replace(
        log,
        end=longer.end,
        voter_sets=(*log.voter_sets, *(one for one in longer.voter_sets if one[0] >= end)),
        kraft_versions=(
            *log.kraft_versions, *(one for one in longer.kraft_versions if one[0] >= end),
        ),
        is_torn=False,
        last_timestamp_ms=longer.last_timestamp_ms,
    )  # fmt: skip
