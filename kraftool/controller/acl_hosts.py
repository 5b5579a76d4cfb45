"""The hosts of ACLs: addresses as Java writes them, and the address ranges of Kafka 4.4.

Owns the comparison of a client's address with an ACL's host, which is one of text, and the reasons
for which Kafka cannot read a range, in its words. It resolves no names.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

from kraftool.decoders.java_text import read_int32

ANY_HOST = "*"
_IPV4 = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})", re.ASCII)
_IPV4_RANGE = re.compile(rf"({_IPV4.pattern})/(\d{{1,2}})", re.ASCII)

Range = ipaddress.IPv4Network | ipaddress.IPv6Network


def host_of(address: str | bytes) -> str:
    """Return a client's address as Java's InetAddress writes it: IPv6 in full, without ::, and an
    IPv4 address in IPv6's form as IPv4."""
    text, mark, scope = address.partition("%") if isinstance(address, str) else ("", "", "")
    try:
        parsed = ipaddress.ip_address(text if isinstance(address, str) else address)
    except ValueError:
        return str(address)
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    groups = (f"{int(group, 16):x}" for group in parsed.exploded.split(":"))
    return ":".join(groups) + mark + scope


def is_range(host: str) -> bool:
    return "/" in host


def range_problem(text: str) -> str | None:
    """Return why this is no range, as Kafka 4.4 says it; None for a range."""
    try:
        _range(text)
    except ValueError as error:
        return str(error)
    return None


def is_in_range(host: str, text: str) -> bool:
    """True if a client's address is in a range. Nothing is in what is no range."""
    try:
        span = _range(text)
        if isinstance(span, ipaddress.IPv4Network):
            address: ipaddress.IPv4Address | ipaddress.IPv6Address = _ipv4(host)
        else:
            address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return False
    # Kafka's library finds 0.0.0.0 in no range.
    return address in span and address != ipaddress.IPv4Address(0)


@lru_cache(maxsize=1024)
def _range(text: str) -> Range:
    return _ipv6_range(text) if ":" in text else _ipv4_range(text)


def _ipv4_range(text: str) -> Range:
    match = _IPV4_RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f"Could not parse [{text}]")
    address = _ipv4(match[1])
    return ipaddress.IPv4Network((address, _limited(match[6], 32)), strict=False)


def _ipv4(text: str) -> ipaddress.IPv4Address:
    match = _IPV4.fullmatch(text)
    if match is None:
        raise ValueError(f"Could not parse [{text}]")
    return ipaddress.IPv4Address(bytes(_limited(part, 255) for part in match.groups()))


def _limited(digits: str, highest: int) -> int:
    if int(digits) > highest:
        raise ValueError(f"Value [{int(digits)}] not in range [0,{highest}]")
    return int(digits)


def _ipv6_range(text: str) -> Range:
    start, _, length_text = text.partition("/")
    length = read_int32(length_text)
    if length is None:
        raise ValueError(f"Could not parse [{text}] - invalid prefix length")
    if not 0 <= length <= 128:
        raise ValueError(f"Could not parse [{text}] - prefix length must be between 0 and 128")
    try:
        address = ipaddress.IPv6Address(start)
    except ValueError:
        raise ValueError(f"Could not parse [{start}]") from None
    if address.ipv4_mapped is not None:
        raise ValueError(f"Could not parse [{start}] - not an IPv6 address")
    return ipaddress.IPv6Network((address, length), strict=False)
