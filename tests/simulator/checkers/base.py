"""The base of all checkers: what each hook means, and which checkers it calls.

A hook is called only for the checkers that have it, since they are called after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from random import Random
from typing import Any, NoReturn

from kraftool.raft.events import Deliver, Event, Send
from kraftool.raft.messages import Response
from kraftool.raft.names import ElectionState, OffsetAndEpoch
from kraftool.raft.records import Batch
from kraftool.raft.roles import Role
from kraftool.sim.machine import Snapshot
from tests.simulator.hooks import Hooks
from tests.simulator.network import Asked
from tests.simulator.node import Node
from tests.simulator.options import Options
from tests.simulator.world import World


class Checker:
    """One invariant. Subclasses have the hooks that they need."""

    name = ""

    world: World

    def violated(self, text: str) -> NoReturn:
        self.world.violated(self.name, text)

    def stepped(self, node: Node, event: Event | None) -> None:
        """After each step, and after a start."""

    def rested(self, node: Node) -> None:
        """Everything that the role needs has been done, and nothing is on its way to the disk."""

    def starts(self, node: Node) -> None:
        """A process begins; its log has been read."""

    def asks(self, node: Node, send: Send, event: Event | None) -> None:
        """The core wants a request sent; it may leave the node later."""

    def role_changed(
        self, node: Node, before: Role | None, after: Role, event: Event | None
    ) -> None:
        """The core has another role object than before the step; `before` is None at a start."""

    def watermark(self, node: Node, role: Role, before: int | None, after: int | None) -> None:
        """The high watermark of a role changed, or the role did. A leader that commits and resigns
        in one step is told of as the leader first."""

    def appended(self, node: Node, batches: tuple[Batch, ...]) -> None:
        """The core's log has grown."""

    def written(self, node: Node, batches: tuple[Batch, ...]) -> None:
        """The log on the disk has grown; not everything of it is safe there yet."""

    def truncated(self, node: Node, offset: int, dropped: list[Batch]) -> None:
        """The core's log was cut."""

    def installed(self, node: Node, snapshot_id: OffsetAndEpoch) -> None:
        """The core's log begins anew after a snapshot of the leader."""

    def delivers(self, node: Node, delivery: Deliver) -> None:
        """The core gives something to the state machine."""

    def persisted(self, node: Node, before: ElectionState | None, after: ElectionState) -> None:
        """quorum-state is durable."""

    def sends(self, node: Node, send: Send) -> None:
        """A request leaves the node."""

    def replies(self, node: Node, asked: Asked, response: Response) -> None:
        """An answer leaves the node."""

    def consumed(self, node: Node, delivery: Deliver) -> None:
        """The state machine has made something of what it was given."""

    def wrote(self, node: Node, snapshot: Snapshot) -> None:
        """The state machine has frozen a snapshot."""


def checked_world(options: Options, random: Random, checkers: Sequence[Checker]) -> World:
    """Return a new world; the checkers observe its nodes."""
    world = World(options, random)
    world.hooks = hooks_of(checkers, world)
    return world


def hooks_of(checkers: Sequence[Checker], world: World) -> Hooks:
    """Return hooks that call each checker for the moments it observes."""
    for checker in checkers:
        checker.world = world

    def call(name: str) -> Callable[..., Any]:
        ignored = getattr(Checker, name)
        wanted = [checker for checker in checkers if getattr(type(checker), name) is not ignored]
        return _all(tuple(getattr(checker, name) for checker in wanted))

    return Hooks(**{hook.name: call(hook.name) for hook in fields(Hooks)})


def _all(hooks: tuple[Callable[..., None], ...]) -> Callable[..., Any]:
    """One call for several; the usual numbers without a loop's cost."""
    if len(hooks) == 1:
        return hooks[0]

    def call(*what: Any) -> None:
        for hook in hooks:
            hook(*what)

    return call
