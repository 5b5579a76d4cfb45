"""The newest metadata.version of an installed Kafka, from the jars below its home folder.

Owns where that is: the class MetadataVersion in the server-common jar has a constant for each
level, and LATEST_PRODUCTION is the newest final one. kraftool reads the class and not the jar's
name, since vendors number their releases differently. It refuses to run Java.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass

from kraftool.image.metadata_version import LATEST_LEVEL, level_name, level_of
from kraftool.storage.format_levels import FormatImpossible

_JAR = re.compile(r"(?:kafka-)?server-common-[^/]*\.jar")
_CLASS = "org/apache/kafka/server/common/MetadataVersion.class"
_MAX_CLASS = 1 << 20
_LEVEL = re.compile(r"IBP_(\d+)_(\d+)_IV(\d+)")
_GETSTATIC, _PUTSTATIC = b"\xb2", b"\xb3"
_UTF8, _FIELD, _NAME_AND_TYPE = 1, 9, 12
_LONG, _DOUBLE = 5, 6
_SIZES = {3: 4, 4: 4, _LONG: 8, _DOUBLE: 8, 7: 2, 8: 2, 10: 4, 11: 4, 15: 3, 16: 2, 17: 4, 18: 4}
"""Bytes behind the tag of the other entries of a constant pool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledRelease:
    """The release for which an installed Kafka formats by itself."""

    name: str
    """Of its newest production level, as `4.3-IV0`."""
    jar: str


def installed_release(home: str) -> InstalledRelease:
    """Read the release of KAFKA_HOME. Raises FormatImpossible."""
    jar = _server_common(home)
    name = _latest(jar)
    if level_of(name) is None:
        raise FormatImpossible(
            f"{jar}: its newest metadata.version {name} is unknown to this kraftool, which knows up"
            f" to {level_name(LATEST_LEVEL)}",
            hint="install a newer kraftool, or give --release-version with an older release",
        )
    return InstalledRelease(name=name, jar=jar)


def _server_common(home: str) -> str:
    folder = os.path.join(home, "libs")
    try:
        jars = sorted(name for name in os.listdir(folder) if _JAR.fullmatch(name))
    except OSError as error:
        raise FormatImpossible(
            f"--kafka-home: {folder} cannot be read: {error.strerror or error}",
            hint="name the folder of a Kafka installation, with bin, config and libs in it",
        ) from None
    if len(jars) != 1:
        many = f"several server-common jars: {', '.join(jars)}"
        raise FormatImpossible(
            f"--kafka-home: {folder} has {many if jars else 'no server-common jar'}",
            hint="give --release-version",
        )
    return os.path.join(folder, jars[0])


def _latest(jar: str) -> str:
    """The name of the newest production level in a jar."""
    try:
        with zipfile.ZipFile(jar) as archive:
            if archive.getinfo(_CLASS).file_size > _MAX_CLASS:
                raise _unreadable(jar, "its class MetadataVersion is too large")
            data = archive.read(_CLASS)
    except KeyError:
        raise _unreadable(jar, "it has no class MetadataVersion") from None
    except OSError as error:
        raise _unreadable(jar, error.strerror or str(error)) from None
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise _unreadable(jar, str(error)) from None
    try:
        level = _production_level(data)
    except (struct.error, KeyError, IndexError, UnicodeDecodeError):
        level = None
    if level is None:
        raise _unreadable(jar, "its class MetadataVersion names no production level")
    return level


def _unreadable(jar: str, why: str) -> FormatImpossible:
    return FormatImpossible(f"{jar} cannot be read: {why}", hint="give --release-version")


def _production_level(data: bytes) -> str | None:
    """The level that a compiled MetadataVersion assigns to LATEST_PRODUCTION.

    Before 3.7 there is no such field: every level of the class is final.
    """
    names = _field_names(data)
    levels = {index: name for index, name in names.items() if _LEVEL.fullmatch(name)}
    for index, name in names.items():
        if name != "LATEST_PRODUCTION":
            continue
        stored = _PUTSTATIC + index.to_bytes(2, "big")
        for level, level_field in levels.items():
            if _GETSTATIC + level.to_bytes(2, "big") + stored in data:
                return _shown(level_field)
        return None
    newest = max(levels.values(), key=_order, default=None)
    return None if newest is None else _shown(newest)


def _order(field: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", field)]


def _shown(field: str) -> str:
    major, minor, step = _order(field)
    return f"{major}.{minor}-IV{step}"


def _field_names(data: bytes) -> dict[int, str]:
    """The names of the fields in a class's constant pool, by the index that bytecode uses."""
    if data[:4] != b"\xca\xfe\xba\xbe":
        return {}
    (count,) = struct.unpack_from(">H", data, 8)
    texts: dict[int, str] = {}
    pairs: dict[int, int] = {}
    fields: dict[int, int] = {}
    at, index = 10, 1
    while index < count:
        tag = data[at]
        if tag == _UTF8:
            (size,) = struct.unpack_from(">H", data, at + 1)
            texts[index] = data[at + 3 : at + 3 + size].decode("utf-8", "replace")
            at += 3 + size
        elif tag == _NAME_AND_TYPE:
            (pairs[index],) = struct.unpack_from(">H", data, at + 1)
            at += 5
        elif tag == _FIELD:
            (fields[index],) = struct.unpack_from(">H", data, at + 3)
            at += 5
        else:
            at += 1 + _SIZES[tag]
        index += 2 if tag in (_LONG, _DOUBLE) else 1  # a long or a double takes two indexes
    return {index: texts[pairs[pair]] for index, pair in fields.items()}
