"""The values that a config may have, whatever resource it belongs to.

Owns Kafka's types, ranges and lists, and its sentences about other values. The ConfigDefs are
`decoders/schema/resource_configs.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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


def problem(name: str, config: ResourceConfig, value: str) -> str | None:
    """Kafka's sentence about a text that is no value of a config; None if it is one."""
    shown: Any = value
    text = value.strip()
    reason = None
    match config.type:
        case "BOOLEAN":
            if text.lower() not in ("true", "false"):
                reason = "Expected value to be either true or false"
        case "LIST":
            items = _COMMA.split(text) if text else []
            if config.words and "" in items:
                return f"Configuration '{name}' values must not be empty."
            shown, reason = _list_problem(name, config, text, items)
        case "STRING":
            shown = text
            is_one = not config.words or text in config.words
            if config.may_be_duration and text.startswith(_BY_DURATION):
                is_one = _DURATION.fullmatch(text.removeprefix(_BY_DURATION)) is not None
            if not is_one:
                reason = f"String must be one of: {', '.join(config.words)}"
                if config.may_be_duration:
                    reason = (
                        f"Invalid value `{value}` for configuration {name}. The value must be"
                        " either 'earliest', 'latest' or of the format"
                        " 'by_duration:<PnDTnHnMn.nS>'."
                    )
        case _:
            number = _number(config.type, text)
            if number is None:
                reason = f"Not a number of type {config.type}"
            else:
                shown, reason = number, _range_problem(config, number)
    return None if reason is None else f"Invalid value {shown} for configuration {name}: {reason}"


def _number(kind: str, text: str) -> float | None:
    """The number that a text is; None if it is none of this type."""
    if kind == "DOUBLE":
        if not _DOUBLE.fullmatch(text):
            return None
        return float(text.rstrip("fFdD").replace("Infinity", "inf"))
    largest = _LARGEST[kind]
    if not _NUMBER.fullmatch(text) or not -largest <= int(text) < largest:
        return None
    return int(text)


def _range_problem(config: ResourceConfig, number: float) -> str | None:
    if config.also and number == int(config.also):
        return None
    if config.low and number < int(config.low):
        return f"Value must be at least {config.low}"
    if config.high and number > int(config.high):
        return f"Value must be no more than {config.high}"
    return None


def _list_problem(
    name: str, config: ResourceConfig, text: str, items: list[str]
) -> tuple[str, str | None]:
    """The part of a list that is wrong, and the reason; None if nothing is."""
    if config.is_replica_list:
        while items and not items[-1]:
            items.pop()
        if items != ["*"] and not all(map(_REPLICA.fullmatch, items)):
            return f"[{', '.join(items)}]", (
                f"{name} must be the literal '*' or a list of replicas in the following format:"
                " [partitionId]:[brokerId],[partitionId]:[brokerId],..."
            )
    for item in items if config.words else ():
        if item not in config.words:
            return item, f"String must be one of: {', '.join(config.words)}"
    return text, None


def too_long() -> RequestRefused:
    return invalid(
        "The configuration value cannot be added because it exceeds the maximum value size of"
        f" {LONGEST} bytes."
    )


def invalid(reason: str) -> RequestRefused:
    return RequestRefused(Error.INVALID_CONFIG, reason)
