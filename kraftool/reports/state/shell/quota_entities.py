"""Names of client quota entities: `clientId(a)_user(b)`, and back.

Owns the spelling: parts in a fixed order, parentheses and backslashes in a name escaped. A part
that stands for the default is its type alone (`user`, `clientId(a)_user`), as a default resource
is in the directory of configs. Kafka leaves such a part out of the name, cannot find the entity
again by what is left, and gives two entities one name; here every entity has its own.
"""

from __future__ import annotations

import re

from kraftool.image.client_quotas import QuotaEntity

_SHOWN = {"client-id": "clientId", "ip": "ip", "user": "user"}
_TYPES = {shown: kind for kind, shown in _SHOWN.items()}
_PART = re.compile(r"([^()\\_]+)(?:\(((?:[^()\\]|\\.)*)\))?(?:_|\Z)", re.DOTALL)
_SPECIAL = re.compile(r"[\\()]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def entity_name(entity: QuotaEntity) -> str:
    """The name of an entity's directory."""
    order = list(_SHOWN)
    parts = sorted(entity, key=lambda part: order.index(part[0]) if part[0] in order else 9)
    return "_".join(_part(kind, name) for kind, name in parts)


def _part(kind: str, name: str | None) -> str:
    shown = _SHOWN.get(kind, kind)
    return shown if name is None else f"{shown}({_SPECIAL.sub(lambda m: chr(92) + m[0], name)})"


def read_entity(text: str) -> QuotaEntity | None:
    """The entity of a name, its parts in any order; None for what is no such name."""
    parts: dict[str, str | None] = {}
    position = 0
    while position < len(text):
        match = _PART.match(text, position)
        if match is None:
            return None
        name = match[2]
        kind = _TYPES.get(match[1], match[1])
        parts[kind] = None if name is None else _ESCAPED.sub(lambda escape: escape[1], name)
        position = match.end()
    return None if not parts or text.endswith("_") else tuple(sorted(parts.items()))
