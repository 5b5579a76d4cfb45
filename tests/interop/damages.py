"""What can happen to the directory of a node that does not run: one function each.

Owns the edits, each of which has been seen on real directories, or is what a kill leaves. What is
to be done about them is for the tests of recovery.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from tests.interop.clusters import Node, random_uuid
from tests.interop.ondisk import batches, partition, segments, snapshots
from tests.interop.our_nodes import end_of
from tests.repair import directories

JUNK = "00000000000000099999-0000000009.checkpoint"


def forget_promise(node: Node) -> None:
    (partition(node) / "quorum-state").unlink()


def empty_promise(node: Node) -> None:
    (partition(node) / "quorum-state").write_bytes(b"")


def garble_promise(node: Node) -> None:
    (partition(node) / "quorum-state").write_text('{"leaderEpoch": 1, "votedId":')


def without_snapshots(node: Node) -> None:
    for snapshot in snapshots(node):
        snapshot.unlink()


def damage_middle(node: Node) -> int:
    """Two bits of a record in the first segment; the offset up to which the log is right."""
    path = segments(node)[0]
    log_batches = batches(path)
    batch = log_batches[len(log_batches) // 2]
    directories.flip(path, batch.position + batch.size - 3)
    return batch.base_offset


def damage_batch(node: Node, number: int) -> None:
    """Two bits of a record in a batch of the last segment."""
    path = segments(node)[-1]
    batch = batches(path)[number]
    directories.flip(path, batch.position + batch.size - 3)


def flip_one_bit(node: Node) -> None:
    """One bit of a record in the middle of the log, with all that follows behind it."""
    path = segments(node)[0]
    log_batches = batches(path)
    batch = log_batches[len(log_batches) // 2]
    directories.flip(path, batch.position + batch.size - 3, 0x08)


def damage_middle_without_snapshots(node: Node) -> int:
    without_snapshots(node)
    return damage_middle(node)


def damage_snapshot(node: Node) -> None:
    newest = snapshots(node)[-1]
    directories.flip(newest, newest.stat().st_size // 2)


def put_junk_snapshot(node: Node) -> None:
    (partition(node) / JUNK).write_bytes(b"what is this")


def false_epochs(node: Node) -> None:
    (partition(node) / "leader-epoch-checkpoint").write_text("0\n2\n1 0\n77 20\n")


def garble_epochs(node: Node) -> None:
    (partition(node) / "leader-epoch-checkpoint").write_text("what is this")


def foreign_partition(node: Node) -> None:
    text = "version: 0\ntopic_id: BBBBBBBBBBBBBBBBBBBBBQ\n"
    (partition(node) / "partition.metadata").write_text(text)


def put_stray_name(node: Node) -> None:
    (partition(node) / "notes.log").write_bytes(b"x")


def lose_log(node: Node) -> None:
    for segment in segments(node):
        segment.unlink()


def lose_log_and_snapshots(node: Node) -> None:
    lose_log(node)
    without_snapshots(node)


def lose_meta(node: Node) -> None:
    (node.metadata_log_dir / "meta.properties").unlink()


def damage_meta(node: Node) -> None:
    (node.metadata_log_dir / "meta.properties").write_bytes(b"version=1\nclus\0er.id\n")


def rename_directory(node: Node) -> None:
    """As a format of the directory's meta.properties alone would."""
    path = node.metadata_log_dir / "meta.properties"
    path.write_text(path.read_text().replace(node.directory_id, random_uuid()))


def tear_tail(node: Node) -> None:
    with segments(node)[-1].open("ab") as file:
        file.write(batches(segments(node)[-1])[-1].data[:-7])


def put_zeros(node: Node) -> None:
    with segments(node)[-1].open("ab") as file:
        file.write(bytes(5000))


def orphan(node: Node) -> None:
    """Indexes without a segment, and what a crash leaves of a download and of a cleaning."""
    for name in ("00000000000000000777.index", "00000000000000000777.timeindex"):
        (partition(node) / name).write_bytes(bytes(24))
    (partition(node) / "00000000000000000888-0000000001.checkpoint.part").write_bytes(b"half")
    newest = snapshots(node)[-1]
    shutil.copy(newest, newest.with_name(f"{newest.name}.deleted"))
    for path in partition(node).glob("0*0.*index"):
        path.write_bytes(b"what is this")


def hide_snapshots(node: Node) -> None:
    """As a cleaning begins that was killed."""
    for path in sorted(partition(node).glob("*.checkpoint")):
        path.rename(path.with_name(f"{path.name}.deleted"))


def lose_snapshots(node: Node) -> None:
    for path in partition(node).glob("*.checkpoint*"):
        path.unlink()


def poison(nodes: Sequence[Node]) -> int:
    """A record that no controller can apply, and one behind it, at the end of some logs."""
    [end] = {end_of(node) for node in nodes}
    for node in nodes:
        path = segments(node)[-1]
        time = batches(path)[-1].header.max_timestamp
        with path.open("ab") as file:
            file.write(directories.poison(end.offset, end.epoch, time))
    return end.offset
