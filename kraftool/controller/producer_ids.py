"""Blocks of producer ids: each one goes to one broker, once."""

from __future__ import annotations

from typing import Any

from kraftool.controller.decision import Decision
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error

BLOCK_SIZE = 1000
_LARGEST = (1 << 63) - 1


def allocate(state: ControllerState, request: dict[str, Any]) -> Decision:
    """Give a broker the next block."""
    state.check_broker_epoch(request["brokerId"], request["brokerEpoch"])
    first = state.next_producer_id
    if first > _LARGEST - BLOCK_SIZE:
        raise RequestRefused(Error.UNKNOWN_SERVER_ERROR, "all producer ids were given out")
    value = {
        "brokerId": request["brokerId"],
        "brokerEpoch": request["brokerEpoch"],
        "nextProducerId": first + BLOCK_SIZE,
    }
    return Decision(
        answer={"producerIdStart": first, "producerIdLen": BLOCK_SIZE},
        records=[("ProducerIdsRecord", 0, value)],
        is_atomic=False,
    )
