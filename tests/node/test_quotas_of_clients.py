"""Client quotas in a running node: from the log to what a client is charged and told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from kraftool.decoders.error_codes import Error
from kraftool.node.controlling import Controlling
from tests.node.test_controlling import Controllers, creation, heartbeat, registration, run


def test_a_client_over_its_quota_is_told_how_long_to_wait(tmp_path: Path) -> None:
    async def throttled(controllers: Controllers) -> None:
        controlling = controllers.of[await controllers.active()]
        answer = await controlling.ask("BrokerRegistration", 4, registration(1))
        await controlling.ask("BrokerHeartbeat", 1, heartbeat(1, answer["brokerEpoch"]))
        entity = [{"entityType": "user", "entityName": "alice"}]
        ops = [{"key": "controller_mutation_rate", "value": 0.01, "remove": False}]
        body = {"entries": [{"entity": entity, "ops": ops}], "validateOnly": False}
        answer = await controlling.ask("AlterClientQuotas", 1, body)
        assert answer["entries"][0]["errorCode"] == Error.NONE
        machine = controlling._machine
        await controllers.quorum.until("the quota", lambda: machine.image.client_quotas.entities)

        assert await created(controlling, "a", "User:alice") == (Error.NONE, 0)
        error, wait_ms = await created(controlling, "b", "User:alice")
        assert error == Error.THROTTLING_QUOTA_EXCEEDED
        assert wait_ms > 0
        assert await created(controlling, "b", "User:bob") == (Error.NONE, 0)
        error, waits_longer_ms = await created(controlling, "c", "User:alice", version=5)
        assert error == Error.NONE
        assert waits_longer_ms > wait_ms

    asyncio.run(run(Controllers(tmp_path, 1, max_idle_ms=None), throttled))


async def created(
    controlling: Controlling, name: str, principal: str, version: int = 7
) -> tuple[int, int]:
    """The error of a new topic, and how long its client has to wait."""
    body: dict[str, Any] = creation(partitions=30, replicas=1)
    body["topics"][0]["name"] = name
    answer = await controlling.ask(
        "CreateTopics", version, body, principal=principal, client_id="test"
    )
    return answer["topics"][0]["errorCode"], answer.get("throttleTimeMs", 0)
