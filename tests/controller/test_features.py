"""What the digest's scenarios of features (FE) say, and what an update leaves in the log."""

from __future__ import annotations

from typing import Any

import pytest

from kraftool.controller.decision import KRaftUpgrade
from kraftool.controller.refused import RequestRefused
from kraftool.controller.update_features import SAFE_DOWNGRADE, UNSAFE_DOWNGRADE, UPGRADE
from kraftool.decoders.error_codes import Error
from kraftool.image.metadata_version import (
    ELR_LEVEL,
    ELR_VERSION,
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
    SUPPORTED_LEVELS,
)
from tests.controller.bench import Bench, ranges

LOCAL = {**SUPPORTED_LEVELS, KRAFT_VERSION: (0, 1)}
ALL_LEVELS = {METADATA_VERSION: (7, 40), **dict.fromkeys(FEATURES, (0, 9))}
INVALID = Error.INVALID_UPDATE_VERSION


def bench_at(level: int = 29, **settings: Any) -> Bench:
    return Bench(level, features=LOCAL, **settings)


def to(feature: str, level: int, kind: int = UPGRADE) -> dict[str, Any]:
    return {"feature": feature, "maxVersionLevel": level, "upgradeType": kind}


def update(bench: Bench, *updates: dict[str, Any], version: int = 2, **more: Any) -> dict[str, Any]:
    body = {"timeoutMs": 1_000, "featureUpdates": list(updates), **more}
    return bench.ask("UpdateFeatures", version, body)


def refused(bench: Bench, *updates: dict[str, Any]) -> str:
    """Why it was refused; nothing was written."""
    answer = update(bench, *updates)
    assert answer["errorCode"] == INVALID, answer
    assert bench.appends == []
    return str(answer["errorMessage"])


def levels(bench: Bench) -> list[tuple[str, int]]:
    return [
        (value["name"], value["featureLevel"])
        for name, _, value in bench.records
        if name == "FeatureLevelRecord"
    ]


def register_controller(bench: Bench, node_id: int, features: dict[str, tuple[int, int]]) -> None:
    body = {
        "controllerId": node_id,
        "incarnationId": "AAAAAAAAAAAAAAAAAAAABQ",
        "zkMigrationReady": False,
        "listeners": [],
        "features": ranges(features),
    }
    assert "errorCode" not in bench.ask("ControllerRegistration", 0, body)


def test_fe1_a_level_that_this_node_does_not_know_changes_nothing_of_the_request() -> None:
    bench = bench_at()
    text = refused(bench, to("share.version", 0, 2), to(METADATA_VERSION, 34))
    assert text == (
        "The update failed for all features since the following feature had an error: Invalid"
        " update version 34 for feature metadata.version. Local controller 3000 only supports"
        " versions 7-33"
    )
    assert "3000 does not support this feature." in refused(bench, to("no.such.feature", 1))
    assert "Feature no.such.feature not found." in refused(bench, to("no.such.feature", 0))


def test_fe2_the_type_must_fit_the_direction() -> None:
    bench = bench_at(29)
    assert "without setting the upgrade type" in refused(bench, to(METADATA_VERSION, 28))
    for kind in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        text = refused(bench, to(METADATA_VERSION, 30, kind))
        assert "Can't downgrade to a newer version." in text
    assert update(bench, to(METADATA_VERSION, 28, SAFE_DOWNGRADE))["errorCode"] == Error.NONE
    assert levels(bench) == [(METADATA_VERSION, 28)]
    for kind in (UPGRADE, SAFE_DOWNGRADE):  # the same level is written again
        assert update(bench, to(METADATA_VERSION, 28, kind))["errorCode"] == Error.NONE
        assert levels(bench) == [(METADATA_VERSION, 28)]
    assert "does not support the given upgrade type" in refused(bench, to(METADATA_VERSION, 28, 4))


@pytest.mark.parametrize("is_fenced", [False, True])
def test_fe3_every_registered_broker_must_support_the_level(is_fenced: bool) -> None:
    bench = bench_at(29)
    bench.register(
        5, features=ranges({METADATA_VERSION: (7, 29), **dict.fromkeys(FEATURES, (0, 9))})
    )
    if not is_fenced:
        bench.beat(5)
    assert "Broker 5 only supports versions 7-29" in refused(bench, to(METADATA_VERSION, 30))


def test_fe3_every_registered_controller_must_support_the_level() -> None:
    bench = bench_at(29)
    register_controller(bench, 3001, ALL_LEVELS | {METADATA_VERSION: (7, 29)})
    assert "Controller 3001 only supports versions 7-29" in refused(bench, to(METADATA_VERSION, 30))
    register_controller(bench, 3001, ALL_LEVELS)
    assert update(bench, to(METADATA_VERSION, 30))["errorCode"] == Error.NONE


def test_fe3_a_static_voter_that_has_not_registered_stands_in_the_way() -> None:
    bench = bench_at(29, static_voters=frozenset({3000, 3001}))
    assert "controller 3001 has not registered" in refused(bench, to(METADATA_VERSION, 30))
    register_controller(bench, 3001, ALL_LEVELS)
    assert update(bench, to(METADATA_VERSION, 30))["errorCode"] == Error.NONE


def test_fe3_before_controllers_register_they_are_not_asked() -> None:
    bench = bench_at(14, static_voters=frozenset({3000, 3001}))
    assert update(bench, to(METADATA_VERSION, 15))["errorCode"] == Error.NONE


def test_fe4_an_upgrade_is_a_record_and_a_dry_run_is_none() -> None:
    bench = bench_at(29)
    assert update(bench, to(METADATA_VERSION, 30), validateOnly=True)["errorCode"] == Error.NONE
    assert bench.records == []
    answer = update(bench, to(METADATA_VERSION, 30), version=1)
    assert levels(bench) == [(METADATA_VERSION, 30)]
    assert [(item["feature"], item["errorCode"]) for item in answer["results"]] == [
        (METADATA_VERSION, Error.NONE)
    ]
    assert bench.active.state.level == 30


def test_fe5_a_downgrade_may_not_lose_records() -> None:
    bench = bench_at(30)
    for kind, reason in (
        (SAFE_DOWNGRADE, "because it might delete metadata information."),
        (UNSAFE_DOWNGRADE, "Unsafe metadata downgrade is not supported in this version."),
    ):
        text = refused(bench, to(METADATA_VERSION, 29, kind))
        assert "Unsupported metadata.version downgrade from 30 to 29. " in text
        assert text.endswith(reason)
    bench = bench_at(29)
    assert update(bench, to(METADATA_VERSION, 24, SAFE_DOWNGRADE))["errorCode"] == Error.NONE


def test_fe6_below_what_kafka_starts_with_nothing_is_supported() -> None:
    for kind in (UPGRADE, SAFE_DOWNGRADE):
        assert "supports versions 7-33" in refused(bench_at(7), to(METADATA_VERSION, 6, kind))
    below = refused(bench_at(7), to(METADATA_VERSION, -1, SAFE_DOWNGRADE))
    assert "A feature version cannot be less than 0." in below


def test_fe7_a_feature_at_0_is_gone() -> None:
    bench = bench_at(30)
    assert bench.active.state.feature_levels["group.version"] == 1
    assert update(bench, to("group.version", 0, SAFE_DOWNGRADE))["errorCode"] == Error.NONE
    assert levels(bench) == [("group.version", 0)]
    assert "group.version" not in bench.active.state.feature_levels


def test_fe9_elr_needs_its_metadata_version() -> None:
    low = bench_at(ELR_LEVEL - 1)
    assert refused(low, to(ELR_VERSION, 1)).endswith(
        f"could not be set to 1 because it depends on metadata.version level {ELR_LEVEL}"
    )
    both = (to(ELR_VERSION, 1), to(METADATA_VERSION, ELR_LEVEL))
    assert update(low, *both)["errorCode"] == Error.NONE, "what it needs comes with it"


def test_fe9_elr_makes_everybody_agree_on_the_min_isr() -> None:
    bench = bench_at(30, static_configs={"min.insync.replicas": "2"}).with_brokers([1, 2])
    configs = [{"name": "min.insync.replicas", "configOperation": 0, "value": "3"}]
    resource = {"resourceType": 4, "resourceName": "2", "configs": configs}
    altered = {"resources": [resource], "validateOnly": False}
    bench.ask("IncrementalAlterConfigs", 1, altered)
    assert update(bench, to(ELR_VERSION, 1))["errorCode"] == Error.NONE
    assert [
        (value["resourceName"], value["value"])
        for name, _, value in bench.records
        if name == "ConfigRecord"
    ] == [("", "2"), ("2", None)]
    assert bench.names[-1] == "FeatureLevelRecord"


def test_kraft_version_is_the_logs_and_its_records_come_first() -> None:
    bench = bench_at(30)
    asked = []

    def plan(level: int) -> int:
        asked.append(level)
        return 2

    bench.active.plan_kraft_upgrade = plan
    before = bench.active.next_offset
    assert update(bench, to(KRAFT_VERSION, 1), to("share.version", 1))["errorCode"] == Error.NONE
    assert asked == [1]
    upgrade, batch = bench.appends
    assert upgrade == KRaftUpgrade(level=1, record_count=2)
    assert getattr(batch, "base_offset", None) == before + 2
    assert bench.names == ["NoOpRecord", "FeatureLevelRecord"]
    assert bench.active.next_offset == before + 4


def test_kraft_version_waits_for_a_log_that_can_take_it_and_never_goes_back() -> None:
    bench = bench_at(30)

    def plan(level: int) -> int:
        raise RequestRefused(INVALID, "no directory id is known of: voters 2")

    bench.active.plan_kraft_upgrade = plan
    assert "voters 2" in refused(bench, to("share.version", 1), to(KRAFT_VERSION, 1))
    bench.active.kraft_version = 1
    text = refused(bench, to(KRAFT_VERSION, 0, SAFE_DOWNGRADE))
    assert "Can't downgrade the version of this feature." in text
    assert update(bench, to(KRAFT_VERSION, 1, SAFE_DOWNGRADE))["errorCode"] == Error.NONE
    assert bench.appends == []
