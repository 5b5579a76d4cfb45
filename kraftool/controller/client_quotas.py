"""AlterClientQuotas: the limits of users, of clients and of addresses.

Owns which entities there are, which keys each has, and the values that a key takes. An entity that
is refused does not keep the others of its request from being changed.
"""

from __future__ import annotations

import ipaddress
import math
import struct
from collections.abc import Callable, Mapping
from typing import Any

from kraftool.controller.decision import Decision
from kraftool.controller.new_partitions import MOST_RECORDS
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.decoders.java_text import INT32_MAX
from kraftool.image.client_quotas import QuotaEntity
from kraftool.image.metadata_version import KAFKA_4_4_LEVEL
from kraftool.image.replay import WrittenRecord

USER, CLIENT_ID, IP = "user", "client-id", "ip"
_KINDS = (CLIENT_ID, USER, IP)
MUTATION_RATE = "controller_mutation_rate"
_TWO_TO_63 = float(1 << 63)
"""What the largest int64 is as a float64, by which Kafka judges a value."""
_OF_CLIENTS: Mapping[str, float] = {
    "producer_byte_rate": _TWO_TO_63,
    "consumer_byte_rate": _TWO_TO_63,
    "request_percentage": math.inf,
    MUTATION_RATE: math.inf,
}
"""The keys of users and clients, with the largest value; those without one may have fractions."""
_OF_ADDRESSES: Mapping[str, float] = {"connection_creation_rate": float(INT32_MAX)}
_FRACTION = 1e-6
"""A smaller fraction does not count."""


def alter_client_quotas(
    state: ControllerState, request: dict[str, Any], resolves: Callable[[str], bool]
) -> Decision:
    """Set and remove quotas. `resolves`: returns True for a host that has an address."""
    results: dict[QuotaEntity, RequestRefused | None] = {}
    records: list[WrittenRecord] = []
    for entry in request["entries"]:
        entity = _entity(entry["entity"])
        try:
            if entity in results:
                raise _twice(entity)
            of_entity = _changes(state, entity, entry["ops"], resolves)
        except RequestRefused as refused:
            results[entity] = refused
            continue
        if len(records) + len(of_entity) > MOST_RECORDS:
            raise RequestRefused(
                Error.POLICY_VIOLATION, f"a request may write {MOST_RECORDS} records at most"
            )
        results[entity] = None
        records += of_entity
    return Decision(
        answer={"entries": [_result(entity, result) for entity, result in results.items()]},
        records=() if request["validateOnly"] else records,
    )


def is_address(text: str) -> bool:
    """True for an IP address as it is usually written."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _entity(parts: list[dict[str, Any]]) -> QuotaEntity:
    """Return an entity as the image has it. If a type is there twice, its last name counts."""
    names = {part["entityType"]: part["entityName"] for part in parts}
    return tuple((kind, names[kind]) for kind in sorted(names))


def _changes(
    state: ControllerState,
    entity: QuotaEntity,
    changes: list[dict[str, Any]],
    resolves: Callable[[str], bool],
) -> list[WrittenRecord]:
    """Return records for the values of an entity that change."""
    if len({change["key"] for change in changes}) < len(changes):
        raise _twice(entity)
    largest = _keys_of(entity, resolves)
    current = state.quotas_of(entity)
    parts = [{"entityType": kind, "entityName": name} for kind, name in entity]
    records: list[WrittenRecord] = []
    for change in changes:
        key, value, removes = change["key"], change["value"], change["remove"]
        if removes:
            is_changed = key in current
        else:
            _check_value(key, value, largest, is_finite=state.level >= KAFKA_4_4_LEVEL)
            is_changed = key not in current or _bits(current[key]) != _bits(value)
        if is_changed:
            record = {
                "entity": parts,
                "key": key,
                "value": 0.0 if removes else value,
                "remove": removes,
            }
            records.append(("ClientQuotaRecord", 0, record))
    return records


def _keys_of(entity: QuotaEntity, resolves: Callable[[str], bool]) -> Mapping[str, float]:
    """Return the keys that an entity may have, with their largest values."""
    names = dict(entity)
    if not names:
        raise _invalid("Invalid empty client quota entity")
    for kind, name in _in_kafkas_order(entity):
        if kind not in _KINDS:
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
    if IP not in names:
        return _OF_CLIENTS
    if len(names) > 1:
        # Without the space, as Kafka has it.
        raise _invalid(
            "Invalid quota entity combination, IP entity shouldnot be combined with User or"
            " ClientId"
        )
    address = names[IP]
    if address is not None and not resolves(address):
        raise _invalid(f"{address} is not a valid IP or resolvable host.")
    return _OF_ADDRESSES


def _check_value(key: str, value: float, largest: Mapping[str, float], *, is_finite: bool) -> None:
    """Raise RequestRefused for a value that a key cannot have. `is_finite`: refuse infinity and
    NaN, as Kafka does since 4.4."""
    if key not in largest:
        raise _invalid(f"Invalid configuration key {key}")
    if is_finite and not math.isfinite(value):
        raise _invalid(f"Quota {key} must be a finite number")
    if value <= 0:
        raise _invalid(f"Quota {key} must be greater than 0")
    if largest[key] == math.inf:
        return
    if value > largest[key]:
        kind = "an INT" if largest[key] == INT32_MAX else "a LONG"
        raise _invalid(f"Proposed value for {key} is too large for {kind}.")
    # NaN passes here, as in Kafka 4.3.
    if math.fmod(value, 1) > _FRACTION:
        raise _invalid(f"{key} cannot be a fractional value.")


def _bits(value: float) -> bytes:
    """Two values are the same if their bits are, as in Kafka: NaN equals NaN."""
    return struct.pack(">d", value)


def _result(entity: QuotaEntity, refused: RequestRefused | None) -> dict[str, Any]:
    return {
        "errorCode": int(Error.NONE if refused is None else refused.error),
        "errorMessage": None if refused is None else refused.text,
        "entity": [{"entityType": kind, "entityName": name} for kind, name in entity],
    }


def _in_kafkas_order(entity: QuotaEntity) -> QuotaEntity:
    """Return an entity's parts in the order of Java's hash map, in which Kafka checks and shows
    them."""
    return tuple(
        sorted(entity, key=lambda part: _KINDS.index(part[0]) if part[0] in _KINDS else len(_KINDS))
    )


def _twice(entity: QuotaEntity) -> RequestRefused:
    """An entity that a request has twice, or with a key twice: Kafka has one sentence for both."""
    parts = ", ".join(
        f"{kind}={'null' if name is None else name}" for kind, name in _in_kafkas_order(entity)
    )
    return _invalid(f"Ignoring duplicate entity ClientQuotaEntity(entries={{{parts}}})")


def _invalid(reason: str) -> RequestRefused:
    return RequestRefused(Error.INVALID_REQUEST, reason)
