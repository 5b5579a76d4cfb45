"""Permissions of clients on this node, by its configuration and the ACLs of the newest image.

Owns which authorizer a configuration means, and the time before the first metadata is loaded. Until
then only super users are let in. That stays so on a node that cannot use ACLs: with another class
of authorizer, and if it replays no metadata.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kraftool.controller.authorizer import AuthorizerRules, Client, StandardAuthorizer
from kraftool.controller.permissions import Permissions, everything
from kraftool.image.acls import AclsImage
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import CIDR_ACL_LEVEL
from kraftool.node.config import STANDARD_AUTHORIZER, NodeConfig
from kraftool.raft.raft import Raft


class FirstLoad:
    """Notices when the metadata is loaded as far as it was known to be committed at first. A log
    that has no metadata.version yet does not count: Kafka waits for a first record, too."""

    def __init__(
        self,
        raft: Callable[[], Raft],
        image: Callable[[], MetadataImage | None],
        image_end: Callable[[], int],
    ) -> None:
        """`image_end`: gives the first offset whose record the image does not have."""
        self._raft, self._image, self._image_end = raft, image, image_end
        self._committed: int | None = None
        self._is_over = False

    def is_over(self) -> bool:
        if not self._is_over:
            if self._committed is None:
                self._committed = self._raft().role.high_watermark
            image = self._image()
            has_begun = image is not None and image.features.metadata_version is not None
            committed = self._committed
            self._is_over = has_begun and committed is not None and self._image_end() >= committed
        return self._is_over


class Authorization:
    """Gives each client its permissions."""

    def __init__(
        self,
        authorizer: str,
        rules: AuthorizerRules,
        image: Callable[[], MetadataImage | None],
        is_loaded: Callable[[], bool],
    ) -> None:
        """`authorizer`: its class; empty if there is none. `image`: gives None on a node that
        replays no metadata."""
        self._authorizer, self._rules = authorizer, rules
        self._image, self._is_loaded = image, is_loaded
        self._of_image: tuple[AclsImage, bool, StandardAuthorizer] | None = None

    @property
    def uses_acls(self) -> bool:
        return self._authorizer == STANDARD_AUTHORIZER

    @property
    def why_no_acls(self) -> str:
        """The reason why there are no ACLs here, if there are none. Kafka's words, if it is so
        there, too."""
        if not self._authorizer:
            return "No Authorizer is configured."
        return f"This node cannot run {self._authorizer}."

    def permissions(self, client: Client) -> Permissions | None:
        """Return what a client may do; None as long as nobody can say that."""
        if not self._authorizer or client.principal in self._rules.super_users:
            return everything()
        image = self._image()
        if not self.uses_acls or image is None:
            return Permissions(lambda operation, resource, name: False)
        if not self._is_loaded():
            return None
        return Permissions(partial(self._decider(image).allows, client))

    def _decider(self, image: MetadataImage) -> StandardAuthorizer:
        knows_ranges = (image.features.metadata_version or 0) >= CIDR_ACL_LEVEL
        kept = self._of_image
        if kept is None or kept[0] is not image.acls or kept[1] != knows_ranges:
            made = StandardAuthorizer(image.acls.by_id, self._rules, knows_ranges=knows_ranges)
            kept = self._of_image = image.acls, knows_ranges, made
        return kept[2]


def authorization_of(
    config: NodeConfig,
    image: Callable[[], MetadataImage | None],
    is_loaded: Callable[[], bool],
) -> Authorization:
    """Return the authorization that a configuration says."""
    rules = AuthorizerRules(
        super_users=config.super_users,
        allows_without_acls=config.allows_without_acls,
    )
    return Authorization(config.authorizer, rules, image, is_loaded)
