"""The part of a source that one task reads on a worker.

Owns what batch sources and streams share. Which tasks there are is planned in `source.py`,
`stream.py` and `live/finding_stream.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql.datasource import InputPartition

from kraftool.arrow.reading import Part, read_part
from kraftool.arrow.settings import SourceOptions
from kraftool.arrow.untyped import ArrowBatch, ArrowSchema
from kraftool.spark.columns import MAKERS


class ReadTask(InputPartition):
    """The part that one task reads."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def rows(
        self, source: str, arrow: ArrowSchema, settings: SourceOptions
    ) -> Iterator[ArrowBatch]:
        return read_part(source, arrow, settings, self.part, MAKERS)

    def __repr__(self) -> str:
        """Without the paths as they were given, which may have something to log in."""
        splits = self.part.splits
        names = ", ".join(f"{split.file.name} {split.start}" for split in splits[:3])
        return f"Task({names}{', …' if len(splits) > 3 else ''})"
