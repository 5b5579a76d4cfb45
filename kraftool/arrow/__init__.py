"""Metadata logs as Arrow record batches, for every engine that takes Arrow.

Owns finding the files of many data directories, their columns and their rows. Spark's data sources
stand on it. pyarrow is imported where it is used: `kraftool[arrow]` and `kraftool[spark]` bring it.

`kraftool/arrow/` makes the rows: `search.py` finds the directories below roots, globs and URLs. A
look at a folder (`search_steps.py`) depends on no other look. Threads do the looks at other
machines, and a Spark job (`spark/listing.py`) does very many of them. `fleet.py` has the files that
are found, `splits.py` cuts large segments at batch borders, `chunks.py` makes columns of what the
functions of dump-log decode of a split, `state_rows.py` has the entities of `state`, and
`reading.py` plans and reads any source. `table.py` is the entry point without Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from kraftool.arrow.choices import Choices, Path
    from kraftool.arrow.table import KraftTable

__all__ = ["read"]


def read(
    path: Path | Sequence[Path], rows: str = "records", **choices: Unpack[Choices]
) -> KraftTable:
    """The rows of data directories: for DuckDB, Polars, pandas, or pyarrow by `reader()`.

    `rows` is "records", "batches", "files", "findings", or a record type such as
    "PartitionRecord". The keywords are the options of docs/spark.md, with underscores.
    """
    from kraftool.decoders.errors import KraftoolError

    try:
        from kraftool.arrow.table import KraftTable
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        from kraftool.installing import install_hint

        raise KraftoolError(
            "this needs the package pyarrow, which is not installed",
            hint=install_hint("arrow"),
        ) from None
    return KraftTable(path, rows, **choices)
