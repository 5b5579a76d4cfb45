"""The two state files of a directory, meta.properties and quorum-state, read by themselves.

Owns what they say to a caller that reads them alone, and why Kafka refuses one. All else that is
odd about them is found where all files of a directory are read (`file_report.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kraftool.decoders import meta_properties, quorum_state
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.names import META_PROPERTIES
from kraftool.decoders.quorum_state import QuorumState
from kraftool.directory.metadata_summary import NodeIds
from kraftool.reports.findings.finding import Finding, FindingKind
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.storage.entry import Entry

_LARGEST = 1 << 20


def read_ids(entry: Entry) -> tuple[NodeIds, Finding | None]:
    """The identity in a meta.properties, and why Kafka refuses it. Raises KraftoolError if it
    cannot be read."""
    meta, errors = meta_properties.decode(_content(entry))
    return NodeIds.of(meta), None if meta.accepted else _refused(kinds.META, entry, errors)


def read_election(entry: Entry) -> tuple[QuorumState | None, Finding | None]:
    """The state in a quorum-state, and why Kafka refuses it. Raises KraftoolError if it cannot be
    read."""
    file, errors = quorum_state.decode(_content(entry))
    return file.quorum_state, None if file.accepted else _refused(kinds.QUORUM_STATE, entry, errors)


def cluster_in(entries: Iterable[Entry]) -> str | None:
    """The cluster id in the meta.properties among files; None if there is none. Raises
    KraftoolError if it cannot be read."""
    file = next((entry for entry in entries if entry.basename == META_PROPERTIES), None)
    return read_ids(file)[0].cluster_id if file is not None else None


def _content(entry: Entry) -> bytes:
    with entry.open() as source:
        return source.read_at(0, _LARGEST)


def _refused(kind: FindingKind, entry: Entry, errors: Sequence[DecodeError]) -> Finding | None:
    return kind.of_error(entry.name, errors[0]) if errors else None
