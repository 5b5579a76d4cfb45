"""Directories formatted here and by kafka-storage: the same files with the same records, and real
Kafka starts on what was formatted here."""

from __future__ import annotations

import json
import stat
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import properties
from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.control import BY_ID, ControlRecordType, decode_value, read_key
from kraftool.decoders.segment import scan
from kraftool.storage.format_levels import starting_levels
from tests.interop import kafka
from tests.interop.clusters import Cluster, Node
from tests.interop.our_commands import kraftool
from tests.interop.recorded import Recording, words
from tests.interop.shared_jvms import STORAGE_SOURCE

pytestmark = pytest.mark.slow

VERSIONS = (kafka.TOOLS_VERSION, kafka.NEWEST)
IDS = ("m4edhskZReujT5KaPved-A", "tZQSAvsjSkG1h6dlBS_MFA")
CLUSTER = "5L6g3nShT-eMCtK--X86sw"
SCRAM = "SCRAM-SHA-256=[name=alice,salt=bWFueSBncmFpbnM,password=canary-secret]"
SALTED = 'SCRAM-SHA-512=[name=bob,iterations=8192,salt="N3E=",saltedpassword="YCE="]'
COMMON = {
    "controller.listener.names": "CONTROLLER",
    "listeners": "CONTROLLER://127.0.0.1:19093",
    "log.dirs": "a,b/below",
}
DYNAMIC = {
    **COMMON,
    "process.roles": "controller",
    "node.id": "1",
    "controller.quorum.bootstrap.servers": "127.0.0.1:19093",
}
STATIC = {**DYNAMIC, "controller.quorum.voters": "1@127.0.0.1:19093"}
BROKER = {
    **DYNAMIC,
    "process.roles": "broker",
    "node.id": "11",
    "listeners": "PLAINTEXT://127.0.0.1:19092",
}
MINE = f"1@127.0.0.1:19093:{IDS[0]},2@[::1]:19094:{IDS[1]}"
OTHERS = f"2@other.example:19094:{IDS[1]}"

FORMATS: dict[str, tuple[dict[str, str], Sequence[str]]] = {
    "standalone": (DYNAMIC, ("--standalone",)),
    "initial controllers": (DYNAMIC, ("--initial-controllers", MINE)),
    "controllers that are others": (DYNAMIC, ("--initial-controllers", OTHERS)),
    "no initial controllers": (DYNAMIC, ("--no-initial-controllers",)),
    "static": (STATIC, ()),
    "static with -N": (STATIC, ("-N",)),
    "a broker": (BROKER, ()),
    "a broker told of controllers": (BROKER, ("--initial-controllers", OTHERS)),
    "metadata.log.dir": ({**DYNAMIC, "metadata.log.dir": "m"}, ("-s",)),
    "SCRAM": (DYNAMIC, ("-s", "--add-scram", SCRAM, "-S", SALTED)),
    "levels": (DYNAMIC, ("-s", "-f", "group.version=0", "--feature", "transaction.version=1")),
    "kraft.version": (DYNAMIC, ("-s", "-f", "kraft.version=1")),
}
OF_43_ONLY: dict[str, tuple[dict[str, str], Sequence[str]]] = {
    "3.5": (STATIC, ("--release-version", "3.5")),
    "3.9-IV0": (DYNAMIC, ("-s", "--release-version", "3.9-IV0")),
    "metadata.version": (DYNAMIC, ("-s", "-f", "metadata.version=25")),
}

REFUSED: dict[str, tuple[dict[str, str], Sequence[str]]] = {
    "who votes": (DYNAMIC, ()),
    "standalone beside static voters": (STATIC, ("-s",)),
    "controllers beside static voters": (STATIC, ("-I", OTHERS)),
    "a standalone broker": (BROKER, ("-s",)),
    "kraft.version 0": (DYNAMIC, ("-s", "-f", "kraft.version=0")),
    "kraft.version 1 of static voters": (STATIC, ("-f", "kraft.version=1")),
    "an unknown feature": (DYNAMIC, ("-s", "-f", "foo.version=1")),
    "an unknown level": (DYNAMIC, ("-s", "-f", "transaction.version=3")),
    "a level that needs another": (
        DYNAMIC,
        ("-s", "-r", "3.9", "-f", "eligible.leader.replicas.version=1"),
    ),
    "a release and a level": (DYNAMIC, ("-s", "-r", "4.0", "-f", "metadata.version=25")),
    "an unknown release": (DYNAMIC, ("-s", "-r", "9.9")),
    "SCRAM before its time": (DYNAMIC, ("-s", "-r", "3.4", "-S", SCRAM)),
    "SCRAM without a name": (DYNAMIC, ("-s", "-S", "SCRAM-SHA-256=[password=x]")),
    "SCRAM without a password": (DYNAMIC, ("-s", "-S", "SCRAM-SHA-256=[name=x]")),
    "SCRAM of few iterations": (
        DYNAMIC,
        ("-s", "-S", "SCRAM-SHA-256=[name=x,password=x,iterations=4095]"),
    ),
    "an unknown mechanism": (DYNAMIC, ("-s", "-S", "SCRAM-SHA-1=[name=x,password=x]")),
    "a controller without a directory": (DYNAMIC, ("-I", "1@127.0.0.1:19093")),
    "a controller twice": (DYNAMIC, ("-I", f"{OTHERS},{OTHERS}")),
}


TABLES: dict[str, Sequence[str]] = {
    "4.0": ("version-mapping", "-r", "4.0"),
    "3.7-IV2": ("version-mapping", "--release-version", "3.7-IV2"),
    "4.3.0": ("version-mapping", "--release-version", "4.3.0"),
    "what levels need": (
        "feature-dependencies",
        *("-f", "eligible.leader.replicas.version=1", "-f", "metadata.version=30"),
        *("-f", "transaction.version=2", "-f", "kraft.version=0"),
    ),
}
INFO = ("nothing", "not formatted", "formatted", "of two clusters", "a file")


def _settings(folder: Path, given: dict[str, str]) -> str:
    """Write them, with the directories below the folder; the path of the file."""
    folder.mkdir(parents=True)
    below = dict(given)
    for key in ("log.dirs", "metadata.log.dir"):
        if key in given:
            below[key] = ",".join(str(folder / part) for part in given[key].split(","))
    path = folder / "server.properties"
    path.write_bytes(properties.encode(below.items()))
    return str(path)


def _format_words(file: str, options: Sequence[str], cluster: str = CLUSTER) -> list[str]:
    return ["format", "-c", file, "-t", cluster, *options]


def _dated(options: Sequence[str], version: str) -> tuple[str, ...]:
    """The same options with the release that kafka-storage takes by default: its own."""
    is_dated = "-r" in options or any(
        option == "--release-version" or option.startswith("metadata.version=")
        for option in options
    )
    return (*options, *(() if is_dated else ("-r", version)))


def _info_state(folder: Path, state: str) -> str:
    """A node's directories in some state, always with the same bytes; the path of the settings."""
    file = _settings(folder, {**DYNAMIC, "log.dirs": "a,b/below,c"})
    if state == "not formatted":
        (folder / "a").mkdir()
        (folder / "c").mkdir()
    elif state != "nothing":
        for number, name in enumerate(("a", "b/below", "c")):
            (folder / name).mkdir(parents=True)
            cluster = "another" if (state, name) == ("of two clusters", "c") else CLUSTER
            (folder / name / "meta.properties").write_text(
                f"version=1\ncluster.id={cluster}\nnode.id=1\ndirectory.id={'abc'[number] * 21}A\n"
            )
    if state == "a file":
        (folder / "c" / "meta.properties").unlink()
        (folder / "c").rmdir()
        (folder / "c").write_text("")
    return file


PLACE = "/node"
"""In the recordings, in place of the folder."""


def _asked(version: str) -> dict[str, Any]:
    """What kafka-storage of a release answers, and what it writes."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        runs = {
            name: _format_words(_settings(root / name, given), options)
            for name, (given, options) in {**FORMATS, **OF_43_ONLY, **REFUSED}.items()
        }
        runs |= {name: list(words) for name, words in TABLES.items()}
        runs |= {state: ["info", "-c", _info_state(root / state, state)] for state in INFO}
        lines = "".join(json.dumps(words) + "\n" for words in runs.values())
        done = kafka.run_source(version, STORAGE_SOURCE, stdin=lines.encode(), check=True)
        text = done.stdout.decode().replace(str(root), PLACE)
        answers = dict(zip(runs, map(json.loads, text.splitlines()), strict=True))
        return {
            name: {**answer, "files": _content(root / name) if name in FORMATS | OF_43_ONLY else {}}
            for name, answer in answers.items()
        }


def _questions() -> dict[str, bytes]:
    """What is asked. Directories of `info` are written by this file."""
    formats = {**FORMATS, **OF_43_ONLY, **REFUSED}
    with tempfile.TemporaryDirectory() as root:
        for state in INFO:
            _info_state(Path(root) / state, state)
        files = {
            str(path.relative_to(root)): path.read_bytes().replace(root.encode(), PLACE.encode())
            for path in Path(root).rglob("*")
            if path.is_file()
        }
    return {**words([formats, TABLES, INFO]), **files}


def _in_order(answer: dict[str, Any]) -> dict[str, Any]:
    """It formats directories in any order."""
    return {**answer, "out": sorted(answer["out"].splitlines())}


RECORDINGS = [
    Recording(
        name="storage",
        release=version,
        command="kafka-storage format, info, version-mapping, feature-dependencies",
        sources=(STORAGE_SOURCE,),
        about=_questions,
        ask=partial(_asked, version),
        comparable=_in_order,
    )
    for version in VERSIONS
]


@dataclass(frozen=True)
class Theirs:
    """What kafka-storage of a release did: the answers by name."""

    version: str
    answers: dict[str, Any]


@pytest.fixture(scope="module", params=RECORDINGS, ids=lambda recording: recording.release)
def theirs(request: pytest.FixtureRequest) -> Theirs:
    return Theirs(request.param.release, request.param.answers())


def _content(folder: Path) -> dict[str, Any]:
    """Every file that a format left, as what it means in JSON; times and ids by lot left out."""
    content: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if path.name == "server.properties" or path.is_dir():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        data = path.read_bytes()
        if path.name == "meta.properties":
            lines = data.split(b"\n")
            assert [line[:1] for line in lines[:2]] == [b"#", b"#"]
            lot = b"directory.id="
            kept = [lot if line.startswith(lot) else line for line in lines[2:]]
            ours = [line for line in lines if line.startswith(lot) and line[13:].decode() in IDS]
            content[str(path.relative_to(folder))] = (mode, kept, ours)
        else:
            batches = [*map(_batch, scan(_reader(data)))]
            content[str(path.relative_to(folder))] = (mode, len(data), batches)
    as_json: dict[str, Any] = json.loads(json.dumps(content, default=_hex))
    return as_json


def _hex(value: bytes | ControlRecordType) -> str:
    return value.hex() if isinstance(value, bytes) else value.label


def _reader(data: bytes) -> Callable[[int, int], bytes]:
    return lambda at, size: data[at : at + size]


def _batch(batch: Any) -> Any:
    assert isinstance(batch, RecordBatch)
    assert batch.is_valid
    if batch.is_control:
        records = [_control(record.key, record.value) for record in batch.records()]
    else:
        records = [(record.key, record.value) for record in batch.records()]
    return batch.base_offset, batch.last_offset, batch.epoch, batch.is_control, records


def _control(key: bytes | None, value: bytes | None) -> Any:
    kind = BY_ID[read_key(key)]
    version, data = decode_value(kind, value)
    if data.get("lastContainedLogTimestamp"):
        data["lastContainedLogTimestamp"] = "now"
    for voter in data.get("voters", ()):
        if voter["voterDirectoryId"] not in IDS:
            voter["voterDirectoryId"] = "by lot"
    return kind, version, data


@pytest.mark.parametrize("name", [*FORMATS, *OF_43_ONLY])
def test_the_files_are_those_that_kafka_storage_writes(
    name: str, theirs: Theirs, tmp_path: Path
) -> None:
    if name in OF_43_ONLY and theirs.version != "4.3.0":
        return  # 4.4.0 lays out every release as its own
    given, options = {**FORMATS, **OF_43_ONLY}[name]
    answer = theirs.answers[name]
    assert answer["error"] is None
    options = _dated(options, theirs.version)
    done = kraftool(*_format_words(_settings(tmp_path / name, given), options))
    assert done.returncode == 0, done.stderr
    assert _content(tmp_path / name) == answer["files"]
    lines = answer["out"].replace(PLACE, str(tmp_path)).splitlines()
    lines = [line for line in lines if line.startswith("Formatting")]
    assert sorted(done.stdout.splitlines()) == sorted(lines)
    assert "canary-secret" not in done.stdout + done.stderr


@pytest.mark.parametrize("name", REFUSED)
def test_what_kafka_storage_refuses_is_refused(name: str, theirs: Theirs, tmp_path: Path) -> None:
    given, options = REFUSED[name]
    assert theirs.answers[name]["error"] is not None
    options = _dated(options, theirs.version)
    done = kraftool(*_format_words(_settings(tmp_path / name, given), options))
    assert done.returncode in (2, 5), done.stdout + done.stderr
    assert "--kafka-home" not in done.stderr, "it is refused for what it asks for"
    assert _content(tmp_path / name) == {}


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_those_of_kafka_storage(name: str, theirs: Theirs) -> None:
    answer = theirs.answers[name]
    done = kraftool("storage", *TABLES[name])
    assert (done.returncode, done.stdout) == (answer["code"], answer["out"])


@pytest.mark.parametrize("state", INFO)
def test_info_says_what_kafka_storage_says(state: str, theirs: Theirs, tmp_path: Path) -> None:
    answer = theirs.answers[state]
    done = kraftool("storage", "info", "-c", _info_state(tmp_path / state, state))
    out = done.stdout.replace(str(tmp_path), PLACE)
    assert (done.returncode, out) == (answer["code"], answer["out"])
    assert done.returncode == (0 if state == "formatted" else 1)


@pytest.mark.interop
@pytest.mark.parametrize(
    ("version", "release"),
    [
        pytest.param("3.9.1", "3.9", marks=pytest.mark.soak),
        pytest.param("4.3.0", "4.3", marks=pytest.mark.soak),
        pytest.param("4.4.0", "4.3", marks=pytest.mark.soak),
        ("4.4.0", "4.4"),
    ],
)
def test_real_kafka_starts_on_what_was_formatted_here(
    version: str, release: str, tmp_path: Path
) -> None:
    if problem := kafka.available(version):
        pytest.skip(problem)
    with Cluster(version, tmp_path / "nodes") as cluster:
        for node_id in (1, 2):
            cluster.add_node(node_id, ["controller"])
        cluster.add_node(11, ["broker"])
        cluster.use_bootstrap_servers()
        initial = cluster.initial_controllers()
        for node in cluster.nodes.values():
            options = ["-r", release] + (["-I", initial] if node.controller else [])
            words = _format_words("server.properties", options, cluster.id)
            done = kraftool(*words, cwd=node.directory)
            assert done.returncode == 0, done.stderr
        cluster.start(*cluster.nodes.values())
        leader = cluster.wait_leader()
        quorum = kafka.wait_for("the quorum to be described", cluster.quorum)
        assert {voter["id"] for voter in quorum["voters"]} == {1, 2}, quorum
        cluster.stop(*reversed(cluster.nodes.values()))
        completed = kraftool("features", str(leader.metadata_log_dir), "-o", "json")
    levels = {
        feature["name"]: feature["level"] for feature in json.loads(completed.stdout)["features"]
    }
    for name, level in starting_levels(release, {}, is_dynamic=True).items():
        assert levels.get(name, 0) == level, (name, levels)


def _formatted_for_4_4(cluster: Cluster) -> Node:
    """A controller of the cluster's version, formatted for a newer one, with a user."""
    node = cluster.add_node(1, ["controller"])
    cluster.use_bootstrap_servers()
    options = ["-s", "-S", "SCRAM-SHA-256=[name=alice,password=x]", "-r", "4.4"]
    words = _format_words("server.properties", options, cluster.id)
    done = kraftool(*words, cwd=node.directory)
    assert done.returncode == 0, done.stderr
    return node


@pytest.mark.interop
@pytest.mark.soak
def test_kafka_3_9_ends_on_what_is_formatted_for_4_4(tmp_path: Path) -> None:
    if problem := kafka.available("3.9.1"):
        pytest.skip(problem)

    def begin(cluster: Cluster, node: Node) -> None:
        cluster.start(node)
        cluster.wait_leader()

    with Cluster("3.9.1", tmp_path / "nodes") as cluster:
        node = _formatted_for_4_4(cluster)
        with pytest.raises(kafka.KafkaFailed):
            begin(cluster, node)
        process = node.process
        assert process is not None
        kafka.wait_for("Kafka to end", lambda: not process.alive(), timeout=30)
        assert "No MetadataVersion with feature level" in process.output()


@pytest.mark.interop
@pytest.mark.soak
def test_kafka_4_3_passes_over_what_is_formatted_for_4_4(tmp_path: Path) -> None:
    """It begins with levels of its own, and without the users that were asked for."""
    if problem := kafka.available("4.3.0"):
        pytest.skip(problem)
    with Cluster("4.3.0", tmp_path / "nodes") as cluster:
        node = _formatted_for_4_4(cluster)
        cluster.start(node)
        cluster.wait_leader()
        cluster.stop(node)
        state = kraftool("state", str(node.metadata_log_dir), "-o", "json").stdout
        features = kraftool("features", str(node.metadata_log_dir), "-o", "json").stdout
    assert "alice" not in state
    levels = {feature["name"]: feature["level"] for feature in json.loads(features)["features"]}
    own = starting_levels("4.3", {}, is_dynamic=True)
    assert levels["metadata.version"] == own["metadata.version"]
