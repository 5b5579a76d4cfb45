"""The permissions of the client of one request.

Owns the list of what was refused to it: whoever answers the request reports these. Decisions that
look at single topics and resources ask here while they are made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kraftool.controller.authorizer import CLUSTER_NAME
from kraftool.decoders.error_codes import Error
from kraftool.image.acls import ACL_OPERATIONS
from kraftool.image.configs import GROUP, TOPIC, ConfigResource

Decide = Callable[[str, str, str], bool]
"""True if an operation on a type of resource and its name is allowed."""

CLUSTER_OPERATIONS = {
    ACL_OPERATIONS.index(name): name
    for name in (
        "CREATE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", "IDEMPOTENT_WRITE",
        "ALTER", "DESCRIBE",
    )
}  # fmt: skip
"""The operations that there are on the cluster, by their numbers."""


class NotPermitted(NamedTuple):
    """Something that a client tried and may not do."""

    operation: str
    resource: str
    name: str


class Permissions:
    """Permissions of one client."""

    __slots__ = ("_decide", "refused")

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self.refused: list[NotPermitted] = []
        """In the order in which it was tried."""

    def allows(
        self, operation: str, resource: str, name: str = CLUSTER_NAME, *, is_tried: bool = True
    ) -> bool:
        """True if the client may do it. `is_tried`: False for a mere question, on which no more
        depends than how much the client is told."""
        if self._decide(operation, resource, name):
            return True
        if is_tried:
            self.refused.append(NotPermitted(operation, resource, name))
        return False


def everything() -> Permissions:
    """Return the permissions of whoever asks a controller without an authorizer."""
    return Permissions(lambda operation, resource, name: True)


class ConfigPermission(NamedTuple):
    """The resource whose permissions a resource with configs has."""

    resource: str
    name: str
    error: Error
    """The refusal's."""


def config_permission(resource: ConfigResource) -> ConfigPermission:
    """Return where the permission for a resource's configs is: topics and groups have their own."""
    if resource.type == TOPIC:
        return ConfigPermission("TOPIC", resource.name, Error.TOPIC_AUTHORIZATION_FAILED)
    if resource.type == GROUP:
        return ConfigPermission("GROUP", resource.name, Error.GROUP_AUTHORIZATION_FAILED)
    return ConfigPermission("CLUSTER", CLUSTER_NAME, Error.CLUSTER_AUTHORIZATION_FAILED)
