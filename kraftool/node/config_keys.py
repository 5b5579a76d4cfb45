"""The keys that a server.properties may have: all that some release of Kafka knows.

Owns the question whether a key is one of Kafka's, so that a misspelt one is noticed; the names
themselves are the catalogue's. What the values may be is in `config_values.py` for those that the
node goes by.
"""

from __future__ import annotations

import re

from kraftool.decoders.redact import BROKER
from kraftool.decoders.schema.config_names import HARMLESS, MASKED

_SECURITY = ("ssl.", "sasl.", "security.", "listener.name.", "principal.builder.")
_MORE_OF_SECURITY = frozenset({"connections.max.reauth.ms"})
_KNOWN = (
    HARMLESS[BROKER]
    | MASKED[BROKER]
    | {"super.users", "allow.everyone.if.no.acl.found"}  # the authorizer's own
)
_OF_LISTENER = re.compile(r"listener\.name\.[^.]+\.(?:[a-z0-9-]+\.(?=sasl\.|connections\.))?")
_FREE = ("config.providers.", "rsm.config.", "rlmm.config.", "metrics.context.")
"""What these begin is a plug-in's to know."""


def is_of_security(key: str) -> bool:
    """True if a key says how connections are secured."""
    return key.startswith(_SECURITY) or key in _MORE_OF_SECURITY


def is_known(key: str) -> bool:
    """True if some release of Kafka knows the key, also as a listener's own."""
    if key.startswith(_FREE):
        return True
    return _OF_LISTENER.sub("", key, count=1) in _KNOWN
