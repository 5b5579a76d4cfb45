"""What a checker can be told of, and the telling.

Owns the names of the hooks. A hook is called only for the checkers that have it, since they are
called after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from kraftool.raft.events import Deliver, Event, Send
from kraftool.raft.messages import Response
from kraftool.raft.names import ElectionState, OffsetAndEpoch
from kraftool.raft.records import Batch
from kraftool.raft.roles import Role
from kraftool.sim.machine import Snapshot
from kraftool.sim.network import Asked

if TYPE_CHECKING:
    from kraftool.sim.node import Node
    from kraftool.sim.world import World


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


_HOOKS = tuple(
    name for name in vars(Checker) if not name.startswith("_") and name not in {"name", "violated"}
)


class Hooks:
    """Tells every checker that wants to know."""

    stepped: Callable[..., None]
    rested: Callable[..., None]
    asks: Callable[..., None]
    starts: Callable[..., None]
    role_changed: Callable[..., None]
    watermark: Callable[..., None]
    appended: Callable[..., None]
    written: Callable[..., None]
    truncated: Callable[..., None]
    installed: Callable[..., None]
    delivers: Callable[..., None]
    persisted: Callable[..., None]
    sends: Callable[..., None]
    replies: Callable[..., None]
    consumed: Callable[..., None]
    wrote: Callable[..., None]

    def __init__(self, checkers: Iterable[Checker], world: World) -> None:
        every = list(checkers)
        for each in every:
            each.world = world
        for name in _HOOKS:
            wanted = [
                each for each in every if getattr(type(each), name) is not getattr(Checker, name)
            ]
            setattr(self, name, _all(tuple(getattr(each, name) for each in wanted)))


def _all(hooks: tuple[Callable[..., None], ...]) -> Callable[..., Any]:
    """One call for several; the usual numbers without a loop's cost."""
    if len(hooks) == 1:
        return hooks[0]

    def call(*what: Any) -> None:
        for hook in hooks:
            hook(*what)

    return call
