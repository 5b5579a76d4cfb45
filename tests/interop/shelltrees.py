"""Runs kafka-metadata-shell's own classes over many files in one JVM, for its trees and its words.

Owns what is asked of their JVM, and what is recorded of a tree. Left out of a tree is /local, which
tells of the program; the provenance, which is compared by itself; and the name of a
metadata.version that Kafka 4.3.0 does not know, where it shows the one before.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.interop.shared_jvms import tree_session

PROVENANCE = "/image/provenance"
METADATA_VERSION = "/image/features/metadataVersion"
DEFAULT_ENTITY = "/image/clientQuotas/user/"


@dataclass(frozen=True, slots=True)
class KafkaTree:
    """A file's tree: the text of each node by its path, directories with a slash and no text."""

    nodes: dict[str, str]
    faults: str = ""
    """What the loader could not take: a record of a newer Kafka."""

    @property
    def stopped_below(self) -> int | None:
        """Below which offset it stopped, at a batch of nothing but unknown records."""
        if "handleBatch error" not in self.faults:
            return None
        match = re.match(r"offset (-?\d+),", self.nodes[PROVENANCE])
        assert match is not None
        return int(match[1]) + 1


def kafka_trees(files: Sequence[str], cwd: Path) -> dict[str, KafkaTree]:
    """The trees of files, which are named relative to `cwd`."""
    fields = iter(tree_session().call("tree", *(str(cwd / name) for name in files)))
    trees = {}
    for name in files:
        assert next(fields) == str(cwd / name)
        faults, count = next(fields), int(next(fields))
        trees[name] = KafkaTree({next(fields): next(fields) for _ in range(count)}, faults)
    assert next(fields, None) is None
    return trees


def kafka_answers(file: str, lines: Sequence[str], cwd: Path) -> list[str]:
    """What the shell prints for each line of a session over a file."""
    return tree_session().call("run", str(cwd / file), *lines)


def comparable(nodes: Mapping[str, str], *, knows_version: bool = True) -> dict[str, str]:
    """The nodes that have to be the same."""
    left_out = (PROVENANCE,) if knows_version else (PROVENANCE, METADATA_VERSION)
    return {
        path: text
        for path, text in nodes.items()
        if not path.startswith("/local/") and path not in left_out
    }


def digests(nodes: Mapping[str, str]) -> dict[str, str]:
    """Return a hash for each part of a tree, such as /image/topics."""
    parts: dict[str, list[str]] = {}
    for path in sorted(nodes):
        parts.setdefault("/".join(path.split("/")[:3]), []).append(f"{path}\0{nodes[path]}\0")
    return {
        part: hashlib.sha256("".join(texts).encode()).hexdigest()[:20]
        for part, texts in parts.items()
    }


def loadable(folder: Path) -> list[str]:
    """Every checkpoint below a folder, and every segment of the metadata log from offset 0."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file()
        and (
            path.name.endswith(".checkpoint")
            or (path.name == f"{0:020}.log" and path.parent.name == "__cluster_metadata-0")
        )
    )


def kept(tree: KafkaTree) -> dict[str, Any]:
    """What is recorded of a tree."""
    entry: dict[str, Any] = {"provenance": tree.nodes[PROVENANCE]}
    if tree.faults:
        entry["faults"] = sorted(set(tree.faults.split("; ")))
    if tree.stopped_below is not None:
        entry["below"] = tree.stopped_below
    entry["filled"] = sorted(
        {"/".join(path.split("/")[:3]) for path, text in tree.nodes.items() if text}
        | {DEFAULT_ENTITY} & tree.nodes.keys()
    )
    entry["parts"] = digests(comparable(tree.nodes, knows_version=not tree.faults))
    return entry
