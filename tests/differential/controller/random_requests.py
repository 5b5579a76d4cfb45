"""What every random request has: the form of a command, names and ids, kraftool's state."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from random import Random
from typing import Any

from kraftool.controller.state import ControllerState
from kraftool.decoders.codec import EncodeError
from tests.differential.controller.our_controller import OurController, encoded_body

NODE_ID = 3000
CLUSTER_ID = "J8qXRwI-Qyi2G0guFTiuYw"
BROKERS = range(8)
RACKS = (None, "a", "b", "c")
SESSION_MS = 9_000
PRINCIPALS = ("User:alice", "User:bob", "User:ANONYMOUS")
CLIENTS = ("loader", "admin", "")

Body = dict[str, Any]
Command = dict[str, Any]


def uuid(number: int) -> str:
    raw = bytes([7] * 8) + number.to_bytes(8, "big")
    return urlsafe_b64encode(raw).decode().rstrip("=")


class Requests:
    """Makes requests for the state that kraftool has, which is equal to Kafka's."""

    throttles = False
    """True if most requests are those of one client, which soon has as many partitions as a quota
    allows."""

    def __init__(self, random: Random, ours: OurController) -> None:
        self.random, self.ours = random, ours
        self._number = 0

    @property
    def _state(self) -> ControllerState:
        assert self.ours.active is not None, "asked for while it leads"
        return self.ours.active.state

    def _one_of(self, clients: tuple[str, ...]) -> str:
        return clients[0] if self.throttles else self.random.choice(clients)

    def _request(self, api: str, low: int, high: int, body: Body, **more: Any) -> Command:
        self._number += 1
        version = self.random.choice([high, high, self.random.randint(low, high)])
        try:
            encoded = encoded_body(api, version, body)
        except EncodeError:  # this version lacks a field that is set
            version, encoded = high, encoded_body(api, high, body)
        return {
            "command": "request",
            "api": api,
            "version": version,
            "number": self._number,
            "body": encoded,
            "describable": [],
            "principal": self._one_of(PRINCIPALS),
            "clientId": self._one_of(CLIENTS),
            **more,
        }
