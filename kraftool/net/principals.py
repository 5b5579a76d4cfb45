"""The principal of a certificate: its distinguished name, through ssl.principal.mapping.rules.

Owns the name as Java writes it (RFC 2253), as super.users has it, and the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftool.image.acls import ANONYMOUS
from kraftool.net.providers import SettingsError

if TYPE_CHECKING:
    from cryptography.x509 import NameAttribute

_KNOWN = {
    "2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET",
    "2.5.4.10": "O", "2.5.4.11": "OU", "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}  # fmt: skip
_RULE = re.compile(r"(?:DEFAULT|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?))(?:,\s*|\s*$)")


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str] | None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        if self.pattern is None:
            return name
        match = self.pattern.fullmatch(name)
        if match is None:
            return None
        mapped_name = match.expand(self.replacement)
        return {"L": mapped_name.lower, "U": mapped_name.upper}.get(
            self.case, lambda: mapped_name
        )()


def mapping(rules: str) -> Callable[[bytes | None], str]:
    """The principal of a certificate (DER) by these rules; without one it is nobody."""
    parsed = _parse(rules)

    def principal(certificate: bytes | None) -> str:
        if certificate is None:
            return ANONYMOUS
        name = distinguished_name(certificate)
        for rule in parsed:
            mapped_name = rule.apply(name)
            if mapped_name is not None:
                return f"User:{mapped_name}"
        return ANONYMOUS

    return principal


def _parse(rules: str) -> list[_Rule]:
    text, parsed_rules, at = rules.strip() or "DEFAULT", [], 0
    while at < len(text):
        match = _RULE.match(text, at)
        if match is None:
            raise SettingsError(
                f"ssl.principal.mapping.rules cannot be read from {text[at:][:60]!r}"
            )
        at = match.end()
        if match[1] is None:
            parsed_rules.append(_Rule(None))
            continue
        try:
            # Java writes groups as $1 and named ones as ${name}.
            replacement = re.sub(r"\$(\d)", r"\\g<\1>", match[2])
            replacement = re.sub(r"\$\{(\w+)\}", r"\\g<\1>", replacement)
            parsed_rules.append(_Rule(re.compile(match[1]), replacement, match[3]))
        except re.error as error:
            raise SettingsError(f"ssl.principal.mapping.rules: {match[1]!r}: {error}") from None
    return parsed_rules


def distinguished_name(certificate: bytes) -> str:
    """The subject as Java's X500Principal names it."""
    from cryptography import x509

    subject = x509.load_der_x509_certificate(certificate).subject
    return ",".join("+".join(_part(name) for name in names) for names in reversed(subject.rdns))


def _part(attribute: NameAttribute[str | bytes]) -> str:
    from cryptography import x509

    oid = attribute.oid.dotted_string
    if oid in _KNOWN:
        return f"{_KNOWN[oid]}={_escaped(str(attribute.value))}"
    # What the RFC has no keyword for is told by number, its value in DER.
    return f"{oid}=#{_value(x509.Name([attribute]).public_bytes()).hex()}"


def _value(name: bytes) -> bytes:
    """The value of the one attribute of a name: SEQUENCE, SET, SEQUENCE, the type, and it."""
    at = 0
    for _ in range(3):
        at = _body(name, at)[0]
    start, size = _body(name, at)
    return name[start + size :]


def _body(data: bytes, at: int) -> tuple[int, int]:
    """Return where the body of a DER element begins, and its size."""
    size = data[at + 1]
    if size < 0x80:
        return at + 2, size
    count = size & 0x7F
    return at + 2 + count, int.from_bytes(data[at + 2 : at + 2 + count], "big")


def _escaped(value: str) -> str:
    """As Java does: these characters anywhere, blanks at both ends."""
    escaped = re.sub(r'([,=+<>#;"\\])', r"\\\1", value)
    return re.sub(r"^ +| +$", lambda blanks: "\\ " * len(blanks[0]), escaped)
