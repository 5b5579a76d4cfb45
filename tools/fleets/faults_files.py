"""Faults of snapshots, of the state files and of whose directory it is.

Owns the edits; each is one that people or disks have made.
"""

from __future__ import annotations

from fleets.cluster import uuid
from fleets.faults import FaultKind, Place, Site, batches
from fleets.faults_log import INDEXES
from kraftool.decoders.batch import HEADER_SIZE, encode_batch
from kraftool.decoders.framing import decode_record, encode_record
from kraftool.decoders.names import write_checkpoint_name

_META = "meta.properties"
_QUORUM_STATE = "quorum-state"
_HARMLESS = frozenset({"retention.ms", "segment.bytes", "max.message.bytes", "message.max.bytes"})
"""Configurations of which no rule says that a value is odd."""
_GONE = ("KT-SNAP-FORM", "KT-SNAP-MISSING", "KT-LOG-REPLAY")
"""What is told where a cleaned log had no other snapshot to begin with."""


def snapshot_damaged(site: Site) -> Place:
    path = site.snapshots()[-1]
    every = batches(path)
    batch = every[len(every) // 2]
    position = batch.position + site.random.randrange(HEADER_SIZE, len(batch.data))
    data = bytearray(path.read_bytes())
    data[position] ^= 1 << site.random.randrange(8)
    path.write_bytes(data)
    return Place(
        file=site.below(path),
        position=batch.position,
        end=batch.position + len(batch.data),
        offset=int(path.name[:20]),
        byte=position,
    )


def snapshot_truncated(site: Site) -> Place:
    path = site.snapshots()[-1]
    every = batches(path)
    size = path.stat().st_size * site.random.randint(30, 90) // 100
    with path.open("r+b") as file:
        file.truncate(size)
    torn = next(batch for batch in every if batch.position + len(batch.data) > size)
    return Place(
        file=site.below(path), position=torn.position, end=size, offset=int(path.name[:20])
    )


def snapshot_misnamed(site: Site) -> Place:
    """The name says another epoch than the log has there."""
    path = site.snapshots()[-1]
    offset, epoch = int(path.name[:20]), int(path.name[21:31])
    renamed = path.rename(path.with_name(write_checkpoint_name(offset, epoch + 1)))
    return Place(file=site.below(renamed), offset=offset)


def snapshot_differs(site: Site) -> Place:
    """Another state than the other nodes' at the same offset: a configuration has another value."""
    mine = {snapshot.name: snapshot for snapshot in site.snapshots()}
    theirs = {
        path.name
        for voter in site.others
        for path in site.cluster.partition(voter).glob("*.checkpoint")
    }
    path = mine[max(mine.keys() & theirs)]
    made = b""
    changed = False
    for batch in batches(path):
        records: list[bytes] = []
        if not batch.is_control:
            for record in batch.records():
                assert record.value is not None
                name, version, value = decode_record(record.value)
                if not changed and name == "ConfigRecord" and value["name"] in _HARMLESS:
                    value = {**value, "value": value["value"] + "0"}
                    changed = True
                records.append(encode_record(name, version, value))
        header = batch.header
        made += batch.data if batch.is_control else encode_batch(
            ((None, record) for record in records),
            base_offset=header.base_offset,
            epoch=header.partition_leader_epoch,
            timestamp=header.base_timestamp,
        )  # fmt: skip
    assert changed
    path.write_bytes(made)
    return Place(file=site.below(path), offset=int(path.name[:20]))


# --- whose it is ----------------------------------------------------------------------------------


def edited_meta(site: Site, key: str, value: str) -> Place:
    """Give a directory another id."""
    path = site.path / _META
    lines = path.read_text().splitlines(keepends=True)
    assert any(line.startswith(f"{key}=") for line in lines)
    edited = [f"{key}={value}\n" if line.startswith(f"{key}=") else line for line in lines]
    path.write_text("".join(edited))
    return Place(file=_META)


def foreign_cluster_id(site: Site) -> Place:
    return edited_meta(site, "cluster.id", uuid(site.random))


def duplicate_node_id(site: Site) -> Place:
    other = site.others[0]
    place = edited_meta(site, "node.id", str(other.id))
    place.other = site.cluster.spec.folder(other)
    return place


def duplicate_directory_id(site: Site) -> Place:
    other = site.others[0]
    place = edited_meta(site, "directory.id", other.directory_id)
    place.other = site.cluster.spec.folder(other)
    return place


def reformatted_voter(site: Site) -> Place:
    """The disk was formatted again: the voters name the old directory id."""
    return edited_meta(site, "directory.id", uuid(site.random))


def missing_meta(site: Site) -> Place:
    (site.path / _META).unlink()
    return Place(file=_META)


# --- state files ----------------------------------------------------------------------------------


def broken_quorum_state(site: Site) -> Place:
    path = site.partition / _QUORUM_STATE
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    return Place(file=site.below(path))


def old_quorum_state(site: Site) -> Place:
    path = site.partition / _QUORUM_STATE
    text = path.read_text()
    epoch = max(event.epoch for event in site.cluster.events)
    assert f'"leaderEpoch":{epoch}' in text
    path.write_text(text.replace(f'"leaderEpoch":{epoch}', '"leaderEpoch":0'))
    return Place(file=site.below(path))


def garbage_index(site: Site) -> Place:
    path = site.segment().with_suffix(".index")
    path.write_bytes(site.random.randbytes(64))
    return Place(file=site.below(path))


KINDS = (
    FaultKind(
        name="snapshot-damaged", plant=snapshot_damaged,
        codes=("KT-SNAP-DAMAGE",), follow=("KT-SNAP-REPLAY", *_GONE),
    ),
    FaultKind(
        name="snapshot-truncated", plant=snapshot_truncated,
        codes=("KT-SNAP-DAMAGE", "KT-SNAP-FORM"), follow=_GONE,
    ),
    FaultKind(
        name="snapshot-misnamed", plant=snapshot_misnamed,
        codes=("KT-SNAP-FILE-NAME", "KT-SNAP-NAME", "KT-SNAP-LOG-EPOCH"),
        follow=("KT-SNAP-AHEAD", "KT-SNAP-FORM", "KT-SIG-JUNK-SNAPSHOT", "KT-SNAP-FILE-NAME",
                "KT-SNAP-LOG-EPOCH", "KT-SNAP-DIVERGED"),
    ),
    FaultKind(
        name="snapshot-differs", plant=snapshot_differs,
        codes=("KT-SNAP-DIFFERS", "KT-SNAP-DIVERGED"), alone=False,
    ),
    FaultKind(
        name="foreign-cluster-id", plant=foreign_cluster_id, alone=False,
        codes=("KT-DIR-CLUSTER-ID",), follow=("KT-SIG-WIPED-VOTER",),
    ),
    FaultKind(
        name="duplicate-node-id", plant=duplicate_node_id, alone=False, needs="dynamic",
        codes=("KT-DIR-SAME-NODE-ID",), follow=("KT-DIR-STALE-VOTER",),
    ),
    FaultKind(
        name="duplicate-directory-id", plant=duplicate_directory_id, alone=False, needs="dynamic",
        codes=("KT-DIR-SAME-DIRECTORY-ID",), follow=("KT-DIR-STALE-VOTER",),
    ),
    FaultKind(
        name="reformatted-voter", plant=reformatted_voter, needs="dynamic",
        codes=("KT-DIR-STALE-VOTER",),
    ),
    FaultKind(name="missing-meta", plant=missing_meta, codes=("KT-DIR-META-MISSING",)),
    FaultKind(
        name="broken-quorum-state", plant=broken_quorum_state, codes=("KT-DIR-QUORUM-STATE",),
    ),
    FaultKind(
        name="old-quorum-state", plant=old_quorum_state,
        codes=("KT-DIR-QUORUM-STATE-BEHIND", "KT-SIG-FORGOTTEN-VOTE"),
        follow=("KT-DIR-QUORUM-LEADER",),
    ),
    FaultKind(
        name="garbage-index", plant=garbage_index,
        codes=("KT-LOG-INDEX", "KT-LOG-INDEX-DIFFERS"), follow=INDEXES,
    ),
)  # fmt: skip
