"""Settings and lines of server logs without what may be secret in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kraftool.decoders import properties
from kraftool.decoders.redact import BROKER, MASK, is_harmless

_WORDS = rb"pass(?:word|wd|phrase)?|secret|token|jaas|credential|hmac|salt|stored_?key|server_?key"
_KEY = rb"[\w.\-]*(?:" + _WORDS + rb"|private[_.]?key|key\.?store\.key)[\w.\-]*"
_VALUE = rb"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\[[^\]\n]*\]|[^\s,;)}\]]+"
_PAIR = re.compile(
    rb"(?i)(?<![\w.\-])([\"']?" + _KEY + rb"[\"']?\s*(?:=>|[=:])\s*)(?:" + _VALUE + rb")"
)
_LOGIN = re.compile(rb"(?i)(LoginModule\s+(?:required|requisite|sufficient|optional)\s+)[^;\n]+")
_AUTHORIZATION = re.compile(rb"(?i)(\b(?:Basic|Bearer)\s+)[A-Za-z0-9+/._~=\-]{8,}")
_PEM = re.compile(rb"(-----BEGIN [A-Z ]*PRIVATE KEY-----).*?(?:-----END|\Z)", re.DOTALL)
_USER_INFO = re.compile(rb"(://[^\s/:@]*:)[^\s/@]+(?=@)")
_MASK = MASK.encode()


def masked_settings(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a server.properties, each one property, with values that may be shown."""
    for line in lines:
        (entry,) = properties.decode(line)[0].entries
        if is_harmless(BROKER, entry.key) or not entry.value:
            # Damage may have joined it with the line behind it.
            yield _PAIR.sub(rb"\1" + _MASK, line)
        else:
            yield properties.encode([(entry.key, MASK)]).splitlines()[-1]


def masked_lines(text: bytes) -> bytes:
    """Lines of a log without passwords, keys and tokens, as far as their names show them.

    The first line is left out: it may be the rest of one whose name is cut off.
    """
    whole = text.partition(b"\n")[2]
    for pattern in (_PEM, _LOGIN, _PAIR, _AUTHORIZATION, _USER_INFO):
        whole = pattern.sub(rb"\1" + _MASK, whole)
    return whole
