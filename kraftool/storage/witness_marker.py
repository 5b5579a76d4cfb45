"""The file by which a data directory shows that kraftool's node runs on it, and not a Kafka.

Owns its name, its form, and when it counts. The node writes it beside meta.properties whenever it
has written quorum-state, and removes it when it stops in order. Kafka ignores the file, and writes
quorum-state again at each start: the file counts only while quorum-state is the one that it names.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from kraftool.decoders import quorum_state
from kraftool.decoders.names import METADATA_FOLDER, WITNESS_MARKER
from kraftool.storage import files as disk
from kraftool.storage.files import Files

FILE_NAME = WITNESS_MARKER
_VERSION = 1
_LARGEST = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessMarker:
    """The content of the file: the node, its start, and the quorum-state that it wrote last."""

    node_id: int
    directory_id: str
    is_last_resort: bool = True
    """True for a node that is elected as a last resort only; else it was an ordinary candidate
    without a controller, which older versions of kraftool had."""
    process_id: int = 0
    started_at: str = ""
    quorum_state_sha256: str = ""
    quorum_state_time_s: int = 0
    """Its modification time in whole seconds: archives keep no more."""

    @classmethod
    def of_this_process(
        cls, node_id: int, directory_id: str, *, is_last_resort: bool
    ) -> WitnessMarker:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(
            node_id=node_id,
            directory_id=directory_id,
            is_last_resort=is_last_resort,
            process_id=os.getpid(),
            started_at=now,
        )

    def write(self, files: Files, directory: str) -> None:
        """Write the file for the quorum-state that is there now, durably."""
        fingerprint = _quorum_state(files, directory)
        if fingerprint is None:
            return
        digest, time_s = fingerprint
        named = replace(self, quorum_state_sha256=digest, quorum_state_time_s=time_s)
        disk.replace(files, os.path.join(directory, FILE_NAME), named._encoded())

    def _encoded(self) -> bytes:
        fields = {
            "version": _VERSION,
            "nodeId": self.node_id,
            "directoryId": self.directory_id,
            "isLastResort": self.is_last_resort,
            "processId": self.process_id,
            "startedAt": self.started_at,
            "quorumStateSha256": self.quorum_state_sha256,
            "quorumStateTime": self.quorum_state_time_s,
        }
        return json.dumps(fields, indent=1).encode() + b"\n"


def remove(files: Files, directory: str) -> None:
    """Remove the file: the node stopped in order."""
    files.unlink(os.path.join(directory, FILE_NAME))


def read(
    directory: str, *, node_id: int | None, directory_id: str | None, files: Files | None = None
) -> WitnessMarker | None:
    """Return the marker of this node's directory if it counts.

    It does not if it names another node or directory, if it is damaged, and if another process has
    written quorum-state since. A copy that does not keep modification times has no marker either.
    """
    files = files if files is not None else Files()
    try:
        data = _whole(files, os.path.join(directory, FILE_NAME))
        marker = None if data is None else _decoded(data)
        if marker is None or (marker.node_id, marker.directory_id) != (node_id, directory_id):
            return None
        named = (marker.quorum_state_sha256, marker.quorum_state_time_s)
        return marker if _quorum_state(files, directory) == named else None
    except OSError:
        return None


def _quorum_state(files: Files, directory: str) -> tuple[str, int] | None:
    """The hash of quorum-state, and when it was written."""
    path = os.path.join(directory, METADATA_FOLDER, quorum_state.FILE_NAME)
    data = _whole(files, path)
    if data is None:
        return None
    return hashlib.sha256(data).hexdigest(), int(os.stat(path).st_mtime)


def _whole(files: Files, path: str) -> bytes | None:
    """A small file; None if there is none. What is no file, a pipe for example, is an OSError."""
    try:
        file = files.open_itself(path)
    except FileNotFoundError:
        return None
    try:
        return file.read_at(0, _LARGEST)
    finally:
        file.close()


def _decoded(data: bytes) -> WitnessMarker | None:
    try:
        fields: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or fields.get("version") != _VERSION:
        return None
    values: dict[str, Any] = {
        "node_id": fields.get("nodeId"),
        "directory_id": fields.get("directoryId"),
        "is_last_resort": fields.get("isLastResort"),
        "process_id": fields.get("processId"),
        "started_at": fields.get("startedAt"),
        "quorum_state_sha256": fields.get("quorumStateSha256"),
        "quorum_state_time_s": fields.get("quorumStateTime"),
    }
    kinds = (int, str, bool, int, str, str, int)
    if any(type(value) is not kind for value, kind in zip(values.values(), kinds, strict=True)):
        return None
    return WitnessMarker(**values)
