"""Starts real Kafka on directories, many in one JVM, and reports what each start did.

Owns the JVM of `java/Starts.java`, healthy directories to damage, and what a start changed on the
disk. It starts Kafka's own server class (KafkaRaftServer); only the process around it is shared,
since a JVM of its own costs each start three seconds. With `own_process` each start is a process.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
import select
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Self

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.segment import scan
from kraftool.reports.doctor.read import examine, locations_of
from kraftool.reports.doctor.report import diagnose
from kraftool.reports.files.locations import open_paths
from kraftool.reports.findings.finding import Finding
from kraftool.reports.verify.log import verify_logs
from kraftool.reports.verify.snapshot import verify_snapshots
from tests.interop import kafka
from tests.interop.clusters import random_uuid
from tests.interop.kafka import KafkaFailed
from tests.interop.our_commands import kraftool
from tests.support.places import PARTITION, ROOT
from tests.support.ports import HOST, free_ports

SOURCE = Path(__file__).with_name("java") / "Starts.java"
SECONDS = 15
"""A start on a healthy directory takes half a second."""
VERSIONS = ("4.3.0", "4.3.1", "3.9.1")
_ERROR = re.compile(r"\] ERROR .*(LogLoader|LogSegment|UnifiedLog|RaftLog|MetadataLog|fatal fault)")
STATIC, SEGMENTS, CLEANED, DYNAMIC = "static", "segments", "cleaned", "dynamic"


def batches(path: Path) -> list[RecordBatch]:
    """The whole batches of a segment or checkpoint; what lies between is passed over."""
    return whole_batches(path.read_bytes())


def whole_batches(data: bytes) -> list[RecordBatch]:
    items = scan(lambda position, size: data[position : position + size])
    return [item for item in items if isinstance(item, RecordBatch)]


def segments(data: Path) -> list[Path]:
    return sorted((data / PARTITION).glob(f"{'[0-9]' * 20}.log"))


def snapshots(data: Path) -> list[Path]:
    """Oldest first, without the one at offset 0."""
    files = sorted((data / PARTITION).glob("*.checkpoint"))
    return [path for path in files if not path.name.startswith("0" * 20)]


def contents(data: Path) -> dict[str, bytes]:
    """The files of a data directory, by their path in it."""
    return {
        str(path.relative_to(data)): path.read_bytes()
        for path in sorted(data.rglob("*"))
        if path.is_file()
    }


@dataclass(slots=True)
class Server:
    """Settings of one node on one data directory."""

    data: Path
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def properties(self) -> Path:
        return self.data.parent / "server.properties"

    def write(self) -> None:
        text = "".join(f"{key}={value}\n" for key, value in self.settings.items())
        self.properties.write_text(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """How one start of Kafka went."""

    outcome: str
    """`active` (the active controller), `started`, `exit` or `waiting` (time is up)."""
    log: str
    """What Kafka logged."""
    node: Server
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    findings: tuple[Finding, ...] = ()
    """What kraftool reported before the start."""

    def names(self, ending: str, *, before: bool = False) -> list[str]:
        """Files of the metadata partition whose names end so."""
        files = self.before if before else self.after
        prefix = f"{PARTITION}/"
        return [
            path.removeprefix(prefix)
            for path in files
            if path.startswith(prefix) and path.endswith(ending)
        ]

    @property
    def data(self) -> Path:
        return self.node.data

    @property
    def old_end(self) -> int:
        """The end of the last whole batch before the start."""
        old = [
            batch
            for name in self.names(".log", before=True)
            for batch in whole_batches(self.before[f"{PARTITION}/{name}"])
        ]
        return max((batch.last_offset + 1 for batch in old), default=0)

    @property
    def first_hole(self) -> int | None:
        """Where the log stops, after the start, before a segment that begins later."""
        for path, following in pairwise(segments(self.data)):
            items = batches(path)
            end = items[-1].last_offset + 1 if items else int(path.stem)
            if end < int(following.stem):
                return end
        return None

    def codes_now(self) -> set[str]:
        """The codes that kraftool reports after the start."""
        return {finding.code for finding in findings(self.node)}

    @property
    def new_batches(self) -> list[RecordBatch]:
        """The batches that were not there before."""
        old = b"".join(
            self.before[f"{PARTITION}/{name}"] for name in self.names(".log", before=True)
        )
        return [
            batch
            for path in segments(self.data)
            for batch in batches(path)
            if batch.data not in old
        ]

    @property
    def end(self) -> int | None:
        """The log's end when the node began to lead: its first batch is there."""
        new = self.new_batches
        return new[0].base_offset if new else None

    @property
    def start(self) -> int | None:
        """Where the first segment begins."""
        paths = segments(self.data)
        return int(paths[0].stem) if paths else None

    @property
    def errors(self) -> list[str]:
        """Errors of the log's recovery, and fatal ones; a stop amid a registration logs others."""
        return [line for line in self.log.splitlines() if _ERROR.search(line)]


def numbered_id(number: int) -> str:
    """Return the same id in each run: what a start shows is recorded for the bytes of a damage."""
    return base64.urlsafe_b64encode(bytes([number]) * 16).decode().rstrip("=")


def written(data: Path) -> int:
    """Bytes in the segments."""
    return sum(path.stat().st_size for path in segments(data))


_YEARS_MS = str(100 * 365 * 24 * 3600 * 1000)


def server(data: Path, *, dynamic: bool = False, node_id: int = 1) -> Server:
    """The settings of a sole controller on a directory."""
    [port] = free_ports(1)
    at = f"{HOST}:{port}"
    voters = (
        {"controller.quorum.bootstrap.servers": at}
        if dynamic
        else {"controller.quorum.voters": f"{node_id}@{at}"}
    )
    return Server(
        data,
        {
            "process.roles": "controller",
            "node.id": str(node_id),
            "listeners": f"CONTROLLER://{at}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT",
            "log.dirs": str(data),
            "metadata.log.max.snapshot.interval.ms": "0",
            # Else what a start shows would depend on how old the fixtures are.
            "metadata.log.segment.ms": _YEARS_MS,
            "metadata.max.retention.ms": _YEARS_MS,
            "delegation.token.secret.key": "CANARY-token-secret-key",
            **voters,
        },
    )


def _written(node: Server) -> Server:
    node.write()
    return node


class Starts:
    """Starts of one Kafka version."""

    def __init__(self, version: str, root: Path, *, own_process: bool = False) -> None:
        self.version = version
        self.root = root
        self.own_process = own_process
        self._jvm: kafka.Process | None = None
        self.healthy: dict[str, Path] = {}
        """Directories that copies are made of, by their base."""
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._jvm is not None:
            self._jvm.close()

    # --- healthy directories ------------------------------------------------------------------

    def copy(self, base: str) -> Path:
        """A healthy data directory that this version wrote, to be damaged."""
        if base not in self.healthy:
            made = self.root / f"healthy-{base}" / "data"
            make = {
                STATIC: self._static,
                SEGMENTS: self._segments,
                CLEANED: self._cleaned,
                DYNAMIC: self._dynamic,
            }
            make[base](made)
            self.healthy[base] = made
        self._count += 1
        copy = self.root / f"{self._count}-{base}" / "data"
        shutil.copytree(self.healthy[base], copy)
        return copy

    def _static(self, made: Path) -> None:
        wrote = self.version if self.version in kafka.VERSIONS else "4.3.0"
        source = ROOT / f"fixtures/kafka-{wrote}/static-single/node-1/data"
        made.mkdir(parents=True)
        for name in ("meta.properties", "bootstrap.checkpoint"):
            shutil.copy(source / name, made)
        shutil.copytree(source / PARTITION, made / PARTITION)
        for path in made.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)

    def _segments(self, made: Path) -> None:
        """The same log in three segments with the indexes that Kafka makes of them."""
        self._split(made)
        [(outcome, log)] = self._start_all([_written(server(made))])
        assert outcome == "active", log

    def _split(self, made: Path) -> None:
        """Three segments, rolled at snapshots' offsets."""
        self._static(made)
        [whole] = segments(made)
        middle, last = (int(path.name[:20]) for path in snapshots(made)[-2:])
        parts = {0: b"", middle: b"", last: b""}
        for batch in batches(whole):
            parts[max(start for start in parts if start <= batch.base_offset)] += batch.data
        for path in (made / PARTITION).glob("*.*index"):
            path.unlink()
        for start, part in parts.items():
            (made / PARTITION / f"{start:020}.log").write_bytes(part)

    def _cleaned(self, made: Path) -> None:
        """What cleaning leaves: the log begins at a snapshot."""
        self._split(made)
        segments(made)[0].unlink()
        for path in snapshots(made)[:-2]:
            path.unlink()
        [(outcome, log)] = self._start_all([_written(server(made))])
        assert outcome == "active", log

    def _dynamic(self, made: Path) -> None:
        made.parent.mkdir(parents=True)
        node = _written(server(made, dynamic=True))
        release = ".".join(self.version.split(".")[:2])
        done = kraftool(
            *("format", "--config", node.properties, "--cluster-id", random_uuid()),
            *("--standalone", "--release-version", release),
        )
        assert done.returncode == 0, done.stdout + done.stderr
        for _ in range(2):
            [started] = self._start_all([node])
            assert started[0] == "active", started

    # --- starts -------------------------------------------------------------------------------

    def start(
        self,
        *servers: Server,
        repair: Callable[[Server], None] | None = None,
        seconds: int = SECONDS,
        writes: bool = False,
    ) -> list[Started]:
        """Start nodes together, until each has an outcome, and stop them again.

        With `writes` the active controller has to write a record, too, as it does when idle.
        kraftool looks at the directories first; then `repair` does what its advice says.
        """
        for node in servers:
            node.write()
        reported = findings(*servers)
        before = []
        for node in servers:
            if repair is not None:
                repair(node)
            before.append(contents(node.data))
        outcomes = self._start_all(servers, seconds=seconds, writes=writes)
        return [
            Started(
                outcome=outcome,
                log=log,
                node=node,
                before=old,
                after=contents(node.data),
                findings=reported,
            )
            for (outcome, log), old, node in zip(outcomes, before, servers, strict=True)
        ]

    def _start_all(
        self, servers: Sequence[Server], *, seconds: int = SECONDS, writes: bool = False
    ) -> list[tuple[str, str]]:
        nodes = list(servers)
        if self.own_process:
            assert len(nodes) == 1
            return [self._start_process(nodes[0], seconds, writes=writes)]
        jvm = self._running()
        begin = jvm.log.stat().st_size
        question = {
            "nodes": [str(node.properties) for node in nodes],
            "seconds": seconds,
            "writes": writes,
        }
        jvm.stdin.write(json.dumps(question).encode() + b"\n")
        jvm.stdin.flush()
        ready, _, _ = select.select([jvm.stdout], [], [], kafka.PATIENCE_S)
        line = jvm.stdout.readline() if ready else b""
        with jvm.log.open("rb") as file:
            file.seek(begin)
            log = file.read().decode(errors="replace")
        if not line:
            self._jvm = None
            jvm.close()
            raise KafkaFailed(f"no answer of the JVM that starts {question}:\n{log[-3000:]}")
        answer = json.loads(line)
        if len(nodes) > 1 or answer["spent"] == "true":  # they are not all stopped
            self._jvm = None
            jvm.close()
        result = []
        for node in nodes:
            outcome, _, why = answer[node.settings["node.id"]].partition(": ")
            result.append((outcome, f"{log}\n{why}"))
        return result

    def _running(self) -> kafka.Process:
        if self._jvm is None or not self._jvm.alive():
            command = kafka.java_command(self.version, SOURCE, heap="-Xmx400m", level="INFO")
            self._jvm = kafka.Process(command, self.root / "starts.log", piped=True)
        return self._jvm

    def _start_process(
        self, node: Server, seconds: int, *, writes: bool = False
    ) -> tuple[str, str]:
        """As an operator starts it."""
        command = kafka.java_command(
            self.version, "kafka.Kafka", str(node.properties), heap="-Xmx300m", level="INFO"
        )
        log = node.data.parent / "kafka.log"
        active = re.compile(r"QuorumController id=\d+\] Becoming the active controller")
        with kafka.Process(command, log) as process:

            def outcome() -> str | None:
                if not process.alive():
                    return "exit"
                text = process.output()
                up = "Kafka Server started" in text
                return "active" if up and active.search(text) else None

            try:
                reached = kafka.wait_for("an outcome", outcome, timeout=seconds + 15)
            except KafkaFailed:
                up = "Kafka Server started" in process.output()
                reached = "started" if up else "waiting"
            if reached == "active" and writes:
                size = written(node.data)
                kafka.wait_for("a record of the leader", lambda: written(node.data) > size)
            if reached == "active":
                process.stop()  # without a leader a controller does not stop by itself
            return reached, process.output()


def findings(*nodes: Server) -> tuple[Finding, ...]:
    """What doctor, verify-log and verify-snapshot report of the nodes' directories."""
    locations, unopened = locations_of([str(node.properties) for node in nodes])
    report = diagnose(examine(locations, unopened))
    reported = [diagnosis.finding for section in report.sections for diagnosis in section.diagnoses]
    directories = [path for node in nodes for path in node.settings["log.dirs"].split(",")]
    opened, problems = open_paths(directories)
    reported += verify_logs(opened, unopened=problems).rows
    with contextlib.suppress(KraftoolError):  # there is no snapshot to verify
        data = [str(node.data) for node in nodes]
        reported += verify_snapshots(open_paths(data)[0]).all_findings
    return tuple(reported)
