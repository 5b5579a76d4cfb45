"""Records of a real cluster as those of another: its own uuids, its own controllers and offsets.

Owns which fields hold uuids, which the catalogue knows. Reserved uuids, which mean something to
Kafka, stay as they are; so do the ids of brokers, names, configurations and credentials.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import cache
from hashlib import md5

from fleets.template import Told
from kraftool.decoders import schema
from kraftool.decoders.schema.notation import Field

_RESERVED = 100
"""Kafka gives out no uuid below."""


class Rewriter:
    """Rewrites the records of one cluster, in their order."""

    def __init__(self, salt: str) -> None:
        self._salt = salt
        self._uuids: dict[str, str] = {}
        self._epochs: dict[tuple[int, int], int] = {}

    def rewritten(self, record: Told, offset: int) -> Told:
        """The record as it stands at `offset` of the new log."""
        value = dict(record.value)
        for name, is_array in _uuid_fields(record.name):
            there = value.get(name)
            if there is not None:
                value[name] = (
                    [self._uuid(uuid_text) for uuid_text in there]
                    if is_array
                    else self._uuid(there)
                )
        if record.name == "RegisterBrokerRecord":
            # They ran on one machine, which brokers of several cannot.
            host = f"broker-{value['brokerId']}.example"
            value["endPoints"] = [{**end_point, "host": host} for end_point in value["endPoints"]]
        if "brokerEpoch" in value:
            key = (value["brokerId"], value["brokerEpoch"])
            if record.name == "RegisterBrokerRecord":
                self._epochs[key] = offset  # which is what a controller gives to brokers
            value["brokerEpoch"] = self._epochs.get(key, value["brokerEpoch"])
        return Told(record.name, record.version, value)

    def _uuid(self, text: str) -> str:
        new_uuid = self._uuids.get(text)
        if new_uuid is None:
            new_uuid = self._uuids[text] = text if _is_reserved(text) else self._made(text)
        return new_uuid

    def _made(self, text: str) -> str:
        digest = bytearray(md5(f"{self._salt}/{text}".encode(), usedforsecurity=False).digest())
        digest[0] &= 0x3F  # no dash in front
        return urlsafe_b64encode(bytes(digest)).decode().rstrip("=")


def _is_reserved(text: str) -> bool:
    return int.from_bytes(urlsafe_b64decode(text + "=="), "big") < _RESERVED


@cache
def _uuid_fields(name: str) -> tuple[tuple[str, bool], ...]:
    """The fields of a record that hold uuids, and whether they are arrays."""
    fields: tuple[Field, ...] = schema.message(name).fields
    return tuple((field.name, field.is_array) for field in fields if field.element == "uuid")
