"""What lies in the directories of real nodes, and the trees that Kafka's own shell has of it.

Owns how files are found, and which part of a tree outlives a restart. A directory's
metadata is gathered in one file, since the shell reads no more than that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from tests.interop import shelltrees
from tests.interop.clusters import Node
from tests.support.places import PARTITION

_PLACES = re.compile(r"(replicas|directories|removingReplicas|addingReplicas)=\[[^\]]*\]")


def partition(node: Node) -> Path:
    return node.metadata_log_dir / PARTITION


def segments(node: Node) -> list[Path]:
    return sorted(partition(node).glob("*.log"))


def batches(path: Path) -> list[RecordBatch]:
    """The whole batches of a segment or a checkpoint."""
    data = path.read_bytes()
    items = scan(lambda position, size: data[position : position + size])
    return [item for item in items if isinstance(item, RecordBatch)]


def snapshots(node: Node) -> list[Path]:
    """Oldest first, without the 0-0 one."""
    paths = sorted(partition(node).glob("*.checkpoint"))
    return [path for path in paths if not path.name.startswith("0" * 20)]


def contents(directory: Path) -> dict[str, bytes]:
    """Every file below a directory."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


# --- the trees of Kafka's shell -----------------------------------------------------------------


def gathered(directory: Path, target: Path, *, below: int | None = None) -> Path:
    """All of a directory's metadata in one file, which is what the shell reads: the log from 0, or
    the snapshot that it begins with and what follows; up to an offset."""
    logs = sorted((directory / PARTITION).glob("*.log"))
    first = int(logs[0].stem) if logs else 1
    data, start = b"", 0
    if first > 0:
        named = sorted((directory / PARTITION).glob("*.checkpoint"))
        snapshot = next(path for path in named if int(path.name[:20]) >= (first if logs else 0))
        data, start = snapshot.read_bytes(), int(snapshot.name[:20])
    selected = [batch for path in logs for batch in batches(path) if batch.base_offset >= start]
    target.write_bytes(
        data
        + b"".join(
            record_batch.data
            for record_batch in selected
            if below is None or record_batch.last_offset < below
        )
    )
    return target


def trees(files: Sequence[Path]) -> list[dict[str, str]]:
    """What the shell shows of gathered files, which lie in one folder; see `lasting`."""
    assert len({file.parent for file in files}) == 1, "they lie in one folder"
    by_name = shelltrees.kafka_trees([file.name for file in files], files[0].parent)
    return [
        lasting(shelltrees.comparable(kafka_tree.nodes, knows_version=not kafka_tree.faults))
        for kafka_tree in by_name.values()
    ]


def lasting(nodes: Mapping[str, str]) -> dict[str, str]:
    """A tree without registrations, which each start makes anew, and who leads a partition."""
    kept = {path: text for path, text in nodes.items() if not path.startswith("/image/cluster/")}
    for path, text in kept.items():
        if text.startswith("PartitionRegistration("):
            kept[path] = ", ".join(place.group() for place in _PLACES.finditer(text))
    assert any(path.startswith("/image/topics/byName/kept/") for path in kept), "a tree of ours"
    return kept


def differences(ours: Mapping[str, str], theirs: Mapping[str, str]) -> list[str]:
    """What two trees do not have in common."""
    return [
        f"{path}: {ours.get(path)!r}, and {theirs.get(path)!r}"
        for path in sorted(ours.keys() | theirs.keys())
        if ours.get(path) != theirs.get(path)
    ]
