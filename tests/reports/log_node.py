"""A data directory of real Kafka's for tests that change it, with what verify-log says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kraftool.decoders.batch import HEADER_SIZE, RecordBatch, encode_batch, seal
from kraftool.decoders.control import ControlRecordType, decode_value, encode_key, encode_value
from kraftool.decoders.segment import scan
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.verify.log import verify_logs
from kraftool.storage.paths import open_path
from tests.support.places import LOG, PARTITION

VOTERS = ControlRecordType.KRAFT_VOTERS


class Node:
    """A data directory of real Kafka's that may be changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = path / PARTITION / LOG

    def batches(self) -> list[RecordBatch]:
        data = self.log.read_bytes()
        return [
            batch
            for batch in scan(lambda at, size: data[at : at + size])
            if isinstance(batch, RecordBatch)
        ]

    @property
    def end(self) -> int:
        return self.batches()[-1].last_offset + 1

    def append(self, *values: bytes | None, epoch: int = 3) -> RecordBatch:
        """Append a batch of data records; return it."""
        return self._add(encode_batch(
            [(None, value) for value in values],
            base_offset=self.end, epoch=epoch, timestamp=self.now,
        ))  # fmt: skip

    def control(self, *records: tuple[ControlRecordType, Any], epoch: int = 3) -> RecordBatch:
        return self._add(encode_batch(
            [(encode_key(kind), encode_value(kind, value)) for kind, value in records],
            base_offset=self.end, epoch=epoch, timestamp=self.now, control=True,
        ))  # fmt: skip

    def sealed(self, batch: RecordBatch, body: bytes | None = None, **header: int) -> None:
        """Put another form of a batch in its place at the log's end."""
        data = self.log.read_bytes()[: batch.position]
        body = batch.data[HEADER_SIZE:] if body is None else body
        self.log.write_bytes(data + seal(batch.header._replace(**header), body))

    def _add(self, data: bytes) -> RecordBatch:
        position = self.log.stat().st_size
        with self.log.open("ab") as file:
            file.write(data)
        return RecordBatch.read(data, position)

    @property
    def now(self) -> int:
        return self.batches()[-1].header.max_timestamp

    def voters(self) -> dict[str, Any]:
        """The newest voter set."""
        newest: dict[str, Any] = {}
        for batch in self.batches():
            for record in batch.records() if batch.is_control else ():
                if record.key == encode_key(VOTERS):
                    newest = dict(decode_value(VOTERS, record.value)[1])
        return newest

    def snapshots(self) -> list[Path]:
        paths = sorted((self.path / PARTITION).glob("*.checkpoint"))
        return [path for path in paths if int(path.name[:20])]

    def snapshot_at(self, offset: int, epoch: int = 3) -> Path:
        """The newest snapshot as one of another offset."""
        newest = self.snapshots()[-1]
        return newest.rename(newest.with_name(f"{offset:020}-{epoch:010}.checkpoint"))

    def findings(self) -> list[Finding]:
        return list(verify_logs([open_path(str(self.path))]).rows)

    def codes(self) -> list[str]:
        """Of what is above info."""
        return [
            finding.code for finding in self.findings() if finding.severity is not Severity.INFO
        ]

    def found(self, code: str) -> Finding:
        (finding,) = [finding for finding in self.findings() if finding.code == code]
        return finding
