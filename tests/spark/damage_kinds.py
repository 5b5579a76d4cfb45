"""Kinds of damage to one node's data directory, each as a function of the directory.

Owns the edits only. A kind that does not fit a directory, such as a snapshot that is not there,
raises `NotHere`.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from kraftool.decoders.batch import RecordBatch, encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.segment import scan
from tests.support.places import PARTITION

Damage = Callable[[Path], None]
EPOCHS, STATE, META = "leader-epoch-checkpoint", "quorum-state", "meta.properties"
OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


class NotHere(Exception):
    """The directory has nothing to damage in this way."""


def first(paths: list[Path]) -> Path:
    if not paths:
        raise NotHere
    return paths[0]


def log(data: Path) -> Path:
    return first(sorted((data / PARTITION).glob("0*.log")))


def snapshot(data: Path) -> Path:
    paths = sorted((data / PARTITION).glob("*.checkpoint"), reverse=True)
    return first([path for path in paths if int(path.name[:20])])


def batches(path: Path) -> list[RecordBatch]:
    data = path.read_bytes()
    items = scan(lambda position, size: data[position : position + size])
    return [item for item in items if isinstance(item, RecordBatch)]


def replaced(data: bytes, position: int, piece: bytes) -> bytes:
    return data[:position] + piece + data[position + len(piece) :]


def at_batch(
    find: Callable[[Path], Path], part: float, at: int, change: Callable[[int], int]
) -> Damage:
    """Change a byte of the batch at this part of a file; negative `at` counts from its end."""

    def damage(data: Path) -> None:
        path = find(data)
        items = batches(path)
        if len(items) < 3:
            raise NotHere
        batch = items[min(int(part * len(items)), len(items) - 1)]
        position = batch.position + (at if at >= 0 else batch.size + at)
        content = bytearray(path.read_bytes())
        content[position] = change(content[position]) & 0xFF
        path.write_bytes(content)

    return damage


def cut(find: Callable[[Path], Path], keep: Callable[[bytes, list[RecordBatch]], bytes]) -> Damage:
    def damage(data: Path) -> None:
        path = find(data)
        path.write_bytes(keep(path.read_bytes(), batches(path)))

    return damage


def write(name: str, content: bytes | Callable[[bytes], bytes], *, root: bool = False) -> Damage:
    def damage(data: Path) -> None:
        path = data / name if root else data / PARTITION / name
        if not path.exists() and callable(content):
            raise NotHere
        path.write_bytes(content(path.read_bytes()) if callable(content) else content)

    return damage


def edit(name: str, pattern: str, text: str, *, root: bool = False) -> Damage:
    def change(content: bytes) -> bytes:
        changed, count = re.subn(pattern.encode(), text.encode(), content, flags=re.M)
        if not count or changed == content:
            raise NotHere
        return changed

    return write(name, change, root=root)


def remove(pattern: str, *, root: bool = False) -> Damage:
    def damage(data: Path) -> None:
        paths = sorted((data if root else data / PARTITION).glob(pattern))
        first(paths)
        for path in paths:
            path.unlink()

    return damage


def renamed(find: Callable[[Path], Path], name: Callable[[str], str]) -> Damage:
    def damage(data: Path) -> None:
        path = find(data)
        path.rename(path.with_name(name(path.name)))

    return damage


def partition_as(name: str) -> Damage:
    def damage(data: Path) -> None:
        (data / ".lock").touch()
        (data / PARTITION).rename(data / name)

    return damage


def lose_partition(data: Path) -> None:
    (data / ".lock").touch()
    shutil.rmtree(data / PARTITION)


def empty_partition(data: Path) -> None:
    (data / ".lock").touch()
    for path in (data / PARTITION).iterdir():
        path.unlink()


def second_partition(data: Path) -> None:
    shutil.copytree(data / PARTITION, data / "__cluster_metadata-1")


def appended(*values: bytes, epochs: int = 0, skip: int = 0, back: int = 0) -> Damage:
    def damage(data: Path) -> None:
        path = sorted((data / PARTITION).glob("0*.log"))[-1]
        last = batches(path)[-1]
        batch = encode_batch(
            [(None, value) for value in values],
            base_offset=last.last_offset + 1 + skip - back,
            epoch=last.epoch + epochs,
            timestamp=1_900_000_000_000,
        )
        path.write_bytes(path.read_bytes() + batch)

    return damage


NO_OP = encode_record("NoOpRecord", 0, {})
STRANGE_PARTITION = encode_record(
    "PartitionChangeRecord",
    0,
    {"partitionId": 0, "topicId": "9PTPM4xATAiPu0uKMvmPmg", "leader": 11},
)
TOO_HIGH = encode_record("FeatureLevelRecord", 0, {"name": "metadata.version", "featureLevel": 99})
_flip = {bit: (lambda value, bit=bit: value ^ (1 << bit)) for bit in range(8)}


def _kinds() -> dict[str, Damage]:
    kinds: dict[str, Damage] = {}
    for where, find in (("log", log), ("snapshot", snapshot)):
        for part in (0.0, 0.4, 0.75) if where == "log" else (0.0, 0.5):
            for field, at in (
                ("record", -3), ("offset", 7), ("length", 11), ("epoch", 15), ("magic", 16),
                ("crc", 18), ("attributes", 22), ("last offset", 26), ("time", 34),
                ("producer", 50), ("count", 60),
            ):  # fmt: skip
                kinds[f"{where}: {field} at {part}"] = at_batch(find, part, at, _flip[2])
        kinds[f"{where}: empty"] = cut(find, lambda data, items: b"")
        kinds[f"{where}: half"] = cut(find, lambda data, items: data[: len(data) // 2])
        kinds[f"{where}: zeros in the middle"] = cut(
            find, lambda data, items: replaced(data, len(data) // 3, bytes(300))
        )
        kinds[f"{where}: noise in the middle"] = cut(
            find, lambda data, items: replaced(data, len(data) // 3, b"\xa5" * 64)
        )
        kinds[f"{where}: a batch is gone"] = cut(
            find,
            lambda data, items: (
                data[: items[len(items) // 2].position]
                + data[items[len(items) // 2].position + items[len(items) // 2].size :]
            ),
        )
        kinds[f"{where}: a batch twice"] = cut(
            find,
            lambda data, items: (
                data[: items[len(items) // 2].position]
                + data[items[len(items) // 2].position :][: items[len(items) // 2].size]
                + data[items[len(items) // 2].position :]
            ),
        )
        kinds[f"{where}: zeros behind"] = cut(find, lambda data, items: data + bytes(4096))
        kinds[f"{where}: noise behind"] = cut(find, lambda data, items: data + b"\x5a" * 200)
        kinds[f"{where}: torn"] = cut(find, lambda data, items: data[:-5])
    kinds |= {
        "log: all zeros": cut(log, lambda data, items: bytes(len(data))),
        "log: removed": remove("*.log"),
        "log: begins later": cut(log, lambda data, items: data[items[2].position :]),
        "log: named with a later offset": renamed(log, lambda name: f"{7:020}.log"),
        "log: a name of letters": renamed(log, lambda name: "notes.log"),
        "log: a name without zeros": renamed(log, lambda name: "0.log"),
        "log: deleted by its name": renamed(log, lambda name: f"{name}.deleted"),
        "log: as .swap": renamed(log, lambda name: f"{name}.swap"),
        "log: a partition of no topic": appended(STRANGE_PARTITION),
        "log: a feature that nobody knows": appended(TOO_HIGH),
        "log: offsets left out": appended(NO_OP, skip=50),
        "log: offsets go back": appended(NO_OP, back=3),
        "log: an epoch of the future": appended(NO_OP, epochs=900),
        "log: bytes of no record": appended(b"\x01\x63\x00what is this"),
        "log: no bytes as a record": appended(b""),
        "snapshot: named beyond the log": renamed(
            snapshot, lambda name: f"{10**6:020}-{name[21:]}"
        ),
        "snapshot: named with a later epoch": renamed(
            snapshot, lambda name: f"{name[:20]}-{99:010}.checkpoint"
        ),
        "snapshot: a name of letters": renamed(snapshot, lambda name: "backup.checkpoint"),
        "snapshot: without its header": cut(
            snapshot, lambda data, items: data[items[0].size :]
        ),
        "snapshot: without its footer": cut(
            snapshot, lambda data, items: data[: items[-1].position]
        ),
        "bootstrap: empty": write("bootstrap.checkpoint", lambda data: b"", root=True),
        "bootstrap: noise": write(
            "bootstrap.checkpoint", lambda data: b"\xa5" * len(data), root=True
        ),
        "bootstrap: half": write(
            "bootstrap.checkpoint", lambda data: data[: len(data) // 2], root=True
        ),
        "partition: gone": lose_partition,
        "partition: emptied": empty_partition,
        "partition: second": second_partition,
        **{
            f"partition: renamed to {name}": partition_as(name)
            for name in (
                "__cluster_metadata-1", f"{PARTITION}.old", f"{PARTITION}.bak", "metadata-0",
            )
        },
        "index: noise": write(f"{0:020}.index", lambda data: b"\xa5" * max(len(data), 64)),
        "index: odd size": write(f"{0:020}.index", lambda data: data + b"\1\2\3"),
        "time index: noise": write(f"{0:020}.timeindex", lambda data: b"\xa5" * 48),
    }  # fmt: skip
    for name in (STATE, EPOCHS, "partition.metadata"):
        kinds[f"{name}: empty"] = write(name, b"")
        kinds[f"{name}: noise"] = write(name, b"\xa5" * 40)
        kinds[f"{name}: half"] = write(name, lambda data: data[: len(data) // 2])
        kinds[f"{name}: zeros"] = write(name, lambda data: bytes(len(data)))
    kinds |= {
        f"{STATE}: removed": remove(STATE),
        f"{STATE}: not JSON": write(STATE, b'{"leaderEpoch":'),
        f"{STATE}: a list": write(STATE, b"[1,2]"),
        f"{STATE}: an earlier epoch": edit(STATE, r'"leaderEpoch":\d+', '"leaderEpoch":0'),
        f"{STATE}: a negative epoch": edit(STATE, r'"leaderEpoch":\d+', '"leaderEpoch":-5'),
        f"{STATE}: the leader of nobody": edit(STATE, r'"leaderId":-?\d+', '"leaderId":88'),
        f"{STATE}: a vote for nobody": edit(STATE, r'"votedId":-?\d+', '"votedId":88'),
        f"{STATE}: an epoch of letters": edit(STATE, r'"leaderEpoch":\d+', '"leaderEpoch":"x"'),
        f"{EPOCHS}: removed": remove(EPOCHS),
        f"{EPOCHS}: a false epoch": write(EPOCHS, b"0\n2\n1 0\n99 5\n"),
        f"{EPOCHS}: a false offset": write(EPOCHS, b"0\n1\n1 7\n"),
        f"{EPOCHS}: another version": write(EPOCHS, b"9\n1\n1 0\n"),
        f"{EPOCHS}: more lines than it says": write(EPOCHS, b"0\n1\n1 0\n2 9\n"),
        "partition.metadata: another topic": edit(
            "partition.metadata", r"topic_id: .*", "topic_id: BBBBBBBBBBBBBBBBBBBBBQ"
        ),
        f"{META}: removed": remove(META, root=True),
        f"{META}: empty": write(META, b"", root=True),
        f"{META}: noise": write(META, b"\xa5\x00" * 30, root=True),
        f"{META}: no cluster.id": edit(META, r"^cluster\.id=.*\n", "", root=True),
        f"{META}: an empty cluster.id": edit(META, r"^cluster\.id=.*$", "cluster.id=", root=True),
        f"{META}: another cluster.id": edit(
            META, r"^cluster\.id=.*$", f"cluster.id={OTHER_ID}", root=True
        ),
        f"{META}: no node.id": edit(META, r"^node\.id=.*\n", "", root=True),
        f"{META}: node.id 77": edit(META, r"^node\.id=.*$", "node.id=77", root=True),
        f"{META}: a node.id of letters": edit(META, r"^node\.id=.*$", "node.id=x", root=True),
        f"{META}: a negative node.id": edit(META, r"^node\.id=.*$", "node.id=-4", root=True),
        f"{META}: another directory.id": edit(
            META, r"^directory\.id=.*$", f"directory.id={OTHER_ID[:-1]}g", root=True
        ),
        f"{META}: no directory.id": edit(META, r"^directory\.id=.*\n", "", root=True),
        f"{META}: a reserved directory.id": edit(
            META, r"^directory\.id=.*$", f"directory.id={OTHER_ID}", root=True
        ),
        f"{META}: version 9": edit(META, r"^version=.*$", "version=9", root=True),
        f"{META}: no version": edit(META, r"^version=.*\n", "", root=True),
    }
    return kinds


KINDS = _kinds()
