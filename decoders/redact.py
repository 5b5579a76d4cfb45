"""The secret parts of a decoded message, and the same message without them.

Owns the judgement for every message of the catalogue and for config values. It works on the JSON
form (and on the value form, which has the same names), never on bytes: whoever shows the raw bytes
of a record that cannot be decoded asks SENSITIVE_KEYS first. It refuses to guess: a config that is
not known to be harmless is masked.

Not secret: a delegation token's id (the HMAC, its password, is computed from the id with the
cluster's secret key and never stored), the iterations of a SCRAM credential, principals, ACLs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kraftool.decoders.schema.config_names import HARMLESS

MASK = "[redacted]"

# Kafka's ConfigResource.Type ids.
TOPIC, BROKER = 2, 4

SENSITIVE_KEYS = frozenset({4, 10, 11})
"""Metadata records (config, delegation token, SCRAM) that are never shown as undecoded bytes."""

SECRET_PATHS: dict[str, tuple[str, ...]] = {
    "UserScramCredentialRecord": ("salt", "storedKey", "serverKey"),
    "AlterUserScramCredentialsRequest": ("upsertions.salt", "upsertions.saltedPassword"),
    "CreateDelegationTokenResponse": ("hmac",),
    "DescribeDelegationTokenResponse": ("tokens.hmac",),
    "ExpireDelegationTokenRequest": ("hmac",),
    "RenewDelegationTokenRequest": ("hmac",),
    # The whole exchange: a SCRAM server's first answer is the salt, PLAIN is the password itself.
    "SaslAuthenticateRequest": ("authBytes",),
    "SaslAuthenticateResponse": ("authBytes",),
    # Any of the others may be wrapped in these.
    "EnvelopeRequest": ("requestData", "requestPrincipal"),
    "EnvelopeResponse": ("responseData",),
    # Batches, of metadata or of somebody's data, undecoded.
    "FetchResponse": ("responses.partitions.records",),
    "FetchSnapshotResponse": ("topics.partitions.unalignedRecords",),
    "ProduceRequest": ("topicData.partitionData.records",),
    "ShareFetchResponse": ("responses.partitions.records",),
    "PushTelemetryRequest": ("metrics",),
}
"""Message name to the dotted paths of what is masked whole; lists on the way are walked through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigList:
    """The place of configs in a message: entries with a name and a value, below something with a
    type.

    `resource_type` is what the entries belong to; None where the message says it, in a field
    `resourceType` at `owner`.
    """

    owner: str = ""
    entries: str = ""
    resource_type: int | None = None
    name: str = "name"
    also_broker: bool = False


_STREAMS_TOPICS = ("stateChangelogTopics", "repartitionSourceTopics")

CONFIG_PATHS: dict[str, tuple[ConfigList, ...]] = {
    "ConfigRecord": (ConfigList(),),
    "AlterConfigsRequest": (ConfigList(owner="resources", entries="configs"),),
    "IncrementalAlterConfigsRequest": (ConfigList(owner="resources", entries="configs"),),
    "DescribeConfigsResponse": (
        ConfigList(owner="results", entries="configs"),
        # The synonyms of a topic's config are the broker's configs that give its default.
        ConfigList(owner="results", entries="configs.synonyms", also_broker=True),
    ),
    "CreateTopicsRequest": (ConfigList(entries="topics.configs", resource_type=TOPIC),),
    "CreateTopicsResponse": (ConfigList(entries="topics.configs", resource_type=TOPIC),),
    "StreamsGroupDescribeResponse": tuple(
        ConfigList(
            entries=f"groups.topology.subtopologies.{topics}.topicConfigs",
            resource_type=TOPIC,
            name="key",
        )
        for topics in _STREAMS_TOPICS
    ),
    "StreamsGroupHeartbeatRequest": tuple(
        ConfigList(
            entries=f"topology.subtopologies.{topics}.topicConfigs",
            resource_type=TOPIC,
            name="key",
        )
        for topics in _STREAMS_TOPICS
    ),
}
"""Message name to the configs in it, whose values are masked unless they are harmless."""


def is_harmless(resource_type: int, name: str) -> bool:
    """True if the value of this config may be shown.

    A broker's configs may be prefixed for one listener, `listener.name.LISTENER.`, and those of
    SASL for one mechanism of it, `listener.name.LISTENER.MECHANISM.`.
    """
    harmless = HARMLESS.get(resource_type, frozenset())
    if name in harmless:
        return True
    if resource_type != BROKER or not name.startswith("listener.name."):
        return False
    # As Kafka does, the listener's name ends at the first dot (DynamicBrokerConfig).
    base = name.removeprefix("listener.name.").partition(".")[2]
    if base in harmless:
        return True
    base = base.partition(".")[2]
    return base in harmless and (base.startswith("sasl.") or base == "connections.max.reauth.ms")


def config_value(resource_type: int, name: str, value: str | None) -> str | None:
    """Return the value as it may be shown; null, which deletes a config, stays null."""
    return value if value is None or is_harmless(resource_type, name) else MASK


def redact(record_name: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return the message without its secrets; one that can have none is returned as it is."""
    paths = SECRET_PATHS.get(record_name, ())
    configs = CONFIG_PATHS.get(record_name, ())
    if not paths and not configs:
        return data
    for path in paths:
        data = _at(data, path, lambda secret: MASK)
    for config in configs:
        data = _with_masked_configs(data, config)
    shown: dict[str, Any] = _without_unknown_tags(data)
    return shown


def _at(value: Any, path: str, change: Callable[[Any], Any]) -> Any:
    """Return a copy in which `change` was applied at the path; what is null or absent stays so."""
    if value is None:
        return None
    if isinstance(value, list):
        return [_at(member, path, change) for member in value]
    if not path:
        return change(value)
    name, _, rest = path.partition(".")
    if name not in value:
        return value
    return {**value, name: _at(value[name], rest, change)}


def _with_masked_configs(data: dict[str, Any], where: ConfigList) -> dict[str, Any]:
    def mask_owner(owner: dict[str, Any]) -> Any:
        kind = owner["resourceType"] if where.resource_type is None else where.resource_type

        def mask_entry(entry: dict[str, Any]) -> dict[str, Any]:
            name = entry[where.name]
            if where.also_broker and is_harmless(BROKER, name):
                return entry
            return {**entry, "value": config_value(kind, name, entry["value"])}

        return _at(owner, where.entries, mask_entry)

    masked: dict[str, Any] = _at(data, where.owner, mask_owner)
    return masked


def _without_unknown_tags(value: Any) -> Any:
    """Mask tagged fields of a newer Kafka, wherever: in these messages they may be secrets too."""
    if isinstance(value, list):
        return [_without_unknown_tags(member) for member in value]
    if not isinstance(value, dict):
        return value
    return {
        name: MASK if name == "unknownTaggedFields" else _without_unknown_tags(member)
        for name, member in value.items()
    }
