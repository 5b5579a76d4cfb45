"""Formats directories as planned: the first snapshot, bootstrap.checkpoint, meta.properties.

Owns the order: meta.properties, which makes a directory a formatted one, comes last and durably, so
that a format that is cut short has formatted nothing and can be run again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime

from kraftool.decoders import meta_properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import BOOTSTRAP_CHECKPOINT, META_PROPERTIES, METADATA_FOLDER
from kraftool.decoders.snapshot import SnapshotFrame, encode_snapshot
from kraftool.image.metadata_version import KRAFT_VERSION
from kraftool.raft.names import BOOTSTRAP_SNAPSHOT, VoterSet
from kraftool.storage.files import Files, replace
from kraftool.storage.format_plan import FormatPlan, PlannedDirectory
from kraftool.storage.lock_taking import DirectoryLock
from kraftool.storage.snapshots import PartFile, frame_of


def write_format(plan: FormatPlan, files: Files, now_ms: int) -> Iterator[PlannedDirectory]:
    """Format one directory after the other; each is given before it is begun."""
    with ExitStack() as locks:
        for directory in plan.directories:
            if files.exists(os.path.join(directory.path, ".lock")):
                locks.enter_context(DirectoryLock(directory.path))
        for directory in plan.directories:
            yield directory
            try:
                _make(files, directory.path)
                _write(plan, directory, files, now_ms)
            except OSError as error:
                raise KraftoolError(
                    f"{error.filename or directory.path}: {error.strerror or error}",
                    hint=f"{directory.path} does not count as formatted; run it again with"
                    " --ignore-formatted",
                ) from error


def _write(plan: FormatPlan, planned: PlannedDirectory, files: Files, now_ms: int) -> None:
    if plan.has_bootstrap_checkpoint:
        frame = SnapshotFrame(epoch=0, last_contained_log_timestamp=0, timestamp=now_ms)
        data = b"".join(encode_snapshot(plan.records(), frame))
        replace(files, os.path.join(planned.path, BOOTSTRAP_CHECKPOINT), data)
    if plan.has_first_snapshot(planned):
        _write_first_snapshot(plan, planned, files, now_ms)
    meta = MetaProperties(
        cluster_id=plan.cluster_id,
        node_id=plan.node_id,
        directory_id=planned.directory_id,
    )
    written_at = datetime.fromtimestamp(now_ms / 1000, UTC)
    data = meta_properties.encode(meta, written_at=written_at)
    replace(files, os.path.join(planned.path, META_PROPERTIES), data)


def _write_first_snapshot(
    plan: FormatPlan, planned: PlannedDirectory, files: Files, now_ms: int
) -> None:
    folder = os.path.join(planned.path, METADATA_FOLDER)
    files.make_folder(folder)
    kraft_version = plan.levels[KRAFT_VERSION]
    voters = VoterSet.of(*plan.voters) if plan.voters else None
    frame = frame_of(BOOTSTRAP_SNAPSHOT, now_ms, kraft_version, voters, now_ms)
    part = PartFile(files, folder, BOOTSTRAP_SNAPSHOT)
    try:
        for encoded_batch in encode_snapshot(plan.records() if plan.in_one_file else (), frame):
            part.append(encoded_batch)
    except BaseException:
        part.delete()
        raise
    part.freeze()


def _make(files: Files, path: str) -> None:
    """Make a folder and those above it that are missing, durably."""
    above = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(above):
        _make(files, above)
    files.make_folder(path)
