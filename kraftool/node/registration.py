"""The node's registration with the active controller, which upgrades of features wait for.

Owns when it is sent, and again: as Kafka's controllers do, until the metadata that the node has
replayed shows this run of it. It asks on a connection of its own, so that nothing of the quorum
waits for it, and no failure of it ends the node.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error, error_name
from kraftool.decoders.errors import KraftoolError
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import CONTROLLER_REGISTRATION_LEVEL
from kraftool.net.connection import Connection
from kraftool.net.lines import Limit
from kraftool.net.security import SecurityProtocol
from kraftool.node.narration import say
from kraftool.node.runner import Runner
from kraftool.raft.names import Endpoint, VersionRange
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader
from kraftool.storage.random_ids import random_uuid

_REQUEST = "ControllerRegistration"
_REQUEST_S = 5.0
_FIRST_S, _LONGEST_S = 0.1, 120.0
_JITTER = 0.02
"""Kafka's backoff doubles between these."""


class _Leader(NamedTuple):
    """The leader to register with."""

    id: int
    epoch: int
    endpoint: Endpoint


class _Refused(KraftoolError):
    """The leader was reached, and will not."""

    def __init__(self, error: int, message: str | None) -> None:
        name = error_name(error)
        super().__init__(f"{name}: {message}" if message else name)
        self.is_transient = error == Error.NOT_CONTROLLER
        """It has just been elected, or is a node without a controller."""


class Registrar:
    """Keeps one run of a node registered. `start` begins it, `close` ends it."""

    def __init__(
        self,
        runner: Runner,
        image: Callable[[], MetadataImage | None],
        connect: Callable[[Endpoint], Awaitable[Connection]],
        *,
        protocols: Mapping[str, SecurityProtocol],
        features: Mapping[str, VersionRange],
        ask_itself: Callable[[Value], Awaitable[Value]] | None = None,
    ) -> None:
        """`protocols`: of each listener that the node advertises. `features`: what it supports.
        `ask_itself`: asks the node's own controller, while it is the active one."""
        self._runner, self._image, self._connect = runner, image, connect
        self._ask_itself = ask_itself
        self.incarnation_id = random_uuid()
        self._body = self._request(protocols, features)
        self._told: tuple[int, str] | None = None
        """The last failure that was said: by whom, and why."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._register_for_ever())
        self._task.add_done_callback(self._ended)

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Only by being cancelled; anything else is a mistake of this software."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._runner.fail(error)

    def _request(
        self, protocols: Mapping[str, SecurityProtocol], features: Mapping[str, VersionRange]
    ) -> dict[str, Any]:
        settings = self._runner.settings
        return {
            "controllerId": settings.node_id,
            "incarnationId": self.incarnation_id,
            "zkMigrationReady": False,
            "listeners": [
                {
                    "name": name,
                    "host": listener.host,
                    "port": listener.port,
                    "securityProtocol": protocols[name].id,
                }
                for name, listener in settings.listeners.items()
            ],
            "features": [
                {
                    "name": name,
                    "minSupportedVersion": levels.min,
                    "maxSupportedVersion": levels.max,
                }
                for name, levels in features.items()
            ],
        }

    def _is_registered(self) -> bool:
        """True if this run is in the metadata. What it registers never changes while it runs."""
        image = self._image()
        known = None if image is None else image.cluster.controllers.get(self._body["controllerId"])
        return known is not None and known.incarnation_id == self.incarnation_id

    def _leader(self, raft: Raft) -> _Leader | None:
        """The node that leads, if it can be told; this one only if it has a controller."""
        settings = self._runner.settings
        if isinstance(raft.role, Leader) and self._ask_itself is not None:
            own = settings.listeners[settings.default_listener]
            return _Leader(raft.role.local.id, raft.epoch, own)
        endpoint = raft.role.leader_endpoints.get(settings.default_listener)
        if raft.is_shutting_down or not raft.has_remote_leader or endpoint is None:
            return None
        assert raft.leader_id is not None, "which has_remote_leader says"
        return _Leader(raft.leader_id, raft.epoch, endpoint)

    def _is_due(self, raft: Raft) -> bool:
        image = self._image()
        level = None if image is None else image.features.metadata_version
        return (
            level is not None
            and level >= CONTROLLER_REGISTRATION_LEVEL
            and not self._is_registered()
            and self._leader(raft) is not None
        )

    async def _register_for_ever(self) -> None:
        runner, failures = self._runner, 0
        last: _Leader | None = None
        while True:
            await runner.until(self._is_due, None)
            leader = self._leader(runner.raft)
            if leader is None:
                continue  # it went between the step and this task's turn
            if leader != last:
                last, failures = leader, 0
            if await self._is_accepted(leader):
                failures, pause_s = 0, _LONGEST_S
            else:
                pause_s = backoff_s(failures)
                failures += 1
            # One that is acknowledged is committed: it comes with the metadata.
            await runner.until(partial(self._is_settled, leader), pause_s)

    def _is_settled(self, asked: _Leader, raft: Raft) -> bool:
        """True if there is nothing left to wait for before it is looked at again."""
        return self._is_registered() or self._leader(raft) not in (None, asked)

    async def _is_accepted(self, leader: _Leader) -> bool:
        """True if the leader takes it."""
        try:
            await self._ask(leader)
        except _Refused as refused:
            level = logging.INFO if refused.is_transient else logging.WARNING
            self._tell_failure("registration refused", leader, refused.message, level)
            return False
        except (KraftoolError, OSError) as error:
            self._tell_failure("not registered", leader, str(error), logging.WARNING)
            return False
        self._told = None
        say("registered", leader=leader.id, incarnation=self.incarnation_id)
        return True

    async def _ask(self, leader: _Leader) -> None:
        if leader.id == self._runner.settings.node_id and self._ask_itself is not None:
            response = await self._ask_itself(self._body)
        else:
            connection = await self._connect(leader.endpoint)
            try:
                response = await connection.request(
                    _REQUEST, None, self._body, timeout_s=_REQUEST_S
                )
            finally:
                await connection.close()
        if response.get("errorCode"):
            raise _Refused(response["errorCode"], response["errorMessage"])

    def _tell_failure(self, text: str, leader: _Leader, reason: str, level: int) -> None:
        """Say it once, until something else comes of it."""
        if self._told != (leader.id, reason):
            self._told = (leader.id, reason)
            say(text, level, limit=Limit(key=leader.id, burst=5), leader=leader.id, reason=reason)


def backoff_s(failures: int) -> float:
    """Return how long to wait after so many failures before this one."""
    wait_s = _FIRST_S * 2.0 ** min(failures, 32)
    return min(min(wait_s, _LONGEST_S) * random.uniform(1 - _JITTER, 1 + _JITTER), _LONGEST_S)
