"""One backup: the state of a PATH or of a leader as a checkpoint, and the manifest of it.

Owns the order: the state first, then the checkpoint, which is read back, then the manifest. If it
is interrupted before that, there is no backup. It refuses a state that is not whole.
"""

from __future__ import annotations

import hashlib
import io
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import IO, Any

from kraftool import __version__
from kraftool.backup.manifest import (
    BackupCheckpoint,
    BackupFeature,
    Manifest,
    VoterKey,
    newest_first,
)
from kraftool.backup.secrets import without_secrets
from kraftool.decoders.control import ControlRecordType
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import write_checkpoint_name
from kraftool.decoders.snapshot import encode_snapshot
from kraftool.image.image import MetadataImage
from kraftool.image.state_hash import state_hash
from kraftool.raft.names import OffsetAndEpoch, VoterSet
from kraftool.raft.wire.batches import voter_set
from kraftool.repair.state_records import records_of
from kraftool.reports.findings.finding import Severity
from kraftool.reports.state.compare import cluster_of
from kraftool.reports.state.files import StateFiles, open_state
from kraftool.reports.state.load import LoadedState, load_from
from kraftool.reports.state.replay import Progress
from kraftool.reports.state.summary import StateCounts, state_counts
from kraftool.reports.text.json_document import json_document
from kraftool.storage import age
from kraftool.storage.backup_files import KIND, MANIFEST, BackupFiles, temporary_file
from kraftool.storage.paths import Location
from kraftool.storage.snapshots import frame_of
from kraftool.storage.source import CHUNK, chunks_of


class NotWholeError(KraftoolError):
    """A state of which no backup is made, or a place where none is written: something would be
    lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupOptions:
    """The options of a backup."""

    at: int | None = None
    """The offset; None for the last one."""
    with_secrets: bool = True
    recipients: tuple[str, ...] = ()
    """The keys to encrypt to."""
    now_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """The state that a backup keeps."""

    image: MetadataImage
    end: OffsetAndEpoch
    kraft_version: int
    voters: VoterSet
    hash: str
    left_out_scram: int = 0
    left_out_configs: tuple[str, ...] = ()


def create(
    files: BackupFiles, location: Location, options: BackupOptions, source: str, progress: Progress
) -> Manifest:
    """Make a backup of a location. Raises KraftoolError, and NotWholeError where the state must not
    be relied on."""
    age.check_recipients(options.recipients)
    read = open_state(location)
    cluster_id = cluster_of(read) or ""
    loaded = _loaded(read, options.at, progress)
    state = _state(loaded, with_secrets=options.with_secrets)
    earlier = newest_first(files)
    newest = next(earlier, None)
    of_cluster = "" if newest is None else newest.cluster_id
    of_cluster = of_cluster or next((one.cluster_id for one in earlier if one.cluster_id), "")
    if cluster_id and of_cluster not in ("", cluster_id):
        raise NotWholeError(
            f"{files.shown} has backups of another cluster: {of_cluster}, not {cluster_id}",
            hint="name a folder of its own for each cluster",
        )
    name, checkpoint = _free_name(files, options.now_ms), None
    try:
        checkpoint = _same(files, newest, state, options) if newest is not None else None
        if checkpoint is None:
            checkpoint = _write_checkpoint(files, name, state, options)
        manifest = _manifest(name, state, options, checkpoint, location, source, cluster_id)
        files.write(f"{name}/{MANIFEST}", io.BytesIO(b"".join(json_document(manifest))))
    except KraftoolError:
        # A full disk gets no fuller by what each attempt would leave.
        with suppress(KraftoolError):
            if checkpoint is not None and checkpoint.path.startswith(f"{name}/"):
                files.remove(checkpoint.path)
            files.remove_if_empty(name)
        raise
    return manifest


def _loaded(read: StateFiles, at: int | None, progress: Progress) -> LoadedState:
    """The state at a border of transactions. Raises NotWholeError where it is not whole."""
    loaded = load_from(read, at=at, progress=progress)
    if loaded.open_transaction is not None:
        # A snapshot cannot begin inside of a transaction: its records are not in the state.
        loaded = load_from(read, at=loaded.open_transaction.offset, progress=progress)
    # Without a record that is not known, something of the state would be missing.
    errors = [one for one in loaded.findings if one.severity is Severity.ERROR or one.undecoded]
    if errors:
        raise NotWholeError(
            f"no backup is made of what cannot be read whole: {errors[0].where()}:"
            f" {errors[0].sentence()}",
            hint="read another controller's directory, or a live leader. kraftool doctor says more",
        )
    if not loaded.has_its_beginning:
        raise NotWholeError(
            f"no backup is made of {loaded.path}: what comes before offset {loaded.start_offset} is"
            " missing",
            hint="name a directory with a snapshot, or a live leader",
        )
    if loaded.divided_batch is not None:
        first, last = loaded.divided_batch
        raise NotWholeError(
            f"no backup is made at offset {at}: it is inside of a batch",
            hint=f"name {first} or {last + 1}",
        )
    if loaded.image.features.metadata_version is None:
        raise NotWholeError(
            f"no backup is made of {loaded.path}: it has no metadata.version yet",
            hint="wait for the first leader of the cluster",
        )
    return loaded


def _state(loaded: LoadedState, *, with_secrets: bool) -> _State:
    image, provenance = loaded.image, loaded.image.provenance
    control = loaded.controls.get(ControlRecordType.KRAFT_VERSION)
    kraft_version = int(control.value["kRaftVersion"]) if control is not None else 0
    of_voters = loaded.controls.get(ControlRecordType.KRAFT_VOTERS)
    voters = voter_set(of_voters.value) if of_voters is not None else VoterSet()
    state = _State(
        image=image,
        end=OffsetAndEpoch(provenance.offset, provenance.last_epoch),
        kraft_version=kraft_version,
        voters=voters,
        hash="",
    )
    if not with_secrets:
        reduced = without_secrets(image)
        state = replace(
            state,
            image=reduced.image,
            left_out_scram=reduced.scram_credentials,
            left_out_configs=reduced.configs,
        )
    return replace(state, hash=state_hash(state.image))


def _free_name(files: BackupFiles, now_ms: int) -> str:
    """Begin a backup by a name that no other has: two may begin in one second."""
    name = datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    taken = set(files.names())
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(free for free in names if free not in taken and files.begin(free))


def _same(
    files: BackupFiles, newest: Manifest, state: _State, options: BackupOptions
) -> BackupCheckpoint | None:
    """The checkpoint of the newest backup, if it is the one that would be written again."""
    made, own = newest, newest.checkpoint
    is_same = (
        (made.state_hash, made.kraft_version, made.has_secrets, made.encrypted_to)
        == (state.hash, state.kraft_version, options.with_secrets, options.recipients)
        and made.voter_keys == _voter_keys(state.voters)
        and own.offset <= state.end.offset
    )
    if not is_same or not files.has(own.path) or digest_of(files, own.path)[0] != own.sha256:
        return None
    return own


def _voter_keys(voters: VoterSet) -> tuple[VoterKey, ...]:
    keys = sorted(voter.key for voter in voters)
    return tuple(VoterKey(id=key.id, directory_id=key.directory_id) for key in keys)


def _write_checkpoint(
    files: BackupFiles, name: str, state: _State, options: BackupOptions
) -> BackupCheckpoint:
    path = f"{name}/{write_checkpoint_name(*state.end)}"
    frame = frame_of(
        state.end,
        state.image.provenance.last_timestamp,
        state.kraft_version,
        state.voters or None,
        options.now_ms,
    )
    with temporary_file() as plain:
        for piece in encode_snapshot(records_of(state.image), frame):
            plain.write(piece)
        plain.seek(0)
        if not options.recipients:
            return _written(files, path, plain, state.end)
        with temporary_file() as encrypted:
            age.encrypt(plain, encrypted, options.recipients)
            encrypted.seek(0)
            return _written(files, path + age.SUFFIX, encrypted, state.end)


def _written(
    files: BackupFiles, path: str, content: IO[bytes], end: OffsetAndEpoch
) -> BackupCheckpoint:
    """Write a file, and read it back. Raises KraftoolError where the two differ."""
    written = digest(iter(lambda: content.read(CHUNK), b""))
    content.seek(0)
    files.write(path, content)
    if digest_of(files, path) != written:
        files.remove(path)
        raise KraftoolError(
            f"{files.shown_path(path)} was written, and reads back as something else",
            hint="check the disk or the store, and create the backup again",
        )
    sha256, size = written
    return BackupCheckpoint(path=path, offset=end.offset, epoch=end.epoch, size=size, sha256=sha256)


def digest_of(files: BackupFiles, path: str) -> tuple[str, int]:
    """The SHA-256 of a file and its size. Raises KraftoolError where it cannot be read."""
    with files.open(path) as source:
        return digest(chunks_of(source))


def digest(chunks: Iterable[bytes]) -> tuple[str, int]:
    """The SHA-256 of what comes in chunks, and its size."""
    made, size = hashlib.sha256(), 0
    for chunk in chunks:
        made.update(chunk)
        size += len(chunk)
    return made.hexdigest(), size


def _manifest(
    name: str,
    state: _State,
    options: BackupOptions,
    checkpoint: BackupCheckpoint,
    location: Location,
    source: str,
    cluster_id: str,
) -> Manifest:
    image, counts = state.image, state_counts(state.image)
    features = image.features
    assert features.metadata_version is not None, "there is no backup without one"
    return Manifest(
        kind=KIND,
        name=name,
        created=options.now_ms,
        kraftool_version=__version__,
        host=socket.gethostname(),
        source=source,
        cluster_id=cluster_id,
        offset=state.end.offset,
        epoch=state.end.epoch,
        last_timestamp=image.provenance.last_timestamp,
        is_committed=True if location.high_watermark is not None else None,
        metadata_version=features.metadata_version,
        kraft_version=state.kraft_version,
        features=tuple(
            BackupFeature(name=name, level=level) for name, level in features.finalized.items()
        ),
        voter_keys=_voter_keys(state.voters),
        state_hash=state.hash,
        **_counts(counts),
        has_secrets=options.with_secrets,
        left_out_scram_credentials=state.left_out_scram,
        left_out_configs=state.left_out_configs,
        encrypted_to=options.recipients,
        checkpoint=checkpoint,
    )


def _counts(counts: StateCounts) -> dict[str, Any]:
    names: Sequence[str] = (
        "brokers", "topics", "partitions", "configs", "acls", "client_quotas", "delegation_tokens",
    )  # fmt: skip
    return {
        **{name: getattr(counts, name) for name in names},
        "scram_credentials": sum(counts.scram_credentials_by_mechanism.values()),
    }
