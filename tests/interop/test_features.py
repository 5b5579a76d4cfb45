"""Feature levels as Kafka itself has them: the tables of levels, defaults and needs.

The tables of `image/metadata_version.py` are compared with what the classes of every release say,
up to its latest production level: what lies above was unstable there, and two of those levels
changed their meaning later. Verdicts are in `test_feature_verdicts.py`.
"""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kraftool.image import metadata_version as table
from kraftool.storage.kafka_home import installed_release
from tests.interop import kafka
from tests.interop.recorded import Recording, words
from tests.interop.shared_jvms import STORAGE_SOURCE, storage_session

LEVELS_SOURCE = Path(__file__).with_name("java") / "Levels.java"
RELEASES = [
    *(f"3.{minor}" for minor in range(10)), *(f"4.{minor}" for minor in range(5)),
    "3.3-IV0", "3.3-IV3", "3.3.2", "3.7-IV2", "3.9-IV0", "4.3.0", "4.3-IV0", "4.4-IV2", "nonsense",
    "3.10",
]  # fmt: skip


def _levels(version: str) -> dict[str, Any]:
    done = kafka.run_source(version, LEVELS_SOURCE, *RELEASES, check=True, heap="-Xmx200m")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _tables() -> dict[str, str]:
    return {" ".join(command): storage_session("4.3.0").call(command) for command in TABLES}


LEVELS = {
    version: Recording(
        name="levels",
        release=version,
        command="java/Levels.java RELEASE...",
        sources=(LEVELS_SOURCE,),
        about=lambda: words(RELEASES),
        ask=partial(_levels, version),
    )
    for version in kafka.SOAKED
}
MAPPED = ("3.3", "3.9-IV0", "4.0", "4.1-IV0", "4.2", "4.3")
NEEDS = [
    (name, rule)
    for name, rules in table.FEATURES.items()
    for rule in rules
    if (name, rule.level) != ("share.version", 2)
]
DEPENDENCIES = (
    "feature-dependencies",
    *(word for name, rule in NEEDS for word in ("--feature", f"{name}={rule.level}")),
)
TABLES = (*(("version-mapping", "--release-version", name) for name in MAPPED), DEPENDENCIES)
STORAGE_TABLES = Recording(
    name="storage-tables",
    release="4.3.0",
    command="kafka-storage version-mapping, kafka-storage feature-dependencies",
    sources=(STORAGE_SOURCE,),
    about=lambda: words(TABLES),
    ask=_tables,
)
RECORDINGS = (*LEVELS.values(), STORAGE_TABLES)


def told(version: str) -> dict[str, Any]:
    """What a release's classes say."""
    return LEVELS[version].answers()


def production(version: str) -> list[dict[str, Any]]:
    """The production levels of a release. 3.3.2 has no more levels than these."""
    levels = told(version)["levels"]
    return [level for level in levels if level["level"] <= told(version)["latest"]]


@pytest.mark.parametrize("version", kafka.SOAKED)
def test_levels_have_the_names_and_the_changes_that_kafka_gives_them(version: str) -> None:
    levels = production(version)
    assert [table.level_name(level["level"]) for level in levels] == [e["name"] for e in levels]
    for before, entry in pairwise(levels):
        assert entry["level"] == before["level"] + 1
        changed = table.changed_between(before["level"], entry["level"]) != ()
        assert changed == entry["changed"], entry


def test_the_newest_release_has_no_level_that_the_table_lacks() -> None:
    assert told(kafka.NEWEST)["latest"] == table.LATEST_LEVEL


@pytest.mark.interop
@pytest.mark.parametrize("version", kafka.VERSIONS)
def test_the_release_of_an_installed_kafka_is_its_newest_production_level(version: str) -> None:
    level = table.level_of(installed_release(str(kafka.home(version))).name)
    assert level == told(version)["latest"]


@pytest.mark.parametrize("version", kafka.SOAKED)
def test_records_have_the_versions_that_kafka_writes_at_each_level(version: str) -> None:
    compared = 0
    for entry in production(version):
        level = entry["level"]
        expected = {
            "registerBrokerRecordVersion": table.register_broker_version(level),
            "partitionRecordVersion": table.partition_version(level),
            "partitionChangeRecordVersion": table.partition_version(level),
        }
        for name, value in expected.items():
            if name in entry:
                assert entry[name] == value, (name, level)
                compared += 1
    assert compared >= len(production(version))


FLAGS = {
    "isScramSupported": "UserScramCredentialRecord",
    "isMetadataTransactionSupported": "BeginTransactionRecord",
    "isDelegationTokenSupported": "DelegationTokenRecord",
    "isMigrationSupported": "ZkMigrationStateRecord",
    "isElrSupported": "ClearElrRecord",
    "isControllerRegistrationSupported": "RegisterControllerRecord",
    "isControllerUnregistrationSupported": "UnregisterControllerRecord",
    "isNoOpRecordSupported": "NoOpRecord",
    "isBrokerRegistrationChangeRecordSupported": "BrokerRegistrationChangeRecord",
}


@pytest.mark.parametrize("version", kafka.SOAKED)
def test_record_types_begin_where_kafka_begins_to_write_them(version: str) -> None:
    for entry in production(version):
        for flag, record in FLAGS.items():
            if flag in entry:
                assert entry[flag] == (entry["level"] >= table.record_level(record, 0)), (
                    flag,
                    entry,
                )
        for flag, lowest in {
            "isInControlledShutdownStateSupported": table.OLDEST_KRAFT_LEVEL,
            "isDirectoryAssignmentSupported": table.DIRECTORIES_LEVEL,
            "isCordonedLogDirsSupported": table.CORDONED_LEVEL,
            "isCidrAclSupported": table.CIDR_ACL_LEVEL,
        }.items():
            if flag in entry:
                assert entry[flag] == (entry["level"] >= lowest), (flag, entry)


@pytest.mark.parametrize("version", kafka.SOAKED)
def test_a_release_stands_for_the_level_that_kafka_takes_it_for(version: str) -> None:
    latest = told(version)["latest"]
    for name, level in told(version)["named"].items():
        if level is not None and 1 <= level <= latest:
            assert table.level_of(name) == level, name
        elif table.level_of(name) is not None:
            # Another release may know what this one does not: newer ones, or those before 3.3.
            known = table.level_of(name) or 0
            assert known > latest or known < told(version)["levels"][0]["level"], name


@pytest.mark.parametrize("version", kafka.SOAKED)
def test_nodes_register_the_ranges_in_the_table(version: str) -> None:
    release = ".".join(version.split(".")[:2])
    ranges = {name: tuple(bounds) for name, bounds in told(version)["ranges"].items()}
    assert ranges == table.RELEASE_RANGES[release]


@pytest.mark.parametrize("version", ["4.1.1", kafka.TOOLS_VERSION, kafka.NEWEST])
def test_features_have_the_defaults_and_needs_of_kafka(version: str) -> None:
    features, latest = told(version)["features"], told(version)["latest"]
    assert set(features) == set(table.FEATURES)
    for name, told_feature in features.items():
        rules = {feature.level: feature for feature in table.FEATURES[name]}
        for entry in told_feature["versions"]:
            if entry["level"] == 0:
                continue
            rule = rules[entry["level"]]
            assert (rule.default_from, dict(rule.needs)) == (
                entry["bootstrap"],
                entry["dependencies"],
            )
        for level, default in told_feature["defaults"].items():
            if int(level) <= latest:
                assert table.release_levels(int(level))[name] == default, (name, level)
    if version == kafka.NEWEST:
        levels = {n: [v["level"] for v in f["versions"]][1:] for n, f in features.items()}
        assert levels == {
            n: [level_rule.level for level_rule in r] for n, r in table.FEATURES.items()
        }


def test_kafka_3_9_needs_its_own_level_for_kraft_version_and_has_no_other_feature() -> None:
    """The one release whose Features differ: what it says of unstable ones is not in the table."""
    features = told("3.9.1")["features"]
    assert features["kraft.version"]["latestProduction"] == 1
    assert features["transaction.version"]["latestProduction"] == 0
    assert features["kraft.version"]["defaults"]["21"] == 1
    assert features["kraft.version"]["defaults"]["20"] == 0


@pytest.mark.parametrize("release", MAPPED)
def test_version_mapping_says_the_same(release: str) -> None:
    level = table.level_of(release)
    assert level is not None
    output = STORAGE_TABLES.answers()[f"version-mapping --release-version {release}"]
    pairs = re.findall(r"^(\S+)=(\d+)", output, re.MULTILINE)
    assert {name: int(value) for name, value in pairs} == table.release_levels(level)


def test_feature_dependencies_says_the_same() -> None:
    output = STORAGE_TABLES.answers()[" ".join(DEPENDENCIES)]
    for name, rule in NEEDS:
        block = re.search(
            rf"^{re.escape(name)}={rule.level} (.*(?:\n {{2,}}.*)*)", output, re.MULTILINE
        )
        assert block is not None, output
        pairs = re.findall(r"^ +(\S+)=(\d+)", block[1], re.MULTILINE)
        assert tuple((other, int(level)) for other, level in pairs) == rule.needs
        assert bool(rule.needs) != ("has no dependencies" in block[1])
