"""The security of this node's listeners and of its own connections, from its configuration.

Owns the way from the configuration to `kraftool.net`, and from the image to the SCRAM credentials
that its listeners check against: those are metadata.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from kraftool.image.image import MetadataImage
from kraftool.image.scram import MECHANISMS, ScramCredential
from kraftool.net.security import ClientSecurity, ServerSecurity
from kraftool.net.settings import listener_security, own_validity, peer_security
from kraftool.net.stores import CertificateValidity
from kraftool.node.config import NodeConfig
from kraftool.node.narration import say

_SOON = timedelta(days=30)
_NUMBERS = {name: number for number, name in MECHANISMS.items()}


class Security:
    """The security of this node's listeners, and for reaching others."""

    def __init__(self, config: NodeConfig) -> None:
        """Raises SettingsError for what is not supported, by its name."""
        self.image: Callable[[], MetadataImage | None] = lambda: None
        """Where the metadata is, once there is any."""
        self.servers: dict[str, ServerSecurity] = {
            listener.name: listener_security(
                config.security, listener.name, listener.protocol, scram_lookup=self._credential
            )
            for listener in config.bound
        }
        reached = {config.default_listener: config.default_protocol}
        # The node presents a certificate on its own listeners, and to the other controllers.
        named = reached | {listener.name: listener.protocol for listener in config.bound}
        validities = {
            name: own_validity(config.security, name, protocol) for name, protocol in named.items()
        }
        self.validities: dict[str, CertificateValidity] = {
            name: certificate_validity
            for name, certificate_validity in validities.items()
            if certificate_validity is not None
        }
        """Of the certificates that the node presents, by listener."""
        self.client: ClientSecurity = peer_security(
            config.security, config.default_listener, config.default_protocol
        )

    def warn_of_certificates(self, now: datetime | None = None) -> None:
        """Warn of certificates that are not valid, or end within 30 days."""
        now = now or datetime.now(UTC)
        by_store: dict[CertificateValidity, list[str]] = {}
        for listener, validity in self.validities.items():
            by_store.setdefault(validity, []).append(listener)
        for certificate_validity, listeners in by_store.items():
            text = ""
            if certificate_validity.ends <= now:
                text = "own certificate has expired"
            elif certificate_validity.begins > now:
                text = "own certificate is not valid yet"
            elif certificate_validity.ends <= now + _SOON:
                text = "own certificate expires soon"
            if text:
                say(
                    text,
                    logging.WARNING,
                    store=certificate_validity.store,
                    subject=certificate_validity.subject,
                    validFrom=_shown(certificate_validity.begins),
                    validUntil=_shown(certificate_validity.ends),
                    listeners=listeners,
                )

    def _credential(self, mechanism: str, user: str) -> ScramCredential | None:
        image = self.image()
        if image is None or mechanism not in _NUMBERS:
            return None
        return image.scram.mechanisms.get(_NUMBERS[mechanism], {}).get(user)


def _shown(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
