"""The voters by every source: directories, each live node, and the leader's log.

Owns when that is read again. Directories and a leader's log are read whole, as the history of
voters may be anywhere in them, so not more often than their size allows. Comparing is
`reports/voters/`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kraftool.client.capture import Capturing
from kraftool.client.live import LiveQuorum, read_live
from kraftool.client.live_sources import live_sources
from kraftool.client.model import QuorumView
from kraftool.client.target import Target
from kraftool.reports.directory.voter_sources import read_sources
from kraftool.reports.findings.kinds import live as live_kinds
from kraftool.reports.voters.diff import VoterDiff, diff_voters
from kraftool.reports.voters.judged_directory import JudgedDirectory
from kraftool.watching.backoff import is_due
from kraftool.watching.child_process import apart
from kraftool.watching.picture import Picture
from kraftool.watching.sources import Sources
from kraftool.watching.task import Task

_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterBoard:
    """All sources compared, at a moment."""

    diff: VoterDiff
    at_ms: int
    took_ms: int
    unobserved: str = ""
    """Why the log of a leader was not read; empty where it was, or no live quorum is watched."""

    def is_due(self, now_ms: int) -> bool:
        """True if changes are worth another reading by now."""
        return is_due(self.at_ms, self.took_ms, now_ms)


def changes(picture: Picture) -> tuple[object, ...]:
    """Differs where another reading may find other voters."""
    view = picture.view
    live: tuple[object, ...] = ()
    if view is not None:
        voters = tuple(
            sorted((voter.replica.id, voter.replica.directory_id) for voter in view.voters)
        )
        known = tuple((node.node_id, node.epoch, node.leader_id) for node in view.nodes)
        live = (voters, known)
    return (*live, picture.stamp)


def compare(sources: Sources, task: Task) -> tuple[VoterDiff, str]:
    """Read every source and compare them; why a leader's log is not among them. Raises
    StoppedError where the task was stopped."""
    live: Sequence[JudgedDirectory] = ()
    unobserved = ""
    if sources.target is not None:
        live, unobserved = _live(sources.target, task)
    return apart(_compared, tuple(live), sources.directories, task=task), unobserved


def _compared(
    live: tuple[JudgedDirectory, ...], directories: tuple[str, ...], task: Task
) -> VoterDiff:
    task.begin("reading directories")
    return diff_voters([*live, *read_sources(directories, task.passed)])


def _live(target: Target, task: Task) -> tuple[Sequence[JudgedDirectory], str]:
    """Each node as a source; the leader's log is read as no replica of it."""
    task.begin("asking nodes")
    with Capturing() as capturing:
        quorum = asyncio.run(read_live(target, capturing, progress=task.counted, limit_s=_LIMIT_S))
        return live_sources(quorum, task.passed), quorum.unobserved


def compare_told(view: QuorumView) -> VoterDiff:
    """Return what live nodes reported last, without any log.

    The log is still to be read: that it was not is no finding yet.
    """
    diff = diff_voters(live_sources(LiveQuorum(before=view, now=view)))
    code = live_kinds.UNOBSERVED.code
    return replace(
        diff, findings=tuple(finding for finding in diff.findings if finding.code != code)
    )
