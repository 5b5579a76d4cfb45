"""The layouts of nodes: controllers alone, or combined nodes with several log directories.

Owns what server.properties says, and the directories beside the one with the metadata log. A
mount may be in another one's place: then the metadata log is not where Kafka looks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from kraftool.decoders import meta_properties
from tests.repair.simulated_directories import uuid_of

_WRITTEN = datetime(2026, 1, 1, tzinfo=UTC)
_MOVED = 0.05
"""The share of nodes with several directories that have two of these in each other's place."""
SWAPPED_MOUNTS = "two mounts in each other's place"


def laid_out(
    paths: Mapping[int, Path], data: Mapping[int, Path], voters: range, random: Random
) -> Iterator[str]:
    """Give the nodes of an incident another layout; what was done, in words."""
    is_combined = random.random() < 0.5
    for node, properties in sorted(paths.items()):
        if is_combined and node in voters:
            _combine(properties)
            yield f"node {node} is a broker, too"
        more = random.choice((0, 0, 1, 2)) if is_combined or node not in voters else 0
        if not more:
            continue
        beside = [_written(node, number, data[node]) for number in range(1, more + 1)]
        _name_all(properties, data[node], beside, random)
        yield f"node {node} has {1 + more} log directories"
        if random.random() < _MOVED:
            _exchange(data[node], beside[0])
            yield f"node {node} has {SWAPPED_MOUNTS}"


def _combine(properties: Path) -> None:
    text = properties.read_text()
    listener = "listeners=PLAINTEXT://localhost:9092,"
    text = text.replace("process.roles=controller", "process.roles=broker,controller")
    properties.write_text(text.replace("\nlisteners=", f"\n{listener}"))


def _written(node: int, number: int, data: Path) -> Path:
    """A log directory with the folder of a topic."""
    path = data.with_name(f"{data.name}-{number}")
    (path / "topic-0").mkdir(parents=True)
    (path / "topic-0" / f"{0:020}.log").write_bytes(b"")
    try:
        own, _ = meta_properties.decode((data / "meta.properties").read_bytes())
        cluster = own.cluster_id
    except OSError:
        cluster = None
    meta = meta_properties.MetaProperties(
        cluster_id=cluster, node_id=node, directory_id=uuid_of(f"m{node}-{number}")
    )
    (path / "meta.properties").write_bytes(meta_properties.encode(meta, written_at=_WRITTEN))
    return path


def _name_all(properties: Path, data: Path, beside: list[Path], random: Random) -> None:
    """Name all log directories in any order, and the one with the metadata log."""
    named = [data, *beside]
    random.shuffle(named)
    lines = [line for line in properties.read_text().splitlines() if "log.dirs=" not in line]
    lines += [f"log.dirs={','.join(map(str, named))}", f"metadata.log.dir={data}"]
    properties.write_text("\n".join(lines) + "\n")


def _exchange(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)
