"""The columns of the metadata at the end of each directory, from the entities of `state -o json`.

Owns which kinds of entities are rows, and the Arrow type of each of their attributes. A column has
the attribute's name, or that of the field in Kafka's record if it is another one; times are epoch
milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import MappingProxyType, NoneType
from typing import Any, get_args, get_origin, get_type_hints

from kraftool.arrow.untyped import ArrowType, pa
from kraftool.reports.state import entities
from kraftool.reports.state.entity_objects import (
    AclEntity,
    BrokerEntity,
    ClientQuotaEntity,
    ConfigEntity,
    ControllerEntity,
    DelegationTokenEntity,
    FeatureEntity,
    PartitionEntity,
    ProducerIdsEntity,
    ScramCredentialEntity,
    TopicEntity,
)

ENTITIES: Mapping[str, tuple[str, type[Any]]] = MappingProxyType(
    {
        "features": (entities.FEATURES, FeatureEntity),
        "brokers": (entities.BROKERS, BrokerEntity),
        "controllers": (entities.CONTROLLERS, ControllerEntity),
        "topics": (entities.TOPICS, TopicEntity),
        "partitions": (entities.PARTITIONS, PartitionEntity),
        "configs": (entities.CONFIGS, ConfigEntity),
        "client_quotas": (entities.QUOTAS, ClientQuotaEntity),
        "producer_ids": (entities.PRODUCER_IDS, ProducerIdsEntity),
        "acls": (entities.ACLS, AclEntity),
        "scram_credentials": (entities.SCRAM, ScramCredentialEntity),
        "delegation_tokens": (entities.TOKENS, DelegationTokenEntity),
    }
)
"""By the name of their rows: the kind of the entities, and their form."""

_SCALARS = {str: pa.string, bool: pa.bool_, int: pa.int32, float: pa.float64}
_LONGS = frozenset({"next_producer_id", "issue_timestamp", "max_timestamp", "expiration_timestamp"})
"""Attributes of entities that are 64 bits in Kafka's records."""

_NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "topics": {"name": "topic"},
        "partitions": {"leader_id": "leader", "directory_ids": "directories"},
        "brokers": {
            "is_fenced": "fenced",
            "is_in_controlled_shutdown": "in_controlled_shutdown",
            "epoch": "broker_epoch",
            "directory_ids": "log_dirs",
            "cordoned_directory_ids": "cordoned_log_dirs",
        },
    }
)
"""The columns whose attribute has another name: here a name means the same in all rows."""


@cache
def entity_columns(rows: str) -> Mapping[str, ArrowType]:
    """The columns of one kind of entities, by their names."""
    members, names = dict(_members(ENTITIES[rows][1])), _NAMES.get(rows, {})
    if rows == "brokers":
        members["epoch"] = pa.int64()
    return MappingProxyType({names.get(name, name): kind for name, kind in members.items()})


def attribute_of(rows: str, column: str) -> str:
    """The attribute of an entity that a column has."""
    attributes = {name: attribute for attribute, name in _NAMES.get(rows, {}).items()}
    return attributes.get(column, column)


def _members(form: type[Any]) -> list[tuple[str, ArrowType]]:
    hints = get_type_hints(form)
    return [
        (field.name, pa.int64() if field.name in _LONGS else _type(hints[field.name]))
        for field in fields(form)
    ]


def _type(hint: Any) -> ArrowType:
    if get_origin(hint) is tuple:
        return pa.list_(pa.field("element", _type(get_args(hint)[0])))
    if is_dataclass(hint):
        assert isinstance(hint, type)
        return pa.struct(_members(hint))
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    if get_origin(kinds[0]) is tuple:
        return _type(kinds[0])
    # JSON has no NaN, so that a number may be a text there. Arrow has it.
    return _SCALARS[kinds[0]]()
