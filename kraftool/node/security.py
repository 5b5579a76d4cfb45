"""How this node's listeners and its own connections are secured, from its configuration.

Owns nothing but the way there: `kraftool.net` knows Kafka's keys.
"""

from __future__ import annotations

from kraftool.net.security import ClientSecurity, SecurityProtocol, ServerSecurity
from kraftool.node.config import ConfigRefused, NodeConfig
from kraftool.node.process import Security


def security_of(config: NodeConfig) -> Security:
    """Raises ConfigRefused for what is not supported."""
    for each in config.bound:
        if each.protocol.value != SecurityProtocol.PLAINTEXT.value:
            raise ConfigRefused(
                config.file, (f"listener {each.name}: {each.protocol.value} is not supported yet",)
            )
    return Security(servers=lambda name: ServerSecurity(), client=ClientSecurity())
