"""Hosts as voters and brokers are recorded with them: whether others can reach a node there.

Owns what can be seen of an address without asking a resolver.
"""

from __future__ import annotations

import re
from ipaddress import ip_address

_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")


def is_local(host: str) -> bool:
    """True if a host is the machine itself, whichever machine asks."""
    if host == "localhost" or host.endswith(".localhost") or host.startswith("localhost."):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def why_unreachable(host: str, port: int) -> str:
    """Why no node could connect there, as far as the text shows; empty if nothing does."""
    if not host:
        return "it has no host"
    if not 0 < port < 1 << 16:
        return "it has no port"
    try:
        if ip_address(host).is_unspecified:
            return "it is the wildcard address"
    except ValueError:
        labels = host.removesuffix(".").split(".")
        if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
            return "this is no host name"
        if all(label.isdigit() for label in labels):
            return "this is no address"
    return ""
