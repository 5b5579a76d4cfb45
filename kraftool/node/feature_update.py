"""UpdateFeatures of a leader that has no active controller: kraft.version alone.

That level is the raft log's own: control records carry it, and the voters. Every other feature is
the controller's, and refused with that reason. The answer waits for the commit, as Kafka's does.
"""

from __future__ import annotations

from kraftool.decoders.codec import Value
from kraftool.decoders.error_codes import Error
from kraftool.decoders.rpc_frames import RequestFrame
from kraftool.image.metadata_version import KRAFT_VERSION
from kraftool.node.runner import OrderRefused, Runner
from kraftool.raft.events import UpgradeKRaftVersion
from kraftool.raft.raft import Raft
from kraftool.raft.roles import Leader

_UPGRADE = 1
"""The upgrade type that is no downgrade."""
_LONGEST_S = 60.0


async def update_features(runner: Runner, frame: RequestFrame) -> Value:
    """The body of the answer."""
    updates = frame.body["featureUpdates"]
    error, text = _refused(updates)
    if not runner.leads:
        error, text = Error.NOT_CONTROLLER, "this node does not lead the quorum"
    elif error is Error.NONE:
        for update in updates:
            error, text = await _upgrade(runner, frame.body, update["maxVersionLevel"])
    results = [
        {"feature": update["feature"], "errorCode": 0, "errorMessage": None} for update in updates
    ]
    return answer(error, text, frame.version, results if error is Error.NONE else [])


def answer(error: Error, text: str, version: int, results: list[Value] | None = None) -> Value:
    """An answer of a version; from 2 on it tells of the request as a whole."""
    return {
        "throttleTimeMs": 0,
        "errorCode": int(error),
        "errorMessage": text or None,
        **({"results": results or []} if version < 2 else {}),
    }


def _refused(updates: list[Value]) -> tuple[Error, str]:
    for update in updates:
        if update["feature"] != KRAFT_VERSION:
            return Error.INVALID_UPDATE_VERSION, (
                f"only a controller can change {update['feature']}, but the leader is a"
                f" kraftool node without one: it changes only {KRAFT_VERSION}. Let a Kafka"
                " controller lead"
            )
        if update.get("upgradeType", _UPGRADE) != _UPGRADE or update["maxVersionLevel"] < 0:
            return Error.INVALID_UPDATE_VERSION, f"{KRAFT_VERSION} can only be upgraded"
    return Error.NONE, ""


async def _upgrade(runner: Runner, body: Value, level: int) -> tuple[Error, str]:
    epoch, validate_only = runner.raft.epoch, body.get("validateOnly", False)
    order = UpgradeKRaftVersion(epoch=epoch, level=level, validate_only=validate_only)
    try:
        await runner.order(order)
    except OrderRefused as refused:
        # Kafka calls it an illegal state where a voter is not known well enough yet.
        return refused.error or Error.INVALID_UPDATE_VERSION, refused.message
    if validate_only:
        return Error.NONE, ""

    def is_over(raft: Raft) -> bool:
        return not _leads(raft, epoch) or _is_committed(raft, level)

    timeout_s = min(max(body["timeoutMs"] / 1000, 0.0), _LONGEST_S)
    if not await runner.until(is_over, timeout_s):
        return Error.REQUEST_TIMED_OUT, f"{KRAFT_VERSION} {level} was not committed in time"
    if not _is_committed(runner.raft, level):
        return Error.NOT_CONTROLLER, "another node leads before it was committed"
    return Error.NONE, ""


def _leads(raft: Raft, epoch: int) -> bool:
    return isinstance(raft.role, Leader) and raft.epoch == epoch


def _is_committed(raft: Raft, level: int) -> bool:
    last, known = raft.control.kraft_versions.last, raft.role.high_watermark
    if last is None:
        return level == 0
    offset, finalized = last
    return finalized >= level and known is not None and known > offset
