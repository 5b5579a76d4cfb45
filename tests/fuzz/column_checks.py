"""Rows that are filled natively are those that Python makes: every source, column and option.

Owns the comparison, and counts the batches that the native module accepted: only there can they
differ.

    python tests/fuzz/column_checks.py --cases 100000
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.arrow.columns import RECORDS, arrow_schema
from kraftool.arrow.entries import EntryReader
from kraftool.arrow.fleet import FleetDirectory, FleetFile
from kraftool.arrow.narrowing import Narrowing
from kraftool.arrow.native_columns import NativeColumns
from kraftool.arrow.reading import rows_of_batches
from kraftool.arrow.settings import read_settings
from kraftool.arrow.splits import Split
from kraftool.decoders import schema
from kraftool.reports.logs.dump import BatchEntry
from kraftool.storage.entry import EntryPlace
from tests.fuzz.command_line import seed_and_cases
from tests.fuzz.native_cases import log, pure

Options = dict[str, str]

OPTIONS: tuple[Options, ...] = (
    {},
    {"showSecrets": "true"},
    {"kind": "record"},
    {"kind": "problem"},
    {"type": "partition,config"},
    {"type": "config", "kind": "record"},
    {"offsets": "6.."},
    {"offsets": "..5", "epoch": "1.."},
    {"epoch": "..0", "kind": "record"},
    {"since": "1970-01-02", "until": "1700000000000"},
    {"until": "1970-01-01"},
    {"until": "1970-01-01", "kind": "record"},
)
COLUMNS = (
    "",
    "file,payload,offset",
    "offset,type,version,error",
    "position,timestamp,value_size",
    "node_id,epoch,base_offset,kind",
)
"""Without any, all of them."""


def split_of(path: Path) -> Split:
    """A file as the readers take it."""
    directory = FleetDirectory(name=str(path.parent), cluster_id="c", node_id=1)
    return Split(
        file=FleetFile(
            directory=directory,
            root=str(path.parent),
            path=path.name,
            name=str(path),
            relative=path.name,
            place=EntryPlace.ROOT,
            size=path.stat().st_size,
        )
    )


def rows(splits: list[Split], source: str, options: Options, columns: str = "") -> list[str]:
    """The rows of files as text, in which -0.0 is not 0.0 and NaN is NaN."""
    settings = read_settings({"path": "x", **options}, source)
    arrow = arrow_schema(source, columns.split(",") if columns else ())
    texts = []
    for batch in rows_of_batches(source, arrow, settings, splits):
        batch.validate(full=True)
        texts += [repr(row) for row in batch.to_pylist()]
    return texts


def sizes(splits: list[Split], source: str) -> list[int]:
    """The rows of each Arrow batch."""
    settings = read_settings({"path": "x"}, source)
    batches = rows_of_batches(source, arrow_schema(source), settings, splits)
    return [batch.num_rows for batch in batches]


def check(splits: list[Split], source: str, options: Options, columns: str = "") -> int:
    """Raises AssertionError if both paths differ; returns how many rows there are."""
    native = rows(splits, source, options, columns)
    with pure():
        expected = rows(splits, source, options, columns)
    assert native == expected, (source, options, columns)
    return len(native)


def accepted(split: Split) -> tuple[int, int]:
    """Of a file, the records that the native module takes, and those that it leaves to Python."""
    narrowing = Narrowing()
    native = NativeColumns(
        narrowing, masked=True, full_rows=1 << 30, full_bytes=1 << 40, payloads=True
    )
    taken = left = 0
    for entry in EntryReader(narrowing, native=native).of(split):
        if isinstance(entry, BatchEntry):
            left += len(entry.records)
        else:
            taken += getattr(entry, "records", 0)
    return taken, left


def cases(random: Random, count: int) -> Iterator[tuple[str, Options, str]]:
    """Sources with options and columns."""
    for _ in range(count):
        if random.random() < 0.5:
            yield RECORDS, random.choice(OPTIONS), random.choice(COLUMNS)
        else:
            record = random.choice(schema.names("metadata"))
            yield f"{RECORDS}.{record}", random.choice(OPTIONS[:2]), ""


def run(seed: int, count: int, folder: Path) -> tuple[int, int]:
    """Check so many files of logs; returns how many records the module took, and left."""
    random = Random(seed)
    path = folder / "00000000000000000000.log"
    taken = left = 0
    for _ in range(count):
        path.write_bytes(b"".join(log(random) for _ in range(random.choice((1, 3, 20)))))
        split = split_of(path)
        for case in cases(random, 4):
            check([split], *case)
        both = accepted(split)
        taken, left = taken + both[0], left + both[1]
    return taken, left


def main() -> int:
    seed, cases = seed_and_cases(__doc__, 10_000)
    with tempfile.TemporaryDirectory() as folder:
        taken, left = run(seed, cases, Path(folder))
    print(f"{cases} files, {taken} records taken by the native module, {left} left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
