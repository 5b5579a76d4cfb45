"""The Delta table to which audits add their findings, and what changed since an earlier run.

Owns the table's columns, the number of a run in it, and when two runs have the same finding: the
same code, severity and place in the same directories of one cluster. Words are no part of that, for
they have numbers that grow from day to day. It refuses to replace what is there: a run only adds.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from kraftool.arrow.columns import COMMENT, FLAG, LONG, MOMENT, TEXT
from kraftool.arrow.untyped import ArrowBatch, pa
from kraftool.reports.findings.urgency import urgency_of
from kraftool.reports.fleet.model import AUDIT, NOTHING_FOUND, FleetFinding, SinceRun
from kraftool.reports.text.json_forms import FindingCounts
from kraftool.reports.text.printable import file_text
from kraftool.spark.audit.finding_merge import counted
from kraftool.spark.errors import OccupiedError, UnusableError
from kraftool.spark.finding_rows import finding_of, finding_row
from kraftool.spark.outputs import own_folder
from kraftool.spark.tables import delta
from kraftool.spark.tables.place import CannotWriteError, TablePlace, place_of

APP = "kraftool-audit"
"""The name under which the table remembers its latest run, also if that run found nothing."""
LAST = "last"
_MOST_SHOWN = 1000
_BATCH = 10_000
_TRIES = 5
_COLUMNS: dict[str, tuple[Any, str]] = {
    "run": (LONG, "number of the run in this table, from 1"),
    "started_at": (MOMENT, "when the run began"),
    "id": (TEXT, "the same in each run that has the finding"),
    "cluster": (TEXT, "name of the cluster; empty if it is about several"),
    "directory": (TEXT, "the directory; empty if it is about several"),
    "directories": (pa.list_(TEXT), "all directories that it is about"),
    "code": (TEXT, "what kraftool doctor --explain explains"),
    "severity": (TEXT, "error, warning or info"),
    "text": (TEXT, "what was found"),
    "file": (TEXT, "the file, or the directory"),
    "position": (LONG, "byte in the file"),
    "offset": (LONG, "offset in the log"),
    "field": (TEXT, "the field of a record or file"),
    "expected": (TEXT, "the value that should be there"),
    "found": (TEXT, "the value that is there"),
    "advice": (TEXT, "what to do"),
    "undecoded": (FLAG, "true if something could not be read or decoded"),
}
_OF_FLEET = frozenset({"run", "started_at", "id", "cluster", "directory", "directories"})
SCHEMA = pa.schema(
    [pa.field(name, kind, metadata={COMMENT: text}) for name, (kind, text) in _COLUMNS.items()]
)


def with_ids(findings: Iterable[FleetFinding]) -> Iterator[tuple[str, FleetFinding]]:
    """Yield each finding with a text that is the same for the same finding of another run.

    Of several at one place, as many are the same as both runs have.
    """
    times: Counter[tuple[object, ...]] = Counter()
    for fleet_finding in findings:
        finding = fleet_finding.finding
        fault = finding.fault
        parts = (
            *(fleet_finding.cluster, *fleet_finding.paths, finding.code),
            *(finding.severity.value, fault.file, fault.position, fault.offset, fault.field),
        )
        times[parts] += 1
        text = repr((*parts, times[parts])).encode("utf-8", "surrogatepass")
        yield hashlib.blake2b(text, digest_size=12).hexdigest(), fleet_finding


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingsTable:
    """The table, as it was when the audit began."""

    place: TablePlace
    last_run: int

    def run_of(self, since: str) -> int:
        """Return the run that --since names. Raises UnusableError if the table has no such run."""
        if since == LAST:
            return self.last_run
        if since.isascii() and since.isdigit() and 1 <= int(since) <= self.last_run:
            return int(since)
        there = f"runs 1 to {self.last_run}" if self.last_run else "no run"
        raise UnusableError(
            f"--since {since}: the table has {there}", hint=f"name one of them, or {LAST}"
        )


def open_table(out: str, options: Mapping[str, Any]) -> FindingsTable:
    """Open the table that --out-table names, or find that it can be made there."""
    place = place_of(out, options, "--out-table")
    names = set() if place.is_remote else own_folder(Path(place.root))
    table = delta.opened(place, "")
    last_run = table.transaction_version(APP) if table is not None else 0
    if last_run is None or (names and table is None):
        raise OccupiedError(
            f"{place.root} contains something other than a table of audits",
            hint="name an empty or a new folder",
        )
    return FindingsTable(place=place, last_run=last_run)


def compared(table: FindingsTable, run: int, findings: Iterable[FleetFinding]) -> SinceRun:
    """Compare the findings of an audit, the most urgent first, with those of a run."""
    earlier = _rows_of(table.place, run, ["id", "started_at"]) if run else None
    left = set(earlier.column("id").to_pylist()) if earlier is not None else set()
    before, new, gone, same = len(left), _Counted(), _Counted(), 0
    for id, finding in with_ids(findings):
        if id in left:
            left.remove(id)
            same += 1
        else:
            new.take(finding)
    started_at = None
    if earlier is not None and before:
        started_at = int(earlier.column("started_at")[0].as_py().timestamp() * 1000)
    if left:
        for row in _rows_of(table.place, run, None).to_pylist():
            if row["id"] in left:
                gone.take(_finding_of(row))
    return SinceRun(
        earlier_run=run,
        started_at=started_at,
        new_counts=new.counts,
        gone_counts=gone.counts,
        undecoded_new=new.undecoded,
        same=same,
        new_findings=tuple(new.shown),
        gone_findings=tuple(sorted(gone.shown, key=lambda one: urgency_of(one.finding))),
    )


def add(
    table: FindingsTable, started_at_ms: int, findings: Callable[[], Iterable[FleetFinding]]
) -> int:
    """Add the findings of an audit in one commit, and return the number of the run.

    Of two audits at the same time one is the next run. The other one tries again.
    """
    for _ in range(_TRIES):
        latest = delta.opened(table.place, "")
        run = (latest.transaction_version(APP) or 0) + 1 if latest is not None else 1
        rows = _batches(findings(), run, started_at_ms)
        reader = pa.RecordBatchReader.from_batches(SCHEMA, rows)
        with suppress(delta.ConflictError):
            delta.append(table.place, latest, "findings", reader, run, APP)
            return run
    raise CannotWriteError(f"{table.place.root}: other audits were faster {_TRIES} times")


@dataclass(slots=True)
class _Counted:
    """Counts findings, and keeps the first ones."""

    shown: list[FleetFinding] = field(default_factory=list)
    counts: FindingCounts = NOTHING_FOUND
    undecoded: FindingCounts = NOTHING_FOUND

    def take(self, finding: FleetFinding) -> None:
        self.counts += counted([finding])
        if finding.finding.undecoded:
            self.undecoded += counted([finding])
        if len(self.shown) < _MOST_SHOWN:
            self.shown.append(finding)


def _batches(
    findings: Iterable[FleetFinding], run: int, started_at_ms: int
) -> Iterator[ArrowBatch]:
    started_at = datetime.fromtimestamp(started_at_ms / 1000, UTC)
    numbered = with_ids(findings)
    while rows := [_row(run, started_at, *one) for one in islice(numbered, _BATCH)]:
        yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def _row(run: int, started_at: datetime, id: str, fleet_finding: FleetFinding) -> dict[str, Any]:
    own = finding_row(fleet_finding.finding).items()
    return {
        "run": run,
        "started_at": started_at,
        "id": id,
        "cluster": file_text(fleet_finding.cluster),
        "directory": file_text(fleet_finding.directory),
        "directories": list(map(file_text, fleet_finding.paths)),
        **{name: file_text(value) if isinstance(value, str) else value for name, value in own},
    }


def _finding_of(row: Mapping[str, Any]) -> FleetFinding:
    members = {name: row[name] for name in _COLUMNS if name not in _OF_FLEET}
    return FleetFinding(
        finding=finding_of({**members, "count": 1, "places": []}),
        cluster=row["cluster"],
        directory=row["directory"],
        paths=tuple(row["directories"]),
        by=(AUDIT,),
    )


def _rows_of(place: TablePlace, run: int, columns: list[str] | None) -> Any:
    table = delta.opened(place, "")
    assert table is not None, "a run is in a table"
    with delta.explained(place):
        return pa.table(table.to_pyarrow_table(filters=[("run", "=", run)], columns=columns))
