"""Which rows Spark asks for, as far as files, batches and records can be passed over for it.

Owns the translation of Spark's filters to sets and intervals. What is taken is applied exactly,
nulls included, since Spark does not look again; what is not understood is handed back to Spark.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
)

from kraftool.decoders.batch import RecordBatch
from kraftool.reports.printable import file_text
from kraftool.spark.fleet import FleetDirectory, FleetFile

_FAR = 1 << 64
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MS = -62_135_596_800_000
LAST_MS = 253_402_300_799_999
"""Of the years 1 to 9999, which is as far as Python and Spark agree on."""

OF_FILES = frozenset({"cluster_id", "node_id", "directory_id", "directory", "file"})
OF_RECORDS = frozenset({"offset", "epoch", "timestamp", "timestamp_ms", "type"})
OF_BATCHES = frozenset({"epoch", "timestamp", "timestamp_ms"})
KIND = "kind"


@dataclass(slots=True)
class Interval:
    """Whole numbers between two ends, both included, and among some if they are listed."""

    low: int = -_FAR
    high: int = _FAR
    members: frozenset[int] | None = None

    @property
    def is_all(self) -> bool:
        return self.low == -_FAR and self.high == _FAR and self.members is None

    def __contains__(self, number: int) -> bool:
        if not self.low <= number <= self.high:
            return False
        return self.members is None or number in self.members

    def meets(self, low: int, high: int) -> bool:
        """Whether any number from `low` to `high` may be in it."""
        if high < self.low or low > self.high:
            return False
        return self.members is None or any(low <= each <= high for each in self.members)

    def narrow(self, low: int = -_FAR, high: int = _FAR) -> None:
        self.low, self.high = max(self.low, low), min(self.high, high)

    def only(self, members: Iterable[int]) -> None:
        found = frozenset(members)
        self.members = found if self.members is None else self.members & found


@dataclass(slots=True)
class Pushed:
    """What was pushed down to a source; empty, it lets everything pass. Travels to the workers."""

    columns: frozenset[str] = OF_FILES
    """The columns of the source about which filters are understood."""
    offset: Interval = field(default_factory=Interval)
    epoch: Interval = field(default_factory=Interval)
    ms: Interval = field(default_factory=Interval)
    texts: dict[str, frozenset[Any]] = field(default_factory=dict)
    present: set[str] = field(default_factory=set)
    """Columns that must not be null."""

    def take(self, condition: Filter) -> bool:
        """Take a filter over, if it is understood; otherwise nothing changes."""
        if isinstance(condition, IsNotNull):
            return self._note(condition.attribute)
        if isinstance(condition, In):
            values: tuple[Any, ...] = tuple(each for each in condition.value if each is not None)
            operator = "in"
        elif isinstance(condition, EqualTo | EqualNullSafe):
            values, operator = (condition.value,), "in"
        else:
            operator = _OPERATORS.get(type(condition), "")
            values = (getattr(condition, "value", None),)
        if not operator or None in values:
            return False
        name = self._name(getattr(condition, "attribute", ()))
        if name in ("offset", "epoch", "timestamp", "timestamp_ms"):
            taken = self._number(name, operator, values)
        else:
            taken = bool(name) and operator == "in" and self._text(name, values)
        return taken and self._note((name,))

    def _name(self, attribute: tuple[str, ...]) -> str:
        name = attribute[0].lower() if len(attribute) == 1 else ""
        return name if name in self.columns else ""

    def _note(self, attribute: tuple[str, ...]) -> bool:
        name = self._name(attribute)
        if name:
            self.present.add(name)
        if name == "timestamp":
            self.ms.narrow(FIRST_MS, LAST_MS)  # it is null beyond
        return bool(name)

    def _text(self, name: str, values: tuple[Any, ...]) -> bool:
        kind = int if name == "node_id" else str
        if not all(type(each) is kind for each in values):
            return False
        found = frozenset(values)
        self.texts[name] = self.texts[name] & found if name in self.texts else found
        return True

    def _number(self, name: str, operator: str, values: tuple[Any, ...]) -> bool:
        interval = {"offset": self.offset, "epoch": self.epoch}.get(name, self.ms)
        if name == "timestamp":
            return self._time(operator, values)
        if not all(type(each) is int for each in values):
            return False
        _narrow(interval, operator, values)
        return True

    def _time(self, operator: str, values: tuple[Any, ...]) -> bool:
        """A log has milliseconds, Spark microseconds."""
        if not all(isinstance(each, datetime) and each.tzinfo is not None for each in values):
            return False
        micros = [(each - _EPOCH) // timedelta(microseconds=1) for each in values]
        if operator == "in":
            self.ms.only(each // 1000 for each in micros if each % 1000 == 0)
        else:
            # From a time between two milliseconds the later is meant, up to it the earlier.
            down = micros[0] // 1000
            up = down if micros[0] % 1000 == 0 else down + 1
            _narrow(self.ms, operator, (up if operator in (">=", "<") else down,))
        return True

    # What is asked of it.

    def wants_file(self, file: FleetFile) -> bool:
        """Whether rows of a file can be wanted, by what is known before it is opened."""
        return self.wants_owner(file.directory, file.name)

    def wants_owner(self, owner: FleetDirectory, file: str) -> bool:
        """The same, by whose it is and its name."""
        known = {
            "cluster_id": owner.cluster_id,
            "node_id": owner.node_id,
            "directory_id": owner.directory_id,
            "directory": file_text(owner.name),
            "file": file_text(file),
        }
        for name, value in known.items():
            if name in self.present and value is None:
                return False
            if name in self.texts and value not in self.texts[name]:
                return False
        return True

    def wants_kind(self, kind: str) -> bool:
        """Whether rows of a kind are wanted; only records have an offset, an epoch and a type."""
        if KIND in self.texts and kind not in self.texts[KIND]:
            return False
        return kind in ("record", "batch") or not self.present & OF_RECORDS

    @property
    def types(self) -> frozenset[str] | None:
        """The types that are wanted; None for all."""
        return self.texts.get("type")

    @property
    def looks_into_records(self) -> bool:
        return not (self.offset.is_all and self.ms.is_all) or self.types is not None

    def may_hold(self, batch: RecordBatch) -> bool:
        """Whether a batch can have records that are wanted, by its header.

        The header of a batch whose CRC is wrong is not believed as far as offsets and times go.
        """
        header = batch.header
        if header.partition_leader_epoch not in self.epoch:
            return False
        if self.offset.is_all and self.ms.is_all:
            return True
        return (
            self.offset.meets(header.base_offset, batch.last_offset)
            and header.max_timestamp >= self.ms.low
        ) or not batch.is_valid


_OPERATORS: dict[type[Filter], str] = {
    GreaterThan: ">",
    GreaterThanOrEqual: ">=",
    LessThan: "<",
    LessThanOrEqual: "<=",
}


def _narrow(interval: Interval, operator: str, values: tuple[int, ...]) -> None:
    match operator:
        case "in":
            interval.only(values)
        case ">":
            interval.narrow(low=values[0] + 1)
        case ">=":
            interval.narrow(low=values[0])
        case "<":
            interval.narrow(high=values[0] - 1)
        case "<=":
            interval.narrow(high=values[0])
