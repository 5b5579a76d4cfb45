"""The network between nodes: it delays, loses, doubles and reorders, and is cut in places.

Owns every message on its way. It refuses to know what a message says, but for damaging the batches
of one. A connection dies with the process at its end: an answer never reaches the next
incarnation of who asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from kraftool.raft.events import Send
from kraftool.raft.messages import UNREACHABLE, FetchResponse, Request, Response
from tests.simulator.simulation import Simulation


class NetworkNode(Protocol):
    """A node as the network knows it."""

    id: int
    name: str
    incarnation: int
    is_up: bool

    def asked(self, asked: Asked) -> None:
        """A request arrives."""

    def answered(self, asked: Asked, response: Response) -> None:
        """An answer arrives."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request on its way, with the way back."""

    source: NetworkNode
    incarnation: int
    known_as: int
    """The destination's id for the one who asked; below -1 for a bootstrap server."""
    correlation_id: int
    request: Request
    destination: int


class Network:
    """All connections between all nodes."""

    def __init__(self, world: Simulation, nodes: Mapping[int, NetworkNode]) -> None:
        self._world, self._nodes = world, nodes
        self.cut: set[tuple[int, int]] = set()
        """Pairs (from, to) between which nothing gets through."""
        self.loss = self.duplication = self.long_delay = self.corruption = 0.0
        """How probable each is."""
        self.delay_ms = 5

    def heal(self) -> None:
        self.cut.clear()

    def calm(self) -> None:
        """Nothing happens to messages any more, but that they take a moment."""
        self.heal()
        self.loss = self.duplication = self.long_delay = self.corruption = 0.0

    def send(self, source: NetworkNode, send: Send) -> None:
        asked = Asked(
            source,
            source.incarnation,
            send.destination_id,
            send.correlation_id,
            send.request,
            send.endpoint.port,
        )
        self._carry(source.id, asked.destination, self._arrives, asked)

    def answer(self, responder: int, asked: Asked, response: Response) -> None:
        if self.corruption and isinstance(response, FetchResponse) and response.batches:
            response = self._damaged(response)
        self._carry(responder, asked.source.id, self._returns, asked, response)

    def _damaged(self, response: FetchResponse) -> FetchResponse:
        if self._world.random.random() >= self.corruption:
            return response
        at = self._world.random.randrange(len(response.batches))
        batches = list(response.batches)
        batches[at] = replace(batches[at], is_valid=False)
        self._world.count("corrupted")
        return replace(response, batches=tuple(batches))

    def _carry(
        self, source: int, destination: int, arrive: Callable[..., object], *what: object
    ) -> None:
        world = self._world
        chance = world.random.random
        if (source, destination) in self.cut or (self.loss and chance() < self.loss):
            world.count("lost")
            return
        copies = 1
        if self.duplication and chance() < self.duplication:
            copies = 2
            world.count("doubled")
        for _ in range(copies):
            delay = 1 + int(chance() * self.delay_ms)
            if self.long_delay and chance() < self.long_delay:
                delay += int(chance() * 3000)
                world.count("delayed")
            world.after(delay, arrive, *what)

    def _arrives(self, asked: Asked) -> None:
        node = self._nodes.get(asked.destination)
        if node is None or not node.is_up:
            # A closed port is known at once, a machine that is off is not.
            if self._world.random.random() < 0.5:
                self.answer(asked.destination, asked, UNREACHABLE[type(asked.request)])
        elif (asked.source.id, asked.destination) in self.cut:
            self._world.count("lost")
        else:
            node.asked(asked)

    def _returns(self, asked: Asked, response: Response) -> None:
        node = asked.source
        if (asked.destination, node.id) in self.cut:
            self._world.count("lost")
        elif node.is_up and node.incarnation == asked.incarnation:
            node.answered(asked, response)
