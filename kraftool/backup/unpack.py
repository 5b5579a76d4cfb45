"""A backup as a data directory, which Kafka starts on and `recover plan` takes the state from.

Owns the order: meta.properties, which makes a folder a data directory, comes last.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

from kraftool.backup.create import NotWholeError
from kraftool.backup.manifest import Manifest
from kraftool.backup.verify import verified_checkpoint
from kraftool.decoders import meta_properties, quorum_state
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.meta_properties import MetaProperties
from kraftool.decoders.names import META_PROPERTIES, METADATA_FOLDER, write_segment_name
from kraftool.decoders.quorum_state import QuorumState
from kraftool.raft.names import OffsetAndEpoch
from kraftool.storage.backup_files import BackupFiles
from kraftool.storage.entry import Entry
from kraftool.storage.files import Files, replace
from kraftool.storage.random_ids import random_uuid
from kraftool.storage.snapshots import PartFile
from kraftool.storage.source import chunks_of


def unpack(files: BackupFiles, manifest: Manifest, folder: str, node_id: int, now_ms: int) -> None:
    """Write a backup into a new folder, as the data directory of a node. Raises KraftoolError, and
    NotWholeError where something would be overwritten, or the backup is not as it was written."""
    location = verified_checkpoint(files, manifest)
    if not manifest.cluster_id:
        raise NotWholeError(
            f"{files.shown_path(manifest.name)} is not unpacked: no cluster id is known for it",
            hint="create the backup of a live leader or of a whole data directory",
        )
    [checkpoint] = (entry for entry in location.entries() if isinstance(entry, Entry))
    try:
        _write(manifest, checkpoint, folder, node_id, now_ms)
    except OSError as error:
        raise KraftoolError(f"{error.filename or folder}: {error.strerror or error}") from None


def _write(manifest: Manifest, checkpoint: Entry, folder: str, node_id: int, now_ms: int) -> None:
    if os.path.isdir(folder) and os.listdir(folder):
        raise NotWholeError(f"{folder} is not empty", hint="name a new folder")
    disk, partition = Files(), os.path.join(folder, METADATA_FOLDER)
    os.makedirs(folder, 0o700, exist_ok=True)
    disk.make_folder(partition)
    own = manifest.checkpoint
    part = PartFile(disk, partition, OffsetAndEpoch(own.offset, own.epoch))
    try:
        with checkpoint.open() as source:
            for chunk in chunks_of(source):
                part.append(chunk)
    except BaseException:
        part.delete()
        raise
    part.freeze()
    replace(disk, os.path.join(partition, write_segment_name(own.offset, ".log")), b"")
    election = QuorumState(data_version=min(manifest.kraft_version, 1), leader_epoch=own.epoch)
    replace(disk, os.path.join(partition, quorum_state.FILE_NAME), quorum_state.encode(election))
    meta = MetaProperties(
        cluster_id=manifest.cluster_id, node_id=node_id, directory_id=random_uuid()
    )
    data = meta_properties.encode(meta, written_at=datetime.fromtimestamp(now_ms / 1000, UTC))
    replace(disk, os.path.join(folder, META_PROPERTIES), data)
