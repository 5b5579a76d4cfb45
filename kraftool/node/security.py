"""How this node's listeners and its own connections are secured, from its configuration.

Owns the way from the configuration to `kraftool.net`, and from the image to the SCRAM credentials
that its listeners check against: those are metadata.
"""

from __future__ import annotations

from collections.abc import Callable

from kraftool.image.image import MetadataImage
from kraftool.image.scram import MECHANISMS, ScramCredential
from kraftool.net.security import ClientSecurity, ServerSecurity
from kraftool.net.settings import listener_security, peer_security
from kraftool.node.config import NodeConfig

_NUMBERS = {name: number for number, name in MECHANISMS.items()}


class Security:
    """How listeners are reached, and others."""

    def __init__(self, config: NodeConfig) -> None:
        """Raises SettingsError for what is not supported, by its name."""
        self.image: Callable[[], MetadataImage | None] = lambda: None
        """Where the metadata is, once there is any."""
        self.servers: dict[str, ServerSecurity] = {
            each.name: listener_security(
                config.security, each.name, each.protocol, scram_lookup=self._credential
            )
            for each in config.bound
        }
        self.client: ClientSecurity = peer_security(
            config.security, config.default_listener, config.default_protocol
        )

    def _credential(self, mechanism: str, user: str) -> ScramCredential | None:
        image = self.image()
        if image is None or mechanism not in _NUMBERS:
            return None
        return image.scram.mechanisms.get(_NUMBERS[mechanism], {}).get(user)
