"""The metadata that real controllers wrote, as records that can be written again for other nodes.

Owns the choice of the fixtures and what is taken from them: the data records of a log that begins
at offset 0, batch by batch. Control records are left behind: each cluster has elections and voters
of its own. It refuses fixtures in which `doctor` finds something, since what is made of them has to
be healthy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kraftool.decoders.batch import Record, RecordBatch
from kraftool.decoders.framing import decode_record
from kraftool.decoders.segment import scan

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
PARTITION = "__cluster_metadata-0"
FIRST_LOG = f"{0:020}.log"
BOOTSTRAP = "bootstrap.checkpoint"

HEALTHY = (
    ("kafka-3.3.2/static-single/node-1", False),
    ("kafka-3.7.2/static-single/node-1", False),
    ("kafka-3.9.1/static-single/node-1", True),
    ("kafka-4.1.1/static-single/node-1", True),
    ("kafka-4.1.1/upgrade/node-1", False),
    ("kafka-4.3.0/static-single/node-1", True),
    ("kafka-4.3.0/aborted-transaction/node-1", True),
    ("kafka-4.3.0/many-partitions/node-1", True),
    ("kafka-4.4.0/static-single/node-1", True),
    ("kafka-4.4.0/upgrade/node-1", False),
)
"""Nodes whose logs hold all of their history, and whether dynamic voters could have written it:
from 3.9 on, where no upgrade comes in between."""


@dataclass(frozen=True, slots=True)
class Told:
    """A record in the value form."""

    name: str
    version: int
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """The content of one data batch, and its time after the first batch."""

    records: tuple[Told, ...]
    after_ms: int


@dataclass(frozen=True, slots=True)
class Template:
    """The history of a real cluster without its quorum."""

    release: str
    steps: tuple[Step, ...]
    bootstrap: bytes | None
    """bootstrap.checkpoint, which 4.4 does without."""
    may_be_dynamic: bool

    @property
    def has_features_at_0(self) -> bool:
        """True if the checkpoint of offset 0 holds the features, as from 4.4 on."""
        return self.bootstrap is None

    @property
    def levels(self) -> list[int]:
        """The metadata.versions that the cluster had, in order."""
        return [
            int(record.value["featureLevel"])
            for step in self.steps
            for record in step.records
            if record.name == "FeatureLevelRecord" and record.value["name"] == "metadata.version"
        ]


@cache
def templates() -> tuple[Template, ...]:
    """All of them, read once."""
    return tuple(_read(name, may_be_dynamic) for name, may_be_dynamic in HEALTHY)


def _read(name: str, may_be_dynamic: bool) -> Template:
    data = FIXTURES / name / "data"
    log = (data / PARTITION / FIRST_LOG).read_bytes()
    steps: list[Step] = []
    first = -1
    for batch in scan(lambda at, size: log[at : at + size]):
        assert isinstance(batch, RecordBatch), f"{name} is whole"
        if batch.is_control:
            continue
        first = batch.header.base_timestamp if first < 0 else first
        records = tuple(_told(record) for record in batch.records())
        steps.append(Step(records, batch.header.base_timestamp - first))
    bootstrap = data / BOOTSTRAP
    return Template(
        release=name.partition("/")[0].removeprefix("kafka-"),
        steps=tuple(steps),
        bootstrap=bootstrap.read_bytes() if bootstrap.exists() else None,
        may_be_dynamic=may_be_dynamic,
    )


def _told(record: Record) -> Told:
    assert record.value is not None, "a data record"
    return Told(*decode_record(record.value))
