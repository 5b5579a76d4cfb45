"""Configs of groups and of client metrics: which values they may have.

Owns Kafka's checks beyond those of single values: the bounds that brokers set for groups, and the
patterns by which clients are chosen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from kraftool.controller.config_values import invalid, known, problem
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.decoders.schema.resource_configs import GROUP_CONFIGS, ResourceConfig
from kraftool.image.metadata_version import KAFKA_4_4_LEVEL

_ONLY_IF_SET = ".assignment.interval.ms"
_KINDS = ("consumer", "share", "streams")

CLIENT_METRICS_CONFIGS: Mapping[str, ResourceConfig] = {
    "interval.ms": ResourceConfig("INT", "300000"),
    "match": ResourceConfig("LIST", ""),
    "metrics": ResourceConfig("LIST", ""),
}
_SHORTEST_MS, _LONGEST_MS = 100, 3_600_000
_MATCHED = frozenset(
    {
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)


def check_group(state: ControllerState, configs: Mapping[str, str]) -> None:
    """Raise RequestRefused for the first of a group's configs that may not be so."""
    there = known(GROUP_CONFIGS, state.level)
    for name in configs:
        if name not in there:
            raise invalid(f"Unknown group config name: {name}")
    for name, value in configs.items():
        reason = problem(name, there[name], value)
        if reason is not None:
            raise invalid(reason)
    combined = _of_file(state, there) | dict(configs)
    for name, config in there.items():
        if name in combined or not name.endswith(_ONLY_IF_SET):
            _check_bounds(state, name, config, combined.get(name, config.default))
    for kind in _KINDS:
        session, heartbeat = (
            int(combined.get(name) or there[name].default or 0)
            for name in (f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms")
        )
        if session <= heartbeat:
            raise invalid(
                f"{kind}.session.timeout.ms must be greater than {kind}.heartbeat.interval.ms"
            )


def _of_file(state: ControllerState, there: Mapping[str, ResourceConfig]) -> dict[str, str]:
    """Return what the configuration file says in the stead of defaults."""
    file_values = {}
    for name, config in there.items():
        for synonym, _ in config.synonyms:
            value = state.settings.static_configs.get(synonym)
            if value is not None and not name.endswith(_ONLY_IF_SET):
                file_values[name] = value.strip()
    return file_values


def _check_bounds(
    state: ControllerState, name: str, config: ResourceConfig, value: str | None
) -> None:
    least, most = _limit(state, config.least), _limit(state, config.most)
    if value is None:
        return
    if least is not None and int(value) < least.value:
        words, limit = "greater than or equal to", least
    elif most is not None and int(value) > most.value:
        words, limit = "less than or equal to", most
    else:
        return
    if state.level < KAFKA_4_4_LEVEL:
        raise invalid(f"{name} must be {words} {limit.key}")
    if least is not None and most is not None:
        raise invalid(f"{name} must be in the range {least.value} to {most.value} inclusive.")
    raise invalid(f"{name} must be {words} {limit.value}")


class _Limit(NamedTuple):
    """A bound that a config of the brokers sets."""

    key: str
    value: int


def _limit(state: ControllerState, bound: tuple[str, str] | None) -> _Limit | None:
    if bound is None:
        return None
    key, default = bound
    return _Limit(key, int(state.settings.static_configs.get(key, default)))


def check_client_metrics(configs: Mapping[str, str]) -> None:
    """Raise RequestRefused for the first config of a subscription that may not be so."""
    for name in configs:
        if name not in CLIENT_METRICS_CONFIGS:
            raise RequestRefused(
                Error.INVALID_REQUEST, f"Unknown client metrics configuration: {name}"
            )
    for name, value in configs.items():
        reason = problem(name, CLIENT_METRICS_CONFIGS[name], value)
        if reason is not None:
            raise invalid(reason)
    interval = configs.get("interval.ms")
    if interval is not None and not _SHORTEST_MS <= int(interval) <= _LONGEST_MS:
        raise RequestRefused(
            Error.INVALID_REQUEST,
            f"Invalid value {interval} for interval.ms, interval must be between {_SHORTEST_MS} and"
            f" {_LONGEST_MS} (1 hour)",
        )
    for name in ("match", "metrics"):
        items = [item.strip() for item in configs.get(name, "").split(",")]
        if items == [""]:
            continue
        if "" in items:
            raise invalid(f"{name} has an item that is empty")
        if name == "match":
            for item in items:
                _check_pattern(item)


def _check_pattern(item: str) -> None:
    what, equals, pattern = item.partition("=")
    if not equals or "=" in pattern or not pattern or what.strip() not in _MATCHED:
        raise invalid(f"Illegal client matching pattern: {item}")
    try:
        re.compile(pattern.strip())
    except re.error:
        raise invalid(f"Illegal client matching pattern: {item}") from None
