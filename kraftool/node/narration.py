"""The log lines of a running node: one line for each event that an operator may look for later.

Owns which steps are worth a line, and its fields. Lines go to the logger `kraftool.node` with their
fields as `extra`; whoever runs the node decides on text or JSON.
"""

from __future__ import annotations

import logging
from functools import partial

from kraftool.net.lines import Limit, write
from kraftool.raft.events import (
    Effect,
    Event,
    InstallSnapshot,
    LogCleaned,
    RequestReceived,
    ResponseReceived,
    SnapshotWritten,
    StartSnapshotDownload,
    Truncate,
)
from kraftool.raft.names import ProtocolError
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Follower, Leader, Resigned, Role

LOGGER = logging.getLogger("kraftool.node")


_OFTEN = Limit(burst=30)
"""For what changes rarely among honest nodes; a hostile voter can cause any number of changes."""

say = partial(write, LOGGER)
"""Say something, with its fields: `say("listening", port=9093)`."""


_REMIND_MS = 60_000
"""Interval of the warning while a node without a controller leads."""


def _lost_leader(raft: Raft, before: Role | None) -> int | None:
    """Return who led until now, if nobody does any more. A shutdown and a hand-over lose nobody."""
    if not isinstance(before, Leader | Follower) or raft.is_shutting_down:
        return None
    if isinstance(before, Leader) and raft.handed_over_ms == raft.now_ms:
        return None
    return None if isinstance(raft.role, Leader | Follower) else before.leader_id


def _leader(role: Role) -> int | None:
    """Return who leads as far as the node knows; a leader that it only remembers is none."""
    return role.leader_id if isinstance(role, Leader | Follower) else None


def _successor(raft: Raft) -> int | None:
    """Return for whom the node has just resigned, because that voter runs a controller."""
    role = raft.role
    if not isinstance(role, Resigned) or raft.handed_over_ms != raft.now_ms:
        return None
    return next((successor.id for successor in role.successors), None)


class Narration:
    """Says what changes from step to step."""

    def __init__(self) -> None:
        self._role: Role | None = None
        self._voters: object = None
        self._refusals = 0
        self._reminded_ms: int | None = None
        """When it was said last that the node leads without a controller."""

    def refused(self, event: RequestReceived | ResponseReceived, error: ProtocolError) -> None:
        """Say that a message was refused."""
        self._refusals += 1
        if isinstance(event, RequestReceived):
            source, message = None, type(event.request).__name__
        else:
            source, message = event.source_id, type(event.response).__name__
        say(
            "refused a message",
            logging.ERROR,
            limit=Limit(key=(source, message)),
            message_type=message,
            source=source,
            reason=error.message,
            refusals=self._refusals,
        )

    def _warn_of_leading(self, raft: Raft) -> None:
        """Warn of a leader without a controller: when it wins, and once a minute."""
        role = raft.role
        if not isinstance(role, Leader) or not role.hands_over:
            self._reminded_ms = None
            return
        if self._reminded_ms is None or raft.now_ms - self._reminded_ms >= _REMIND_MS:
            self._reminded_ms = raft.now_ms
            say(
                "leads without a controller",
                logging.WARNING,
                epoch=role.epoch,
                witness=True if raft.is_witness else None,
                controllers=sorted(role.controllers),
                meanwhile="no topic is created, and no broker is registered or fenced",
                until="a voter that runs a controller has caught up",
            )

    def stepped(self, raft: Raft, event: Event | None, effects: list[Effect]) -> None:
        """Say what a step has changed."""
        if raft.role is not self._role:
            lost = _lost_leader(raft, self._role)
            self._role = role = raft.role
            voted = role.voted if hasattr(role, "voted") else None
            say(
                type(role).__name__,
                logging.INFO if lost is None else logging.WARNING,
                limit=_OFTEN,
                epoch=role.epoch,
                leader=_leader(role),
                lostLeader=lost,
                successor=_successor(raft),
                witness=True if raft.is_witness else None,
                voted=None if voted is None else str(voted),
                end=raft.log.end_offset,
                lastEpoch=raft.log.last_epoch,
            )
        self._warn_of_leading(raft)
        if raft.control.voters is not self._voters:
            self._voters = raft.control.voters
            say(
                "voters",
                limit=_OFTEN,
                voters=[str(voter.key) for voter in raft.control.voters],
                offset=raft.control.voters_offset,
                isVoter=raft.is_voter,
            )
        match event:
            case SnapshotWritten(snapshot_id=snapshot):
                say("snapshot written", offset=snapshot.offset, epoch=snapshot.epoch)
            case LogCleaned(start_offset=start):
                say("log cleaned", start=start)
        for effect in effects:
            match effect:
                case Truncate(offset=offset):
                    say("log truncated", logging.WARNING, limit=_OFTEN, to=offset)
                case StartSnapshotDownload(snapshot_id=snapshot):
                    say(
                        "fetching a snapshot",
                        limit=_OFTEN,
                        offset=snapshot.offset,
                        epoch=snapshot.epoch,
                    )
                case InstallSnapshot(snapshot_id=snapshot):
                    say(
                        "snapshot installed",
                        limit=_OFTEN,
                        offset=snapshot.offset,
                        epoch=snapshot.epoch,
                    )
