"""SCRAM credentials for a new cluster, as `--add-scram` of kafka-storage takes them.

Owns the reading of `MECHANISM=[name=…,password=…]` and the keys that become of a password. It
refuses to keep the password, and to show any of it: what is wrong is said without the value.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from dataclasses import dataclass

from kraftool.decoders import codec
from kraftool.decoders.java_text import read_int32
from kraftool.decoders.json_marks import Hidden
from kraftool.image.metadata_version import LATEST_LEVEL
from kraftool.image.scram import MECHANISMS, ScramImage
from kraftool.image.scram_keys import DIGESTS, ITERATIONS, keys_of
from kraftool.storage.format_levels import FormatImpossible

DEFAULT_ITERATIONS = ITERATIONS[0]
_IDS = {name: number for number, name in MECHANISMS.items()}
_KEYS = frozenset({"name", "salt", "iterations", "password", "saltedpassword"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramUser:
    """A user whose credential is written."""

    name: str
    mechanism: str
    record: Hidden[codec.Value]


def scram_users_of(image: ScramImage) -> list[ScramUser]:
    """The users of a cluster, with the keys that it has."""
    records = (record for _, _, record in image.records(LATEST_LEVEL, lambda _: None))
    return [
        ScramUser(name=record["name"], mechanism=MECHANISMS[record["mechanism"]], record=record)
        for record in records
    ]


def scram_user(argument: str) -> ScramUser:
    """Read one `--add-scram`. Raises FormatImpossible for what Kafka refuses."""
    mechanism, mark, config = argument.strip().partition("=")
    if not mark:
        raise _refused("there is no = after the mechanism")
    if mechanism not in _IDS:
        raise _refused(f"{mechanism} is not one of {', '.join(sorted(_IDS))}")
    if not config.startswith("[") or not config.endswith("]"):
        raise _refused("the part after the mechanism must be in [ ]")
    given = _components(config[1:-1])
    name = given.get("name")
    if name is None:
        raise _refused("there is no name")
    salt = _bytes("salt", given["salt"]) if "salt" in given else secrets.token_bytes(24)
    iterations = _iterations(given.get("iterations"))
    salted = _salted(given, salt, iterations, DIGESTS[mechanism])
    keys = keys_of(mechanism, salted)
    return ScramUser(
        name=name,
        mechanism=mechanism,
        record={
            "name": name,
            "mechanism": _IDS[mechanism],
            "salt": salt,
            "storedKey": keys.stored_key,
            "serverKey": keys.server_key,
            "iterations": iterations,
        },
    )


def _components(text: str) -> dict[str, str]:
    components = {}
    for part in text.split(","):
        key, mark, value = part.partition("=")
        if not mark:
            raise _refused("a part of it has no =")
        if key not in _KEYS:
            raise _refused(f"it knows no {key}")
        if len(value) >= 2 and value.startswith('"') and value.endswith('"'):
            value = value[1:-1]
        components[key] = value
    return components


def _iterations(text: str | None) -> int:
    if text is None:
        return DEFAULT_ITERATIONS
    number = read_int32(text)
    if number is None or number not in ITERATIONS:
        raise _refused(f"iterations are {ITERATIONS[0]} to {ITERATIONS[-1]}")
    return number


def _salted(given: dict[str, str], salt: bytes, iterations: int, digest: str) -> bytes:
    if "password" in given:
        return hashlib.pbkdf2_hmac(digest, given["password"].encode(), salt, iterations)
    if "saltedpassword" not in given:
        raise _refused("there is neither password nor saltedpassword")
    if "salt" not in given:
        raise _refused("a saltedpassword goes with its salt")
    return _bytes("saltedpassword", given["saltedpassword"])


def _bytes(key: str, text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        raise _refused(f"{key} is not base64") from None


def _refused(why: str) -> FormatImpossible:
    return FormatImpossible(
        f"--add-scram: {why}",
        hint="e.g. SCRAM-SHA-256=[name=alice,password=…], or salt=…,saltedpassword=…",
    )
