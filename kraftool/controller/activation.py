"""The first records of a controller that becomes the active one.

Owns two cases: a cluster that has no metadata.version yet gets its bootstrap records, and a
transaction that the last active controller left open is aborted.
"""

from __future__ import annotations

from kraftool.controller.decision import Decision
from kraftool.decoders.errors import KraftoolError
from kraftool.image.configs import BROKER
from kraftool.image.metadata_version import ELR_VERSION, METADATA_VERSION, TRANSACTIONS_LEVEL
from kraftool.image.replay import WrittenRecord

_TRANSACTION_NAME = "Bootstrap records"
_BEGIN: WrittenRecord = ("BeginTransactionRecord", 0, {"name": _TRANSACTION_NAME})
_END: WrittenRecord = ("EndTransactionRecord", 0, {})
_ABORT: WrittenRecord = ("AbortTransactionRecord", 0, {"reason": "Controller failover"})


class CannotActivate(KraftoolError):
    """The log is in a state that no controller of this metadata.version leaves."""


def activation(
    *,
    metadata_version: int | None,
    has_open_transaction: bool,
    bootstrap: tuple[WrittenRecord, ...],
    min_insync_replicas: str,
) -> Decision:
    """The records of activation. `metadata_version`: None if there is none without what an open
    transaction has written, which is lost with it. (Kafka 4.4 counts it, and then has none.)"""
    if metadata_version is not None:
        if not has_open_transaction:
            return Decision(answer={})
        _require_transactions(metadata_version)
        return Decision(answer={}, records=[_ABORT])
    levels = {
        value["name"]: value["featureLevel"]
        for name, _, value in bootstrap
        if name == "FeatureLevelRecord"
    }
    records = list(bootstrap)
    if levels.get(ELR_VERSION, 0) > 0:
        # With ELR the number must not depend on which controller is asked.
        value = {
            "resourceType": BROKER,
            "resourceName": "",
            "name": "min.insync.replicas",
            "value": min_insync_replicas,
        }
        records.append(("ConfigRecord", 0, value))
    level = levels[METADATA_VERSION]
    if has_open_transaction:
        _require_transactions(level)
        records.insert(0, _ABORT)
        records.insert(1, _BEGIN)
    elif level >= TRANSACTIONS_LEVEL:
        records.insert(0, _BEGIN)
    if level < TRANSACTIONS_LEVEL:
        return Decision(answer={}, records=records)
    return Decision(answer={}, records=[*records, _END], is_atomic=False)


def _require_transactions(level: int) -> None:
    if level < TRANSACTIONS_LEVEL:
        raise CannotActivate(
            f"a metadata transaction is open, and metadata.version {level} has none",
            hint="kraftool dump-log --transactions mark shows it",
        )
