"""meta.properties: real files, Kafka's rules on damaged ones, exact bytes when written."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import meta_properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.meta_properties import MetaProperties

# Written by kafka-storage of 4.3.0.
V1 = (
    b"#\n#Sat Nov 21 03:47:57 UTC 2026\nnode.id=1\ndirectory.id=1ciwcZEjsjfAQNWgLn3o0w\n"
    b"version=1\ncluster.id=3Db5QLSqSZieL3rJBUUegA\n"
)
# Written by kafka-storage of 3.3.2, which knew no directory ids.
V1_WITHOUT_DIRECTORY = (
    b"#\n#Sat Nov 21 03:48:14 UTC 2026\nnode.id=1\nversion=1\ncluster.id=3Db5QLSqSZieL3rJBUUegA\n"
)
# In the order that Properties.store of OpenJDK 17 gave the same keys.
V0 = b"#\n#Sat Nov 21 03:47:56 UTC 2026\nbroker.id=7\ndirectory.id=1ciwcZEjsjfAQNWgLn3o0w\n"
V0 += b"version=0\ncluster.id=3Db5QLSqSZieL3rJBUUegA\n"


@pytest.mark.parametrize(
    ("data", "hour_minute_second", "node_id", "directory_id"),
    [
        (V1, (3, 47, 57), 1, "1ciwcZEjsjfAQNWgLn3o0w"),
        (V1_WITHOUT_DIRECTORY, (3, 48, 14), 1, None),
        (V0, (3, 47, 56), 7, "1ciwcZEjsjfAQNWgLn3o0w"),
    ],
)
def test_real_files_are_read_and_written_back_to_the_same_bytes(
    data: bytes, hour_minute_second: tuple[int, int, int], node_id: int, directory_id: str | None
) -> None:
    meta, findings = meta_properties.decode(data)
    assert findings == ()
    assert meta.accepted
    assert (meta.node_id, meta.directory_id) == (node_id, directory_id)
    assert meta.cluster_id == "3Db5QLSqSZieL3rJBUUegA"
    hour, minute, second = hour_minute_second
    written_at = datetime(2026, 11, 21, hour, minute, second, tzinfo=UTC)
    assert meta_properties.encode(meta, written_at=written_at) == data


def test_the_date_line_is_in_utc() -> None:
    meta, _ = meta_properties.decode(V1)
    written_at = datetime(2026, 11, 21, 5, 47, 57, tzinfo=timezone(timedelta(hours=2)))
    assert meta_properties.encode(meta, written_at=written_at) == V1


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (V1.replace(b"node.id=1\n", b""), "node.id"),
        (V1.replace(b"cluster.id", b"cluster_id"), "cluster.id"),
        (V1.replace(b"node.id=1", b"node.id=one"), "node.id"),
        (V1.replace(b"node.id=1", b"node.id=1 "), "node.id"),
        (V1.replace(b"node.id=1", b"node.id=2147483648"), "node.id"),
        (V1.replace(b"node.id=1", b"node.id=" + b"9" * 5000), "node.id"),
        (V1.replace(b"version=1", b"version=2"), "version"),
        (V1.replace(b"version=1", b"version="), "version"),
        (V1.replace(b"1ciwcZEjsjfAQNWgLn3o0w", b"1ciwcZEjsjfAQNWgLn3o0"), "directory.id"),
        (V1.replace(b"node.id", b"\\u12"), "line 3"),
        (V0.replace(b"broker.id=7", b"broker.id="), "broker.id"),
    ],
)
def test_what_kafka_refuses_is_not_accepted_and_the_first_finding_says_where(
    data: bytes, path: str
) -> None:
    meta, findings = meta_properties.decode(data)
    assert not meta.accepted
    assert findings[0].path == path


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"cluster.id=x",
        V1.replace(b"version=1", b"version= \t+1 "),
        V1.replace(b"node.id=1", b"node.id=-01"),
        V1.replace(b"3Db5QLSqSZieL3rJBUUegA", b""),
        V0.replace(b"broker.id=7\n", b""),
    ],
)
def test_what_kafka_takes_is_accepted(data: bytes) -> None:
    meta, _ = meta_properties.decode(data)
    assert meta.accepted


def test_a_file_without_a_version_is_version_0() -> None:
    meta, _ = meta_properties.decode(b"broker.id=3\ncluster.id=x\nnode.id=4\n")
    assert (meta.version, meta.node_id) == (0, 3)


def test_duplicates_and_unknown_keys_are_kept_and_the_last_value_counts() -> None:
    meta, findings = meta_properties.decode(V1 + b"node.id=2\nrack=a\n")
    assert meta.accepted
    assert meta.node_id == 2
    assert meta.unknown == {"rack": "a"}
    assert [finding.path for finding in findings] == ["node.id"]


def test_what_can_be_read_of_a_refused_file_is_still_there() -> None:
    meta, _ = meta_properties.decode(V1.replace(b"version=1", b"version=x"))
    assert (meta.version, meta.node_id) == (None, 1)
    assert meta.cluster_id == "3Db5QLSqSZieL3rJBUUegA"


def test_an_incomplete_version_1_is_not_written() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for meta in (
        MetaProperties(cluster_id="x"),
        MetaProperties(node_id=1),
        MetaProperties(version=None),
        MetaProperties(version=2, cluster_id="x", node_id=1),
    ):
        with pytest.raises(KraftoolError):
            meta_properties.encode(meta, written_at=now)


@given(st.sampled_from([V0, V1]), st.integers(0, 140), st.integers(0, 3), st.binary(max_size=4))
def test_mutated_files_never_raise_and_refusals_say_why(
    data: bytes, at: int, cut: int, put: bytes
) -> None:
    meta, findings = meta_properties.decode(data[:at] + put + data[at + cut :])
    assert meta.accepted or findings
