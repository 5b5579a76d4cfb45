"""UpdateFeatures: change the levels of features, all of a request or none.

Owns the conditions for a level: this node, every registered broker and every controller support it,
the features that it needs have their levels, and no metadata is lost. The raft log owns
kraft.version and decides about its changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kraftool.controller.decision import Decision, KRaftUpgrade
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.controller.topic_configs import min_insync_replicas_of_file
from kraftool.decoders.error_codes import Error
from kraftool.image.configs import BROKER, ConfigResource
from kraftool.image.metadata_version import (
    CONTROLLER_REGISTRATION_LEVEL,
    ELR_VERSION,
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    OLDEST_KRAFT_LEVEL,
    changed_between,
    level_name,
    needs_of,
)
from kraftool.image.replay import WrittenRecord

UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
_MIN_ISR = "min.insync.replicas"
_NOT_SUPPORTED = (0, 0)
_FOR_ALL = "The update failed for all features since the following feature had an error: "


class _Update(NamedTuple):
    feature: str
    level: int
    kind: int
    """One of the upgrade types: up, or down with or without losing metadata."""


def update_features(
    state: ControllerState,
    request: dict[str, Any],
    *,
    version: int,
    kraft_version: int,
    plan_upgrade: Callable[[int], int],
) -> Decision:
    """Change the features of a request to their levels.

    `kraft_version`: the present one. `plan_upgrade`: returns how many records the log appends for
    another one; raises RequestRefused.
    """
    updates = [_update(item) for item in request["featureUpdates"]]
    current = {**state.finalized(), KRAFT_VERSION: kraft_version}
    proposed = current | {update.feature: update.level for update in updates}
    kraft_upgrade = None
    try:
        for update in updates:
            _check(state, update, current.get(update.feature, 0), proposed)
        for update in updates:
            # Last, so that the log plans nothing if another feature is refused.
            if update.feature == KRAFT_VERSION and update.kind == UPGRADE:
                record_count = plan_upgrade(update.level)
                kraft_upgrade = KRaftUpgrade(update.level, record_count) if record_count else None
    except RequestRefused as refused:
        # Like every answer, it waits until the state that it is based on is committed.
        text = f"{_FOR_ALL}{refused.text}"
        return Decision(answer={"errorCode": int(refused.error), "errorMessage": text})
    results = [
        # Kafka's name of no error, which it writes here only.
        {"feature": update.feature, "errorCode": int(Error.NONE), "errorMessage": Error.NONE.name}
        for update in updates
    ]
    answer: dict[str, Any] = {"errorCode": int(Error.NONE), "errorMessage": None}
    if version < 2:
        answer["results"] = results
    if request.get("validateOnly", False):
        return Decision(answer=answer)
    return Decision(
        answer=answer,
        records=list(_records(state, updates)),
        kraft_upgrade=kraft_upgrade,
    )


def _update(item: dict[str, Any]) -> _Update:
    return _Update(item["feature"], item["maxVersionLevel"], item.get("upgradeType", UPGRADE))


def _records(state: ControllerState, updates: list[_Update]) -> Iterator[WrittenRecord]:
    if any(update.feature == ELR_VERSION and update.level > 0 for update in updates):
        yield from _safe_for_elr(state)
    for update in updates:
        if update.feature != KRAFT_VERSION:
            value = {"name": update.feature, "featureLevel": update.level}
            yield "FeatureLevelRecord", 0, value
        elif update.kind == UPGRADE:
            # The log writes the records of kraft.version. The answer waits for this one.
            yield "NoOpRecord", 0, {}


def _safe_for_elr(state: ControllerState) -> Iterator[WrittenRecord]:
    """Yield records that give all controllers and brokers one min.insync.replicas: ELR needs it."""
    if _MIN_ISR not in state.configs_of(ConfigResource(BROKER, "")):
        yield _min_isr("", min_insync_replicas_of_file(state))
    for resource in state.resources(BROKER):
        if resource.name and _MIN_ISR in state.configs_of(resource):
            yield _min_isr(resource.name, None)


def _min_isr(broker: str, value: str | None) -> WrittenRecord:
    record = {"resourceType": BROKER, "resourceName": broker, "name": _MIN_ISR, "value": value}
    return "ConfigRecord", 0, record


# Checks


def _check(
    state: ControllerState, update: _Update, current: int, proposed: Mapping[str, int]
) -> None:
    """Raise RequestRefused if a feature must not change to a level. `proposed`: the levels of all
    features after the request."""
    feature, level, kind = update
    if kind not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        raise _refused(update, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _refused(update, "A feature version cannot be less than 0.")
    _check_support(state, update)
    if level < current and kind == UPGRADE:
        raise _refused(
            update,
            "Can't downgrade the version of this feature without setting the upgrade type to either"
            " safe or unsafe downgrade.",
        )
    if level > current and kind != UPGRADE:
        raise _refused(update, "Can't downgrade to a newer version.")
    if feature == METADATA_VERSION:
        _check_downgrade(update, current)
    elif feature == KRAFT_VERSION:
        if level < current:
            raise _refused(update, "Can't downgrade the version of this feature.")
    elif feature not in FEATURES:
        raise _refused(update, f"Feature {feature} not found.")
    else:
        _check_needs(update, proposed)


def _check_support(state: ControllerState, update: _Update) -> None:
    feature, level = update.feature, update.level
    settings = state.settings

    def check(node: str, supported: Mapping[str, tuple[int, int]]) -> None:
        low, high = supported.get(feature, _NOT_SUPPORTED)
        if not low <= level <= high:
            levels = f"{low}" if low == high else f"{low}-{high}"
            reason = (
                f"only supports versions {levels}" if high else "does not support this feature."
            )
            raise _refused(update, f"{node} {reason}")

    check(f"Local controller {settings.node_id}", settings.features)
    for broker in state.brokers():
        check(f"Broker {broker.id}", broker.features)
    if state.level < CONTROLLER_REGISTRATION_LEVEL:
        return
    registered = {settings.node_id}
    for controller in state.controllers():
        if controller.id != settings.node_id:
            check(f"Controller {controller.id}", controller.features)
        registered.add(controller.id)
    for voter in sorted(settings.static_voters - registered):
        raise _refused(
            update, f"controller {voter} has not registered, and may not support this feature"
        )


def _check_downgrade(update: _Update, current: int) -> None:
    """Raise RequestRefused if metadata has records that the lower level does not have."""
    if changed_between(update.level, current):
        why = (
            "Unsafe metadata downgrade is not supported in this version."
            if update.kind == UNSAFE_DOWNGRADE
            else "Refusing to perform the requested downgrade because it might delete metadata"
            " information."
        )
        raise RequestRefused(
            Error.INVALID_UPDATE_VERSION,
            f"Unsupported metadata.version downgrade from {current} to {update.level}. {why}",
        )


def _check_needs(update: _Update, proposed: Mapping[str, int]) -> None:
    feature, level, _ = update
    because = f"{feature} could not be set to {level} because it depends on"
    if level > 0 and proposed.get(METADATA_VERSION, 0) < OLDEST_KRAFT_LEVEL:
        name = level_name(OLDEST_KRAFT_LEVEL)
        raise _refused(update, f"{because} metadata.version={OLDEST_KRAFT_LEVEL} ({name})")
    for needed, at_least in needs_of(feature, level):
        if proposed.get(needed, 0) < at_least:
            raise _refused(update, f"{because} {needed} level {at_least}")


def _refused(update: _Update, reason: str) -> RequestRefused:
    return RequestRefused(
        Error.INVALID_UPDATE_VERSION,
        f"Invalid update version {update.level} for feature {update.feature}. {reason}",
    )
