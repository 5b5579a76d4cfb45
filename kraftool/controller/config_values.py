"""The values that a config may have, whatever resource it belongs to.

Owns Kafka's types, ranges and lists; the ConfigDefs are `decoders/schema/resource_configs.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from kraftool.decoders.schema.resource_configs import ResourceConfig
from kraftool.image.metadata_version import level_of

LONGEST = 32767
_LARGEST = {"INT": 1 << 31, "LONG": 1 << 63}
_REPLICA = re.compile(r"[0-9]+:[0-9]+")
_NUMBER = re.compile(r"[+-]?[0-9]+")
_DOUBLE = re.compile(r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)[fFdD]?")
_COMMA = re.compile(r"\s*,\s*")
_BY_DURATION = "by_duration:"
# As Java writes one, and not negative.
_DURATION = re.compile(
    r"\+?P(?=.)([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]{0,9})?S)?)?", re.IGNORECASE
)


def known(configs: Mapping[str, ResourceConfig], level: int) -> dict[str, ResourceConfig]:
    """Those of the cluster's release: brokers of an older one would not know the others."""
    return {
        name: config
        for name, config in configs.items()
        if not config.since or level > (level_of(_release_before(config.since)) or 0)
    }


def _release_before(release: str) -> str:
    major, minor = release.split(".")
    return f"{major}.{int(minor) - 1}"


def problem(config: ResourceConfig, value: str) -> str | None:
    """Why a text is no value of a config; None if it is one."""
    text = value.strip()
    match config.type:
        case "BOOLEAN":
            return None if text.lower() in ("true", "false") else "it must be true or false"
        case "LIST":
            return _list_problem(config, text)
        case "STRING":
            if config.may_be_duration and text.startswith(_BY_DURATION):
                is_one = _DURATION.fullmatch(text.removeprefix(_BY_DURATION)) is not None
            else:
                is_one = not config.words or text in config.words
            return None if is_one else f"it must be one of {', '.join(config.words)}"
        case "DOUBLE":
            if not _DOUBLE.fullmatch(text):
                return "it must be a number"
            number = float(text.rstrip("fFdD").replace("Infinity", "inf"))
        case _:
            largest = _LARGEST[config.type]
            if not _NUMBER.fullmatch(text) or not -largest <= int(text) < largest:
                return "it must be a whole number"
            number = int(text)
    if config.also and number == int(config.also):
        return None
    if config.low and number < int(config.low):
        return f"it must be at least {config.low}"
    if config.high and number > int(config.high):
        return f"it must be at most {config.high}"
    return None


def _list_problem(config: ResourceConfig, text: str) -> str | None:
    items = _COMMA.split(text) if text else []
    if config.is_replica_list:
        while items and not items[-1]:
            items.pop()
        is_right = items == ["*"] or all(map(_REPLICA.fullmatch, items))
        return None if is_right else "it must be * or a list of PARTITION:BROKER"
    if config.words and not all(item in config.words for item in items):
        return f"it must be a list of {', '.join(config.words)}"
    return None


def invalid(reason: str) -> RequestRefused:
    return RequestRefused(Error.INVALID_CONFIG, reason)
