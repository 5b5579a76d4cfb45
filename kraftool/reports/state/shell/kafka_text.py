"""The texts of the tree's files, character for character what Kafka 4.3.0's classes print.

Owns these forms and the names behind Kafka's numbers in them. Whoever asks says whether secrets
may be shown; a mask takes the place of each one that may not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kraftool.decoders.redact import MASK
from kraftool.image.acls import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
    StandardAcl,
)
from kraftool.image.cluster import (
    BrokerRegistration,
    ControllerRegistration,
    FeatureRange,
    RegisteredEndpoint,
)
from kraftool.image.delegation_tokens import DelegationToken
from kraftool.image.image import Provenance
from kraftool.image.metadata_version import level_name
from kraftool.image.scram import ScramCredential
from kraftool.image.topics import RECOVERED, PartitionRegistration

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
UNLIMITED = 32767
"""A range up to here is printed without an end."""


def _enum(names: Sequence[str], code: int, *, otherwise: str = "UNKNOWN") -> str:
    return names[code] if 0 <= code < len(names) else otherwise


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _list(items: Iterable[object]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _optional(text: str | None) -> str:
    return "Optional.empty" if text is None else f"Optional[{text}]"


def feature_range(supported: FeatureRange) -> str:
    if supported.min == supported.max:
        return str(supported.min)
    if supported.max == UNLIMITED:
        return f"{supported.min}+"
    return f"{supported.min}-{supported.max}"


def metadata_version(level: int | None) -> str:
    """A level that has no name yet is given by its number."""
    return _optional(None if level is None else level_name(level) or f"level {level}")


def _endpoint(endpoint: RegisteredEndpoint) -> str:
    protocol = _enum(SECURITY_PROTOCOLS, endpoint.security_protocol, otherwise="null")
    return (
        f"Endpoint(listenerName='{endpoint.name}', securityProtocol={protocol},"
        f" host='{endpoint.host}', port={endpoint.port})"
    )


def _features(features: Mapping[str, FeatureRange]) -> str:
    ranges = (f"{name}: {feature_range(features[name])}" for name in sorted(features))
    return f"{{{', '.join(ranges)}}}"


def broker_registration(broker: BrokerRegistration) -> str:
    cordoned = broker.cordoned_directories
    return (
        f"BrokerRegistration(id={broker.id}, epoch={broker.epoch},"
        f" incarnationId={broker.incarnation_id},"
        f" listeners={_list(map(_endpoint, broker.listeners))},"
        f" supportedFeatures={_features(broker.features)}, rack={_optional(broker.rack)},"
        f" fenced={_bool(broker.fenced)},"
        f" inControlledShutdown={_bool(broker.in_controlled_shutdown)},"
        f" isMigratingZkBroker={_bool(broker.is_migrating_zk_broker)},"
        f" directories={_list(broker.directories)},"
        f" cordonedDirectories={'null' if cordoned is None else _list(cordoned)})"
    )


def controller_registration(controller: ControllerRegistration) -> str:
    return (
        f"ControllerRegistration(id={controller.id}, incarnationId={controller.incarnation_id},"
        f" zkMigrationReady={_bool(controller.zk_migration_ready)},"
        f" listeners={_list(map(_endpoint, controller.listeners))},"
        f" supportedFeatures={_features(controller.features)})"
    )


def partition_registration(partition: PartitionRegistration) -> str:
    state = "RECOVERED" if partition.leader_recovery_state == RECOVERED else "RECOVERING"
    return (
        f"PartitionRegistration(replicas={_list(partition.replicas)},"
        f" directories={_list(partition.directories)}, isr={_list(partition.isr)},"
        f" removingReplicas={_list(partition.removing_replicas)},"
        f" addingReplicas={_list(partition.adding_replicas)}, elr={_list(partition.elr)},"
        f" lastKnownElr={_list(partition.last_known_elr)}, leader={partition.leader},"
        f" leaderRecoveryState={state}, leaderEpoch={partition.leader_epoch},"
        f" partitionEpoch={partition.partition_epoch})"
    )


def standard_acl(acl: StandardAcl) -> str:
    return (
        f"StandardAcl[resourceType={_enum(ACL_RESOURCES, acl.resource_type)},"
        f" resourceName={acl.resource_name},"
        f" patternType={_enum(ACL_PATTERNS, acl.pattern_type)},"
        f" principal={acl.principal}, host={acl.host},"
        f" operation={_enum(ACL_OPERATIONS, acl.operation)},"
        f" permissionType={_enum(ACL_PERMISSIONS, acl.permission_type)}]"
    )


def scram_credential(credential: ScramCredential, *, show_secrets: bool) -> str:
    secrets = (credential.salt, credential.stored_key, credential.server_key)
    salt, stored_key, server_key = (secret.hex() if show_secrets else MASK for secret in secrets)
    return (
        f"ScramCredentialData(salt={salt}, storedKey={stored_key}, serverKey={server_key},"
        f" iterations={credential.iterations})"
    )


def delegation_token(token: DelegationToken) -> str:
    """Its parentheses do not match in Kafka either."""
    return (
        f"DelegationTokenDatatokenId={token.id}(owner={token.owner}"
        f"(tokenRequester={token.requester}(renewers={' '.join(token.renewers)},"
        f" issueTimestamp={token.issue_timestamp}, maxTimestamp={token.max_timestamp}),"
        f" expiryTimestamp={token.expiration_timestamp}"
    )


def provenance(of: Provenance) -> str:
    return f"offset {of.last_offset}, epoch {of.last_epoch}, time {instant(of.last_timestamp)}"


def instant(milliseconds: int) -> str:
    """A moment in UTC in Java's ISO form, for any int64: no zeros end the fraction."""
    seconds, millisecond = divmod(milliseconds, 1000)
    days, second = divmod(seconds, 86_400)
    year, month, day = _civil(days)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    fraction = f".{millisecond:03d}".rstrip("0") if millisecond else ""
    return (
        f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"
        f"T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}{fraction}Z[UTC]"
    )


def _civil(days: int) -> tuple[int, int, int]:
    """The date so many days after 1970-01-01, for years that datetime does not have."""
    # A year that starts with March has its odd day last; 400 of them are 146 097 days.
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    return era * 400 + year + (month >= 10), month + 3 if month < 10 else month - 9, day + 1
