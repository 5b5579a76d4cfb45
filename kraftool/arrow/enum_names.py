"""Kafka's words for fields of records that are numbers.

Owns which columns of words there are beside those of the numbers. A number that has no word here is
null there; the column of the number always has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kraftool.image.acls import (
    ACL_OPERATIONS,
    ACL_PATTERNS,
    ACL_PERMISSIONS,
    ACL_RESOURCES,
)
from kraftool.image.configs import RESOURCE_TYPES
from kraftool.image.scram import MECHANISMS

Words = Mapping[int, str]


def _in_order(names: Sequence[str]) -> Words:
    return dict(enumerate(names))


_RECOVERY: Words = {0: "RECOVERED", 1: "RECOVERING"}

_WORDS: Mapping[str, Mapping[str, Words]] = {
    "AccessControlEntryRecord": {
        "resourceType": _in_order(ACL_RESOURCES),
        "patternType": _in_order(ACL_PATTERNS),
        "operation": _in_order(ACL_OPERATIONS),
        "permissionType": _in_order(ACL_PERMISSIONS),
    },
    "BrokerRegistrationChangeRecord": {
        "fenced": {-1: "UNFENCE", 0: "NONE", 1: "FENCE"},
        "inControlledShutdown": {0: "NONE", 1: "IN_CONTROLLED_SHUTDOWN"},
    },
    "ConfigRecord": {"resourceType": RESOURCE_TYPES},
    "PartitionChangeRecord": {"leaderRecoveryState": _RECOVERY},
    "PartitionRecord": {"leaderRecoveryState": _RECOVERY},
    "RemoveUserScramCredentialRecord": {"mechanism": MECHANISMS},
    "UserScramCredentialRecord": {"mechanism": MECHANISMS},
}


def words_of(record: str) -> Mapping[str, tuple[str, Words]]:
    """Columns of words of a record type: by their names, the field of the number and its words."""
    fields = _WORDS.get(record, {})
    return MappingProxyType({f"{name}Name": (name, words) for name, words in fields.items()})
