"""What a change of features meets: each rule of Kafka 4.3's controller, with its near miss.

The verdicts of a real controller are compared in tests/interop/test_feature_verdicts.py; here are
the rules that one node alone cannot show: several nodes, absent voters, older software, what is
lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.schema import NEWEST_RELEASE
from kraftool.image.metadata_version import KRAFT_VERSION, LATEST_LEVEL, METADATA_VERSION
from kraftool.reports.features.plan import FeaturePlan, plan
from kraftool.reports.features.read import read_features
from kraftool.reports.features.rules import RefusalRule, blockers
from kraftool.reports.features.software import assume_nodes
from kraftool.reports.features.target import Direction, FeaturesRun
from tests.reports.feature_cases import (
    Log,
    at,
    broker,
    controller,
    level,
)
from tests.reports.voter_cases import make_node, version, voter, voters

ELR = "eligible.leader.replicas.version"
ONE = "1@localhost:9091"
TWO = f"{ONE},2@localhost:9092"


def rules(planned: FeaturePlan) -> list[tuple[RefusalRule, tuple[str, ...]]]:
    return [(blocker.rule, blocker.blocking_nodes) for blocker in planned.blockers]


# --- what is asked for --------------------------------------------------------------------------


def test_a_release_asks_for_its_level_and_every_default_but_0(tmp_path: Path) -> None:
    planned = plan(at(tmp_path, 21, controller(1), broker(11)), "4.0", [])
    asked = {
        change.feature: (change.current_level, change.target_level) for change in planned.changes
    }
    assert asked == {
        METADATA_VERSION: (21, 25),
        KRAFT_VERSION: (0, 1),
        "transaction.version": (0, 2),
        "group.version": (0, 1),
    }
    assert planned.commands == (
        "kafka-features.sh --bootstrap-server HOST:9092 upgrade --release-version 4.0",
    )


def test_a_downgrade_asks_for_those_at_0_too(tmp_path: Path) -> None:
    planned = plan(at(tmp_path, 21, controller(1), broker(11)), "3.8", [])
    assert {change.target_level for change in planned.changes} == {20, 0}
    assert not planned.is_blocked
    (command,) = planned.commands
    assert command.endswith("downgrade --release-version 3.8")


def test_below_3_9_kraft_version_is_not_part_of_a_release(tmp_path: Path) -> None:
    planned = plan(at(tmp_path, 14, broker(11)), "3.8", [])
    assert [change.feature for change in planned.changes] == [METADATA_VERSION]


def test_the_tool_of_kafka_3_sends_metadata_version_alone(tmp_path: Path) -> None:
    planned = plan(at(tmp_path, 19, controller(1, "3.9"), broker(11, "3.9")), "3.9", [])
    assert [change.feature for change in planned.changes] == [METADATA_VERSION]
    (command,) = planned.commands
    assert command.endswith("upgrade --metadata 3.9")


def test_features_take_the_place_of_a_release_s_defaults(tmp_path: Path) -> None:
    planned = plan(at(tmp_path, 21, controller(1), broker(11)), "4.0", ["group.version=0"])
    assert [(blocker.rule, blocker.feature) for blocker in planned.blockers] == [
        (RefusalRule.DIRECTION, "group.version")
    ]
    other = plan(at(tmp_path / "2", 21, controller(1), broker(11)), "4.0", ["share.version=1"])
    (command,) = other.commands
    assert "--release-version" not in command
    assert command.endswith("--feature group.version=1 --feature share.version=1")


def test_features_that_go_both_ways_take_two_runs_the_downgrade_first(tmp_path: Path) -> None:
    cluster = at(tmp_path, 30, level("group.version", 1), controller(1), broker(11))
    planned = plan(cluster, "", ["share.version=1", "group.version=0"])
    assert not planned.is_blocked
    assert [command.partition(":9092 ")[2] for command in planned.commands] == [
        "downgrade --feature group.version=0",
        "upgrade --feature share.version=1",
    ]


def test_what_is_there_already_takes_no_command(tmp_path: Path) -> None:
    cluster = at(tmp_path, 30, level("group.version", 1), controller(1), broker(11))
    planned = plan(cluster, "", ["group.version=1"])
    assert (planned.is_blocked, planned.commands) == (False, ())


@pytest.mark.parametrize(
    "text", ["group.version", "=1", "group.version=", "group.version=x", "group.version=-1",
             "group.version=32768", "group.version=1=1", "group.version=²"],
)  # fmt: skip
def test_what_is_no_name_and_level_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(KraftoolError, match="is not NAME=LEVEL"):
        plan(at(tmp_path, 30), "", [text])


def test_a_metadata_version_may_be_named(tmp_path: Path) -> None:
    planned = plan(at(tmp_path, 21, broker(11)), "", ["metadata.version=4.0-IV1"])
    assert planned.changes[0].target_level == 23


def test_a_feature_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KraftoolError, match="twice"):
        plan(at(tmp_path, 30), "", ["group.version=1", "group.version=0"])


# --- rules --------------------------------------------------------------------------------------


def test_each_node_that_lacks_a_level_is_named_fenced_ones_too(tmp_path: Path) -> None:
    records = (controller(1), controller(2, "4.1"), broker(11), broker(12, "4.1", fenced=True))
    planned = plan(at(tmp_path, 25, *records), "", ["metadata.version=29"])
    assert rules(planned) == [
        (RefusalRule.RANGE, ("controller 2",)),
        (RefusalRule.RANGE, ("broker 12",)),
    ]
    assert planned.blockers[0].reason == (
        "controller 2 supports metadata.version only from 7 (3.3-IV3) to 27 (4.1-IV1)"
    )
    assert "It is fenced" in planned.blockers[1].reason


def test_up_to_what_all_support_nothing_is_in_the_way(tmp_path: Path) -> None:
    records = (controller(1), controller(2, "4.1"), broker(11), broker(12, "4.1", fenced=True))
    assert not plan(at(tmp_path, 25, *records), "", ["metadata.version=27"]).is_blocked


def test_a_feature_that_a_node_does_not_name_is_not_supported(tmp_path: Path) -> None:
    cluster = at(tmp_path, 25, controller(1), broker(12, "4.1"))
    planned = plan(cluster, "", ["streams.version=1"])
    assert rules(planned) == [(RefusalRule.RANGE, ("broker 12",))]
    assert planned.blockers[0].reason == "broker 12 does not support streams.version"
    assert not plan(cluster, "", ["streams.version=0"]).is_blocked


def test_controllers_count_once_they_register(tmp_path: Path) -> None:
    old = at(tmp_path / "14", 14, broker(11), controller(1, "3.7"))
    assert not plan(old, "", ["metadata.version=21"]).is_blocked
    assert any("Kafka checks only brokers" in caution for caution in plan(old, "3.9", []).cautions)
    new = at(tmp_path / "15", 15, broker(11), controller(1, "3.7"))
    assert rules(plan(new, "", ["metadata.version=21"])) == [(RefusalRule.RANGE, ("controller 1",))]


def test_a_static_voter_that_never_registered_stops_every_change(tmp_path: Path) -> None:
    cluster = at(tmp_path, 30, controller(1), broker(11), voters=TWO)
    planned = plan(cluster, "", ["group.version=1"])
    assert rules(planned) == [(RefusalRule.NOT_REGISTERED, ("controller 2",))]
    assert planned.commands == ()


def test_once_it_has_registered_nothing_does(tmp_path: Path) -> None:
    cluster = at(tmp_path, 30, controller(1), controller(2), broker(11), voters=TWO)
    assert not plan(cluster, "", ["group.version=1"]).is_blocked


def test_an_unregistered_voter_of_a_dynamic_quorum_is_a_caution(tmp_path: Path) -> None:
    log = Log()
    log.control(1, version(1), voters(1, 2))
    log.data_records(level(METADATA_VERSION, 29), controller(1), broker(11))
    planned = plan(read_features([str(make_node(tmp_path, 1, log))]), "4.3", [])
    assert not planned.is_blocked
    assert any(caution.startswith("voter 2 never registered") for caution in planned.cautions)


@pytest.mark.parametrize(
    ("current", "target", "changed"),
    [
        (30, 29, (30,)), (30, 22, (23, 30)), (29, 23, ()), (29, 22, (23,)), (22, 17, ()),
        (22, 16, (17,)), (16, 15, ()), (15, 14, (15,)), (14, 13, (14,)), (13, 12, (13,)),
        (12, 11, ()), (11, 10, (11,)), (10, 8, ()), (8, 7, (8,)),
    ],
)  # fmt: skip
def test_a_downgrade_stops_at_levels_that_changed_records(
    tmp_path: Path, current: int, target: int, changed: tuple[int, ...]
) -> None:
    cluster = at(tmp_path, current, broker(11), *([controller(1)] if current >= 15 else []))
    planned = plan(cluster, "", [f"metadata.version={target}"])
    if not changed:
        assert not planned.is_blocked
        return
    (blocker,) = planned.blockers
    assert (blocker.rule, blocker.blocking_levels) == (RefusalRule.CHANGED_RECORDS, changed)
    lowest = "there is no lower level" if changed[-1] == current else f"{changed[-1]} ("
    assert lowest in blocker.reason


def test_metadata_version_has_a_floor(tmp_path: Path) -> None:
    cluster = at(tmp_path, 7, broker(11, "3.9"))
    planned = plan(cluster, "", ["metadata.version=6"])
    assert (RefusalRule.FLOOR, ()) in rules(planned)
    assert not plan(cluster, "", ["metadata.version=7"]).is_blocked


def test_levels_and_features_that_no_kafka_has_are_named_once(tmp_path: Path) -> None:
    cluster = at(tmp_path, 30, controller(1), broker(11))
    for text, rule in (
        (f"metadata.version={LATEST_LEVEL + 1}", RefusalRule.UNKNOWN_LEVEL),
        ("group.version=2", RefusalRule.UNKNOWN_LEVEL),
        ("no.such.version=1", RefusalRule.UNKNOWN_FEATURE),
        ("no.such.version=0", RefusalRule.UNKNOWN_FEATURE),
    ):
        assert rules(plan(cluster, "", [text])) == [(rule, ())], text


def test_a_newer_kafka_s_nodes_know_its_levels(tmp_path: Path) -> None:
    unknown = LATEST_LEVEL + 7
    newer: dict[str, Any] = {"metadata_version": (7, unknown), "new_version": (0, 1)}
    cluster = at(tmp_path, 33, controller(1, "4.4", **newer), broker(11, "4.4", **newer))
    planned = plan(cluster, "", [f"metadata.version={unknown}", "new.version=1"])
    assert not planned.is_blocked
    assert sum(f"newer than {NEWEST_RELEASE}" in caution for caution in planned.cautions) == 2


def test_elr_needs_its_metadata_version_in_the_same_request_at_the_latest(tmp_path: Path) -> None:
    cluster = at(tmp_path, 22, controller(1), broker(11))
    planned = plan(cluster, "", [f"{ELR}=1"])
    assert [(blocker.rule, blocker.blocking_levels) for blocker in planned.blockers] == [
        (RefusalRule.DEPENDENCY, (23,))
    ]
    assert not plan(cluster, "", [f"{ELR}=1", "metadata.version=23"]).is_blocked
    assert plan(cluster, "", [f"{ELR}=1", "metadata.version=22"]).is_blocked
    assert not plan(cluster, "", [f"{ELR}=0"]).is_blocked


def test_any_feature_needs_metadata_version_7(tmp_path: Path) -> None:
    cluster = at(tmp_path, 6, broker(11))
    refusals = plan(cluster, "", ["group.version=1"]).blockers
    assert [(blocker.rule, blocker.blocking_levels) for blocker in refusals] == [
        (RefusalRule.DEPENDENCY, (7,))
    ]


def test_one_request_goes_one_way(tmp_path: Path) -> None:
    cluster = at(tmp_path, 30, level("group.version", 1), controller(1), broker(11))
    for direction, to in ((Direction.UPGRADE, 0), (Direction.DOWNGRADE, 2)):
        asked = FeaturesRun(direction=direction, levels={"group.version": to})
        assert RefusalRule.DIRECTION in [blocker.rule for blocker in blockers(cluster, asked)]
    for direction in Direction:
        asked = FeaturesRun(direction=direction, levels={"group.version": 1})
        assert blockers(cluster, asked) == ()


def test_a_release_below_does_not_raise_what_is_at_0(tmp_path: Path) -> None:
    """A static quorum cannot go to 4.1 by --release-version: its kraft.version would rise."""
    cluster = at(tmp_path, 29, controller(1), broker(11), voters=ONE)
    planned = plan(cluster, "4.1", [])
    assert {(blocker.rule, blocker.feature) for blocker in planned.blockers} >= {
        (RefusalRule.DIRECTION, KRAFT_VERSION),
        (RefusalRule.DIRECTION, "group.version"),
    }
    (command,) = planned.commands
    assert command.endswith("downgrade --feature metadata.version=27")


def test_kraft_version_has_no_way_back(tmp_path: Path) -> None:
    log = Log()
    log.control(1, version(1), voters(1))
    log.data_records(level(METADATA_VERSION, 21), controller(1), broker(11))
    cluster = read_features([str(make_node(tmp_path, 1, log))])
    planned = plan(cluster, "3.8", [])
    assert [blocker.rule for blocker in planned.blockers] == [RefusalRule.KRAFT_DOWNGRADE]
    # metadata.version alone would leave a quorum that Kafka 3.8 cannot run.
    assert not planned.commands
    assert not plan(cluster, "", ["kraft.version=1"]).is_blocked


def test_an_upgrade_of_kraft_version_says_what_only_the_leader_knows(tmp_path: Path) -> None:
    planned = plan(at(tmp_path, 30, controller(1), broker(11), voters=ONE), "4.3", [])
    assert not planned.is_blocked
    assert any("UpdateRaftVoter" in caution for caution in planned.cautions)
    same = plan(at(tmp_path / "2", 30, controller(1), broker(11)), "", ["group.version=1"])
    assert not any("kraft.version" in caution for caution in same.cautions)


def test_kafka_3_9_cannot_upgrade_kraft_version(tmp_path: Path) -> None:
    cluster = at(tmp_path, 21, controller(1, "3.9"), broker(11, "3.9"))
    planned = plan(cluster, "", ["kraft.version=1"])
    assert rules(planned) == [(RefusalRule.KRAFT_SOFTWARE, ("controller 1",))]
    assert "the quorum stays static" in planned.blockers[0].reason
    newer = at(tmp_path / "2", 21, controller(1, "4.1"), broker(11, "3.9"))
    assert not plan(newer, "", ["kraft.version=1"]).is_blocked


def test_every_voter_has_to_support_kraft_version(tmp_path: Path) -> None:
    log = Log()
    log.control(1, version(0), voters(1, voter(2, highest=0)))
    log.data_records(level(METADATA_VERSION, 30), controller(1), controller(2), broker(11))
    planned = plan(read_features([str(make_node(tmp_path, 1, log))]), "", ["kraft.version=1"])
    assert rules(planned) == [(RefusalRule.KRAFT_VOTERS, ("voter 2",))]


# --- edges --------------------------------------------------------------------------------------


def test_a_range_ends_below_too(tmp_path: Path) -> None:
    cluster = at(tmp_path, 7, broker(11, "4.1"), broker(12, "3.9"))
    planned = plan(cluster, "", ["metadata.version=6"])
    assert (RefusalRule.RANGE, ("broker 11",)) in rules(planned)
    assert (RefusalRule.RANGE, ("broker 12",)) not in rules(planned)


def test_kafka_4_0_cannot_upgrade_kraft_version_either(tmp_path: Path) -> None:
    cluster = at(tmp_path, 25, controller(1, "4.1", metadata_version=(7, 25)), broker(11))
    (blocker,) = plan(cluster, "", ["kraft.version=1"]).blockers
    assert (blocker.rule, blocker.blocking_levels) == (RefusalRule.KRAFT_SOFTWARE, (25,))
    assert "runs Kafka 4.0, which cannot upgrade kraft.version" in blocker.reason
    assert "stays static" not in blocker.reason


def test_where_metadata_version_is_stopped_no_part_of_it_is_offered(tmp_path: Path) -> None:
    cluster = at(tmp_path, 30, level("share.version", 1), controller(1), broker(11))
    planned = plan(cluster, "3.9", [])
    assert METADATA_VERSION in {blocker.feature for blocker in planned.blockers}
    assert planned.commands == ()


# --- the software of the nodes ------------------------------------------------------------------


def test_a_release_without_kraft_version_cannot_run_a_dynamic_quorum(tmp_path: Path) -> None:
    log = Log()
    log.control(1, version(1), voters(1))
    log.data_records(level(METADATA_VERSION, 21), controller(1, "3.9"), broker(11, "3.9"))
    planned = plan(read_features([str(make_node(tmp_path, 1, log))]), "3.8", [])
    assert [blocker.rule for blocker in planned.blockers] == [RefusalRule.KRAFT_STAYS]
    assert not planned.commands
    assert not plan(at(tmp_path / "static", 21, controller(1), broker(11)), "3.8", []).is_blocked


def test_an_upgrade_of_old_nodes_is_told_to_be_the_last_step(tmp_path: Path) -> None:
    cluster = at(tmp_path, 21, controller(1, "3.9"), broker(11, "3.9"))
    planned = plan(cluster, "4.3", [])
    assert planned.is_blocked
    assert "first run Kafka 4.3 on every node" in planned.cautions[0]
    assert "No known reason would block it then" in planned.cautions[0]
    assert not plan(assume_nodes(cluster, "4.3.0"), "4.3", []).is_blocked
    with pytest.raises(KraftoolError, match="not known"):
        assume_nodes(cluster, "5.0")


def test_what_would_block_it_after_the_upgrade_is_told_too(tmp_path: Path) -> None:
    cluster = at(tmp_path, 21, controller(1, "3.9"), broker(11, "3.9"))
    planned = plan(cluster, "4.3", ["share.version=2"])
    assert "It would then be blocked by: controller 1 supports share.version" in planned.cautions[0]
