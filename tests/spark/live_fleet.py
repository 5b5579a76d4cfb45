"""A data directory that grows batch by batch, as a copy of one of real Kafka's."""

import shutil
from pathlib import Path

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.segment import scan
from tests.support.places import FIXTURES, LOG

DATA = FIXTURES / "kafka-4.3.0/static-single/node-1/data"


def _batches() -> list[bytes]:
    data = (DATA / "__cluster_metadata-0" / LOG).read_bytes()
    items = scan(lambda at, size: data[at : at + size])
    return [item.data for item in items if isinstance(item, RecordBatch)]


BATCHES = _batches()


def next_offset(batch: bytes) -> int:
    return RecordBatch.read(batch).last_offset + 1


END = next_offset(BATCHES[-1])


class Live:
    """A live directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path / "__cluster_metadata-0"
        self.folder.mkdir(parents=True)
        shutil.copy(DATA / "meta.properties", path)
        self.log = self.folder / LOG
        self.log.touch()

    def append(self, *batches: bytes) -> None:
        with self.log.open("ab") as out:
            out.write(b"".join(batches))

    def roll(self, base_offset: int) -> None:
        self.log = self.folder / f"{base_offset:020}.log"
        self.log.touch()
