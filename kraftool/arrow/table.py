"""Rows of data directories for programs that read Arrow: DuckDB, Polars, pandas, pyarrow itself.

Owns the table without Spark. Its rows are those of Spark's sources, by the same readers and the
same options. This process reads them when a program asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Unpack

from kraftool.arrow.choices import Choices, Path, option_texts, path_text, source_of
from kraftool.arrow.columns import arrow_schema
from kraftool.arrow.reading import parts_of, read_part
from kraftool.arrow.search import require
from kraftool.arrow.settings import read_settings
from kraftool.arrow.untyped import ArrowReader, ArrowSchema, ArrowTable, pa


class KraftTable:
    """Rows of data directories. Each use reads the files again, and keeps no rows."""

    def __init__(
        self, path: Path | Sequence[Path], rows: str = "records", **choices: Unpack[Choices]
    ):
        """Raises KraftoolError for a wrong option, and for a path that does not exist."""
        self._source = source_of(rows)
        options = {"path": path_text(path), **option_texts(choices)}
        self._settings = read_settings(options, self._source)
        require(list(self._settings.paths), options=self._settings.storage)
        self.schema: ArrowSchema = arrow_schema(self._source, self._settings.columns)

    def reader(self) -> ArrowReader:
        """A pyarrow.RecordBatchReader, which holds one batch at a time and can be read once."""
        parts = parts_of(self._source, self._settings)
        read = (read_part(self._source, self.schema, self._settings, part) for part in parts)
        return pa.RecordBatchReader.from_batches(self.schema, chain.from_iterable(read))

    def read(self) -> ArrowTable:
        """All rows as a pyarrow.Table, in memory."""
        return self.reader().read_all()

    def to_pandas(self) -> Any:
        """All rows as a pandas.DataFrame."""
        return self.reader().read_pandas()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A stream of Arrow's C interface, which starts at the first row each time."""
        return self.reader().__arrow_c_stream__(requested_schema)
