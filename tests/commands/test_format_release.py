"""Where `format` takes the metadata.version of a new cluster from, and where it needs none."""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
CLUSTER = "5L6g3nShT-eMCtK--X86sw"
DIRECTORY_ID = "m4edhskZReujT5KaPved-A"
SCRAM = "SCRAM-SHA-256=[name=alice,password=canary]"
CLASS = "org/apache/kafka/server/common/MetadataVersion.class"
SETTINGS = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://127.0.0.1:9093",
    "controller.quorum.bootstrap.servers": "127.0.0.1:9093",
}
STATIC = {"controller.quorum.voters": "1@127.0.0.1:9093"}
BROKER = {"process.roles": "broker", "node.id": "11", "listeners": "PLAINTEXT://127.0.0.1:9092"}


def _format(kraftool: Run, folder: Path, settings: dict[str, str], *options: object) -> Any:
    given = {**SETTINGS, **settings, "log.dirs": str(folder / "a")}
    path = folder / "server.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in given.items()))
    return kraftool("format", "-c", path, "-t", CLUSTER, *options)


def _files(folder: Path) -> set[str]:
    return {path.name for path in (folder / "a").rglob("*") if path.is_file()}


# --- where it is required -------------------------------------------------------------------------


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, ("-s",)),
        ({}, ("-I", f"1@127.0.0.1:9093:{DIRECTORY_ID}")),
        (STATIC, ()),
        (STATIC, ("-N",)),
        ({}, ("-N", "-S", SCRAM)),
        ({}, ("-N", "-f", "group.version=0")),
        (BROKER, ("-I", f"2@127.0.0.1:9093:{DIRECTORY_ID}")),
    ],
)
def test_a_cluster_does_not_begin_without_a_release(
    kraftool: Run,
    tmp_path: Path,
    settings: dict[str, str],
    options: tuple[str, ...],
    dry: tuple[str, ...],
) -> None:
    """4.3.0 loses the users of --add-scram on what is formatted for 4.4, and 3.9.1 exits."""
    ran = _format(kraftool, tmp_path, settings, *options, *dry)
    assert (ran.code, ran.out) == (2, b"")
    for word in ("--release-version", "--kafka-home", "--bootstrap-controller", "--feature"):
        assert word in ran.err
    assert _files(tmp_path) == set()


@pytest.mark.parametrize(
    ("settings", "options"), [({}, ("-N",)), (BROKER, ()), ({**BROKER, **STATIC}, ())]
)
def test_a_node_that_joins_needs_no_release(
    kraftool: Run, tmp_path: Path, settings: dict[str, str], options: tuple[str, ...]
) -> None:
    """Only meta.properties is written: no Kafka is too old for it."""
    ran = _format(kraftool, tmp_path, settings, *options, "-o", "json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert (document["levels"], document["metadataVersionSource"]) == ({}, None)
    assert _files(tmp_path) == {"meta.properties"}


def test_the_lines_name_no_level_where_no_record_is_written(kraftool: Run, tmp_path: Path) -> None:
    ran = _format(kraftool, tmp_path, {}, "-N", "--dry-run")
    assert ran.text.splitlines()[1:] == [f"Would format metadata directory {tmp_path / 'a'}"]
    ran = _format(kraftool, tmp_path, {}, "-N")
    assert ran.text == f"Formatting metadata directory {tmp_path / 'a'}.\n"


def test_a_level_of_metadata_version_is_a_source(kraftool: Run, tmp_path: Path) -> None:
    ran = _format(kraftool, tmp_path, {}, "-s", "-f", "metadata.version=25", "-o", "json")
    document = json.loads(ran.out)
    assert document["levels"]["metadata.version"] == 25
    assert document["metadataVersionSource"] == "--feature metadata.version"


@pytest.mark.parametrize(
    "two",
    [
        ("-r", "4.3", "--kafka-home", "/opt/kafka"),
        ("-r", "4.3", "--bootstrap-controller", "127.0.0.1:1"),
        ("-r", "4.3", "-f", "metadata.version=25"),
        ("--kafka-home", "/opt/kafka", "-f", "metadata.version=25"),
    ],
)
def test_two_sources_are_a_mistake_of_usage(
    kraftool: Run, tmp_path: Path, two: tuple[str, ...]
) -> None:
    ran = _format(kraftool, tmp_path, {}, "-s", *two)
    assert (ran.code, "each state metadata.version" in ran.err) == (2, True)
    assert _files(tmp_path) == set()


def test_a_quorum_that_is_not_reached_ends_with_4(kraftool: Run, tmp_path: Path) -> None:
    ran = _format(kraftool, tmp_path, {}, "-s", "--bootstrap-controller", "127.0.0.1:1")
    assert ran.code == 4
    assert _files(tmp_path) == set()


@pytest.mark.parametrize("option", [("--command-config", "x"), ("--resolve", "1=a:1")])
def test_options_of_a_quorum_need_one(
    kraftool: Run, tmp_path: Path, option: tuple[str, str]
) -> None:
    ran = _format(kraftool, tmp_path, {}, "-s", "-r", "4.3", *option)
    assert (ran.code, "--bootstrap-controller" in ran.err) == (2, True)


# --- --kafka-home ---------------------------------------------------------------------------------


def _utf8(text: str) -> bytes:
    return struct.pack(">BH", 1, len(text)) + text.encode()


def _class(levels: list[str], latest: str | None) -> bytes:
    """A class with these fields, in which LATEST_PRODUCTION is assigned. A long comes first: it
    takes two indexes."""
    names = [*levels, "LATEST_PRODUCTION"] if latest is not None else levels
    pool, fields, index = [struct.pack(">Bq", 5, 7)], {}, 3
    for name in names:
        pool += [
            _utf8(name),
            struct.pack(">BHH", 12, index, index),
            struct.pack(">BHH", 9, 1, index + 1),
        ]
        fields[name] = index + 2
        index += 3
    code = b""
    if latest is not None:
        code = struct.pack(">BHBH", 0xB2, fields[latest], 0xB3, fields["LATEST_PRODUCTION"])
    head = struct.pack(">IHHH", 0xCAFEBABE, 0, 61, index)
    return head + b"".join(pool) + code


def _home(folder: Path, data: bytes | None, jar: str = "kafka-server-common-4.3.0.jar") -> Path:
    libs = folder / "kafka" / "libs"
    libs.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(libs / jar, "w") as archive:
        if data is not None:
            archive.writestr(CLASS, data)
    return folder / "kafka"


@pytest.mark.parametrize(
    ("data", "jar", "name"),
    [
        (_class(["IBP_4_3_IV0", "IBP_4_4_IV0"], "IBP_4_3_IV0"), "kafka-server-common-4.3.0.jar",
         "4.3-IV0"),
        (_class(["IBP_3_9_IV0"], "IBP_3_9_IV0"), "server-common-7.9.0-ccs.jar", "3.9-IV0"),
        (_class(["IBP_3_3_IV2", "IBP_3_3_IV3"], None), "kafka-server-common-3.3.2.jar", "3.3-IV3"),
    ],
    ids=["4.3", "a vendor's", "3.3"],
)  # fmt: skip
def test_the_release_is_that_of_an_installed_kafka(
    kraftool: Run, tmp_path: Path, data: bytes, jar: str, name: str
) -> None:
    home = _home(tmp_path, data, jar)
    source = f"{home}/libs/{jar}"
    ran = _format(kraftool, tmp_path, {}, "-s", "--kafka-home", home, "--dry-run")
    assert ran.code == 0, ran.err
    assert f" ({name}), from {source}\n" in ran.text
    ran = _format(kraftool, tmp_path, {}, "-s", "--kafka-home", home)
    first, second = ran.text.splitlines()
    assert first == f"The release {name} comes from {source}."
    assert second.endswith(f" with metadata.version {name}.")


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (_class(["IBP_9_0_IV0"], "IBP_9_0_IV0"), "9.0-IV0 is unknown to this kraftool"),
        (None, "no class MetadataVersion"),
        (b"", "names no production level"),
        (_class(["IBP_4_3_IV0"], "IBP_4_3_IV0")[:60], "names no production level"),
        (_class(["SOMETHING"], None), "names no production level"),
    ],
    ids=["newer", "no class", "empty", "cut short", "no level"],
)
def test_a_jar_that_names_no_known_release_is_refused(
    kraftool: Run, tmp_path: Path, data: bytes | None, word: str
) -> None:
    ran = _format(kraftool, tmp_path, {}, "-s", "--kafka-home", _home(tmp_path, data))
    assert (ran.code, word in ran.err) == (2, True), ran.err
    assert "--release-version" in ran.err
    assert _files(tmp_path) == set()


def test_a_home_without_the_one_jar_is_refused(kraftool: Run, tmp_path: Path) -> None:
    ran = _format(kraftool, tmp_path, {}, "-s", "--kafka-home", tmp_path / "nowhere")
    assert (ran.code, "cannot be read" in ran.err) == (2, True)
    home = _home(tmp_path, b"", "kafka-clients-4.3.0.jar")
    ran = _format(kraftool, tmp_path, {}, "-s", "--kafka-home", home)
    assert (ran.code, "no server-common jar" in ran.err) == (2, True)
    (home / "libs" / "kafka-server-common-4.3.0.jar").write_bytes(b"no archive")
    ran = _format(kraftool, tmp_path, {}, "-s", "--kafka-home", home)
    assert (ran.code, "cannot be read" in ran.err) == (2, True)
    _home(tmp_path, b"", "kafka-server-common-4.4.0.jar")
    ran = _format(kraftool, tmp_path, {}, "-s", "--kafka-home", home)
    assert (ran.code, "several server-common jars" in ran.err) == (2, True)
