"""What `features` reads from directories: levels, when they were set, ranges, who is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.image.metadata_version import (
    KRAFT_VERSION,
    LATEST_LEVEL,
    METADATA_VERSION,
    OLDEST_KRAFT_LEVEL,
    RELEASE_RANGES,
    changed_between,
    level_name,
    level_of,
    record_level,
    release_levels,
)
from kraftool.reports.features.losses import losses
from kraftool.reports.features.model import LevelSource, ProcessRole
from kraftool.reports.features.plan import reach
from kraftool.reports.features.read import read_features
from kraftool.reports.features.rules import unregistered_voters
from kraftool.reports.features.target import parse_release
from tests.reports.feature_cases import STAMP, Log, broker, controller, level, node
from tests.reports.voter_cases import make_node, started, version, voter, voters
from tests.storage.read_counts import assert_read_once, count_bytes_read
from tests.support.places import PARTITION

VOTERS = "1@localhost:9091,2@localhost:9092"
MV_30 = level(METADATA_VERSION, 30)


# --- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("3.0", 1), ("3.0-IV1", 1), ("3.1", 2), ("3.2-IV0", 3), ("3.3-IV0", 4), ("3.3-IV1", 5),
        ("3.3-IV2", 6), ("3.3", 7), ("3.3.2", 7), ("3.4", 8), ("3.5", 11), ("3.6", 14), ("3.7", 19),
        ("3.8", 20), ("3.9", 21), ("3.9.1", 21), ("4.0", 25), ("4.1-IV0", 26), ("4.1", 27),
        ("4.2", 29), ("4.3", 30), ("4.3.0", 30), ("4.4", 33), ("4.4-IV0", 31),
    ],
)  # fmt: skip
def test_a_release_stands_for_its_highest_level(name: str, expected: int) -> None:
    assert level_of(name) == expected == parse_release(f" {name} ")


@pytest.mark.parametrize("name", ["", "4", "2.8", "3.10", "9.9", "4.3-IV1", "4.3-IV", "30", "x"])
def test_what_is_no_release_is_refused(name: str) -> None:
    assert level_of(name) is None
    with pytest.raises(KraftoolError, match=f"no Kafka up to {level_name(LATEST_LEVEL)} has"):
        parse_release(name)


def test_the_defaults_of_a_release_follow_its_level() -> None:
    assert release_levels(20) == {METADATA_VERSION: 20} | dict.fromkeys(
        ("kraft.version", "transaction.version", "group.version",
         "eligible.leader.replicas.version", "share.version", "streams.version"), 0
    )  # fmt: skip
    assert release_levels(21)[KRAFT_VERSION] == 1
    assert release_levels(30)["share.version"] == 1
    assert release_levels(33)["share.version"] == 2


def test_every_level_that_writes_new_records_is_one_that_changed_them() -> None:
    for name, versions in (("RegisterBrokerRecord", 5), ("PartitionRecord", 3),
                           ("BrokerRegistrationChangeRecord", 4)):  # fmt: skip
        for number in range(1, versions):
            needed = record_level(name, number)
            assert changed_between(needed - 1, needed) == (needed,)
    assert record_level("TopicRecord", 0) == 1
    assert record_level("RegisterBrokerRecord", 9) == record_level("RegisterBrokerRecord", 4)


# --- reading ------------------------------------------------------------------------------------


EXPECTED = {
    "kafka-3.3.2/static-quorum/node-1": (7, 0, "3.3"),
    "kafka-3.7.2/static-quorum/node-1": (19, 0, "3.7"),
    "kafka-3.9.1/dynamic-quorum/node-2": (21, 1, "3.9"),
    "kafka-3.9.1/upgrade/node-2": (19, 0, "3.9"),
    "kafka-4.1.1/dynamic-quorum/node-2": (27, 1, "4.1"),
    "kafka-4.3.0/dynamic-quorum/node-2": (30, 1, "4.3"),
    "kafka-4.3.0/static-single/node-1": (30, 0, "4.3"),
    "kafka-4.4.0/dynamic-quorum/node-2": (33, 1, "4.4"),
    "kafka-4.4.0/upgrade/node-2": (33, 1, "4.4"),
}


@pytest.mark.parametrize(("folder", "expected"), EXPECTED.items())
def test_every_release_s_cluster_is_told_as_it_was_left(
    fixtures_dir: Path, folder: str, expected: tuple[int, int, str]
) -> None:
    cluster = read_features([str(fixtures_dir / folder / "data")])
    metadata_version, kraft, release = expected
    assert cluster.metadata_version == metadata_version
    assert cluster.kraft_version == kraft
    assert {support.software for support in cluster.nodes} == {release}
    ranges = {
        name: (feature_range.min, feature_range.max)
        for name, feature_range in cluster.nodes[0].supported.items()
    }
    assert ranges == RELEASE_RANGES[release]


@pytest.mark.parametrize("name", ["dynamic-quorum/node-2", "log-cleaning/node-1"])
def test_each_log_is_read_once(
    name: str, fixtures_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = count_bytes_read(monkeypatch)
    read_features([str(fixtures_dir / "kafka-4.3.0" / name / "data")])
    assert_read_once(read)


def test_a_level_is_told_with_the_record_that_last_set_it(tmp_path: Path) -> None:
    log = Log().data_records(level(METADATA_VERSION, 29), level("group.version", 1))
    log.data_records(MV_30, level("share.version", 1), stamp=STAMP + 5)
    log.data_records(level("share.version", 0), stamp=STAMP + 9)
    cluster = read_features([str(make_node(tmp_path, 1, log))])
    levels = {name: (e.level, e.offset, e.timestamp) for name, e in cluster.levels.items()}
    assert levels == {
        METADATA_VERSION: (30, 2, STAMP + 5),
        "group.version": (1, 1, STAMP),
        "share.version": (0, 4, STAMP + 9),
        KRAFT_VERSION: (0, None, None),
    }
    assert cluster.levels[KRAFT_VERSION].source is LevelSource.DEFAULT


def test_records_of_an_aborted_transaction_set_nothing(tmp_path: Path) -> None:
    log = Log().data_records(level(METADATA_VERSION, 29))
    log.data_records(("BeginTransactionRecord", 0, {"name": "x"}), level("group.version", 1))
    log.data_records(MV_30, ("AbortTransactionRecord", 0, {"reason": "y"}))
    cluster = read_features([str(make_node(tmp_path, 1, log))])
    assert cluster.metadata_version == 29
    assert cluster.levels[METADATA_VERSION].offset == 0
    assert "group.version" not in cluster.levels


def test_records_of_a_committed_transaction_do(tmp_path: Path) -> None:
    log = Log().data_records(("BeginTransactionRecord", 0, {"name": "x"}), MV_30)
    log.data_records(("EndTransactionRecord", 0, {}))
    cluster = read_features([str(make_node(tmp_path, 1, log))])
    assert cluster.levels[METADATA_VERSION].offset == 1


def test_a_transaction_without_an_end_sets_nothing(tmp_path: Path) -> None:
    log = Log().data_records(level(METADATA_VERSION, 29))
    log.data_records(("BeginTransactionRecord", 0, {"name": "x"}), MV_30)
    cluster = read_features([str(make_node(tmp_path, 1, log))])
    assert (cluster.metadata_version, cluster.levels[METADATA_VERSION].offset) == (29, 0)


def test_a_checkpoint_by_itself_tells_the_level_and_no_offset(fixtures_dir: Path) -> None:
    folder = fixtures_dir / "kafka-4.3.0/dynamic-quorum/node-2/data/__cluster_metadata-0"
    newest = sorted(folder.glob("*.checkpoint"))[-1]
    cluster = read_features([str(newest)])
    feature_level = cluster.levels[METADATA_VERSION]
    assert (feature_level.level, feature_level.source, feature_level.offset) == (
        30,
        LevelSource.SNAPSHOT,
        None,
    )
    assert cluster.kraft_version == 1


@pytest.mark.parametrize(("release", "expected"), [("4.3.0", None), ("4.4.0", 33)])
def test_a_formatted_directory_has_the_levels_of_its_0_0_checkpoint(
    fixtures_dir: Path, tmp_path: Path, release: str, expected: int | None
) -> None:
    """kafka-storage of 4.3 writes only kraft.version into it, and the rest to bootstrap.checkpoint.
    A started node has an empty log too, until a leader writes."""
    ran = fixtures_dir / f"kafka-{release}/dynamic-quorum/node-1/data"
    path = tmp_path / "data"
    (path / PARTITION).mkdir(parents=True)
    for name in ("meta.properties", f"{PARTITION}/{0:020}-{0:010}.checkpoint"):
        shutil.copy(ran / name, path / name)
    for _ in range(2):
        cluster = read_features([str(path)])
        assert cluster.levels[KRAFT_VERSION].level == 1
        assert cluster.voters
        levels = {name: feature.level for name, feature in cluster.levels.items()}
        assert levels.get(METADATA_VERSION) == expected
        (path / PARTITION / f"{0:020}.log").touch()


def test_kraft_version_is_of_control_records(tmp_path: Path) -> None:
    path = make_node(tmp_path, 1, started())
    cluster = read_features([str(path)])
    feature_level = cluster.levels[KRAFT_VERSION]
    assert (feature_level.level, feature_level.offset, feature_level.timestamp) == (1, 1, 1_000)
    assert cluster.voters == (1, 2, 3)


def test_a_false_upgrade_of_kraft_version_is_named(fixtures_dir: Path, tmp_path: Path) -> None:
    log = Log().data_records(level(METADATA_VERSION, 21), level(KRAFT_VERSION, 1))
    cluster = read_features([str(make_node(tmp_path, 1, log))])
    assert cluster.kraft_version == 0
    (finding,) = cluster.findings
    assert (finding.code, finding.offset) == ("KT-LOG-FALSE-UPGRADE", 1)
    real = read_features([str(fixtures_dir / "kafka-3.9.1/upgrade/node-1/data")])
    assert [finding.code for finding in real.findings] == ["KT-LOG-FALSE-UPGRADE"]


def test_a_true_one_is_none(tmp_path: Path) -> None:
    log = Log()
    log.control(1, version(1), voters(1))
    log.data_records(level(METADATA_VERSION, 30), level(KRAFT_VERSION, 1))
    cluster = read_features([str(make_node(tmp_path, 1, log))])
    assert (cluster.kraft_version, cluster.findings) == (1, ())


def test_a_false_upgrade_that_only_a_snapshot_remembers_is_named_too(fixtures_dir: Path) -> None:
    folder = fixtures_dir / "kafka-3.9.1/upgrade/node-1/data/__cluster_metadata-0"
    codes = [
        [finding.code for finding in read_features([str(path)]).findings]
        for path in sorted(folder.glob("*.checkpoint"))
    ]
    other = fixtures_dir / "kafka-3.9.1/upgrade/node-2/data/__cluster_metadata-0"
    codes += [
        [finding.code for finding in read_features([str(path)]).findings]
        for path in sorted(other.glob("*.checkpoint"))
    ]
    assert ["KT-LOG-FALSE-UPGRADE"] in codes


# --- several PATHs, nodes, voters ---------------------------------------------------------------


def test_the_state_that_goes_furthest_is_told(tmp_path: Path) -> None:
    behind = node(tmp_path / "1", level(METADATA_VERSION, 29))
    newest = node(tmp_path / "2", level(METADATA_VERSION, 29), MV_30, id=2)
    cluster = read_features([behind, newest])
    assert cluster.metadata_version == 30
    sources = [
        (source.node_id, source.is_newest, source.metadata_version) for source in cluster.sources
    ]
    assert sources == [(1, False, 29), (2, True, 30)]


def test_directories_of_two_clusters_are_refused(tmp_path: Path) -> None:
    one = make_node(tmp_path / "1", 1, Log().data_records(MV_30))
    other = make_node(
        tmp_path / "2", 2, Log().data_records(MV_30), cluster="AnotherClusterIdXXXXXA"
    )
    with pytest.raises(KraftoolError, match="belongs to cluster AnotherClusterIdXXXXXA"):
        read_features([str(one), str(other)])


def test_settings_alone_tell_no_features(tmp_path: Path) -> None:
    path = node(tmp_path, MV_30, voters=VOTERS)
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    with pytest.raises(KraftoolError, match="settings only"):
        read_features([path])
    cluster = read_features([str(tmp_path / "elsewhere"), path])
    assert cluster.static_voters is not None
    assert cluster.static_voters.voters == (1, 2)
    missing = [source.directory.missing for source in cluster.sources]
    assert missing == ["", "data"], "as it was written"


def test_static_voters_that_never_registered_are_named(tmp_path: Path) -> None:
    path = node(tmp_path, MV_30, controller(1), voters=VOTERS)
    assert unregistered_voters(read_features([path])) == (2,)


def test_voters_that_registered_are_not(tmp_path: Path) -> None:
    path = node(tmp_path, MV_30, controller(1), controller(2), voters=VOTERS)
    assert unregistered_voters(read_features([path])) == ()


def test_below_3_7_nobody_registers(tmp_path: Path) -> None:
    path = node(tmp_path, level(METADATA_VERSION, 14), voters=VOTERS)
    assert unregistered_voters(read_features([path])) == ()


def test_the_leader_answers_for_itself(tmp_path: Path) -> None:
    log = Log().data_records(MV_30, controller(2))
    from tests.reports.voter_cases import leader, server

    log.control(2, leader(1, (1, 2)))
    make_node(tmp_path / "data", 1, log, epoch=2)
    lines = {"controller_quorum_voters": VOTERS, "controller_quorum_bootstrap_servers": ""}
    path = server(tmp_path / "server.properties", 1, log_dirs="data", **lines)
    assert unregistered_voters(read_features([str(path)])) == ()


def test_a_dynamic_quorum_has_no_static_voters_whatever_the_settings_say(tmp_path: Path) -> None:
    log = Log()
    log.control(1, version(1), voters(1, voter(2)))
    log.data_records(MV_30, controller(1))
    make_node(tmp_path / "data", 1, log)
    from tests.reports.voter_cases import server

    lines = {"controller_quorum_voters": VOTERS}
    path = server(tmp_path / "server.properties", 1, log_dirs="data", **lines)
    cluster = read_features([str(path)])
    assert (cluster.static_voters, cluster.voters) == (None, (1, 2))


def test_fenced_brokers_and_both_roles_are_nodes(tmp_path: Path) -> None:
    path = node(tmp_path, MV_30, controller(2), controller(1), broker(11, fenced=True))
    cluster = read_features([path])
    nodes = [(support.label, support.is_fenced) for support in cluster.nodes]
    assert nodes == [("controller 1", False), ("controller 2", False), ("broker 11", True)]
    assert [support.id for support in cluster.of(ProcessRole.BROKER)] == [11]


# --- how far ------------------------------------------------------------------------------------


def test_software_that_was_upgraded_without_its_features_is_seen(tmp_path: Path) -> None:
    path = node(tmp_path, level(METADATA_VERSION, 21), controller(1), broker(11))
    reaches = {feature_reach.name: feature_reach for feature_reach in reach(read_features([path]))}
    assert (reaches[METADATA_VERSION].highest_level, reaches[METADATA_VERSION].is_below) == (
        30,
        True,
    )
    assert reaches["group.version"].is_below


def test_a_cluster_at_its_software_s_levels_is_not_below(fixtures_dir: Path) -> None:
    for folder in ("kafka-3.3.2/static-single", "kafka-3.7.2/static-single",
                   "kafka-4.1.1/static-single", "kafka-4.4.0/static-single"):  # fmt: skip
        cluster = read_features([str(fixtures_dir / folder / "node-1/data")])
        below = [feature_reach.name for feature_reach in reach(cluster) if feature_reach.is_below]
        # A static quorum keeps kraft.version 0 until somebody upgrades it.
        assert set(below) <= {KRAFT_VERSION}, folder


def test_the_node_that_holds_the_others_back_is_named(tmp_path: Path) -> None:
    path = node(tmp_path, level(METADATA_VERSION, 25), controller(1), broker(11), broker(12, "4.1"))
    reaches = {feature_reach.name: feature_reach for feature_reach in reach(read_features([path]))}
    assert (reaches[METADATA_VERSION].highest_level, reaches[METADATA_VERSION].limited_by) == (
        27,
        ("broker 12",),
    )
    assert reaches["streams.version"].limited_by == ("broker 12",)
    assert reaches["group.version"].limited_by == ()


def test_without_registrations_nothing_is_said_of_reach(tmp_path: Path) -> None:
    assert reach(read_features([node(tmp_path, MV_30)])) == ()


def test_damage_is_told_and_the_levels_before_it_too(fixtures_dir: Path, tmp_path: Path) -> None:
    log = Log().data_records(MV_30)
    log.data_records(level("group.version", 1))
    log.data = log.data[:-3]
    cluster = read_features([str(make_node(tmp_path, 1, log))])
    assert (cluster.metadata_version, cluster.whole) == (30, False)
    assert [finding.code for finding in cluster.findings] == ["KT-LOG-TORN-TAIL"]
    assert "group.version" not in cluster.levels


# --- what lower levels lose -----------------------------------------------------------------------


def test_whatever_the_writer_cannot_hold_is_named_as_a_loss(fixtures_dir: Path) -> None:
    """The writer of snapshots is the judge: where it loses something, so says the list."""
    from kraftool.image.writer import snapshot_records

    compared = 0
    for path in sorted(fixtures_dir.glob("kafka-*/*/node-1/data")):
        image = read_features([str(path)]).image
        current = image.features.metadata_version or 0
        for target in range(OLDEST_KRAFT_LEVEL, current):
            warnings: list[str] = []
            for _ in snapshot_records(image, target, warnings.append):
                pass
            expected = losses(image, target, 1)
            words = {word for feature_loss in expected for word in feature_loss.what.split()}
            for warning in warnings:
                if "cordoned" in warning:
                    continue  # the field is there, and nothing is in it
                compared += 1
                assert words & set(warning.replace("registrations of", "controllers").split()), (
                    warning
                )
            if not warnings:
                assert all("eligible" in e.what or "ACLs" in e.what or "ZooKeeper" in e.what
                           for e in expected), (path, target, expected)  # fmt: skip
    assert compared > 100


def test_every_release_s_level_has_a_name() -> None:
    assert [number for number in range(1, LATEST_LEVEL + 1) if not level_name(number)] == []
    assert level_name(LATEST_LEVEL + 1) == ""


def test_records_behind_a_gap_set_nothing(tmp_path: Path) -> None:
    path = make_node(tmp_path, 1, Log().data_records(MV_30, level("group.version", 1)))
    behind = Log()
    behind.end = 10
    behind.data_records(level("group.version", 1), level("share.version", 0), broker(11))
    (path / "__cluster_metadata-0" / f"{10:020}.log").write_bytes(behind.data)
    cluster = read_features([str(path)])
    group = cluster.levels["group.version"]
    assert (group.level, group.source, group.offset) == (1, LevelSource.LOG, None)
    assert cluster.levels[METADATA_VERSION].offset == 0
    assert "share.version" not in cluster.levels
    assert not cluster.whole
    counts = {type_count.type: type_count.first_offset for type_count in cluster.logged}
    assert counts == {"FeatureLevelRecord": 0, "RegisterBrokerRecord": 12}, "what the log still has"
