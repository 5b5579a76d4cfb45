"""`spark.readStream.format("kraft.findings")`: findings of files as they appear.

Owns the offset of that stream: what `judged.py` remembers, and the rows of the batch that ends
there. It judges files by themselves, as the batch source does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from kraftool.arrow.columns import FINDINGS
from kraftool.arrow.file_rows import add_finding
from kraftool.arrow.rows import ArrowRows
from kraftool.arrow.settings import SourceOptions
from kraftool.arrow.splits import Split
from kraftool.arrow.untyped import ArrowBatch
from kraftool.decoders.errors import KraftoolError
from kraftool.spark.live.changes import owner_of
from kraftool.spark.live.finding_rows import finding_of
from kraftool.spark.live.judged import AT_ONCE, judge, large_files
from kraftool.spark.live.logs import fleet_now
from kraftool.spark.tasks import ReadTask, read_task

Offset = dict[str, Any]
VERSION = 1


class NewFindings(InputPartition):
    """Findings as they stand in the offset."""

    def __init__(self, findings: Sequence[list[Any]]) -> None:
        self.findings = tuple(findings)


class FindingStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The stream of findings that are new for their file."""

    def __init__(self, settings: SourceOptions, schema: StructType) -> None:
        self._settings, self._schema = settings, schema
        self._is_once = self._is_judged = False

    def initial_offset(self) -> Offset:
        """Return where a new stream begins: everything is news, or nothing that is there now."""
        memory = {}
        if self._settings.starting == "latest":
            memory = judge({}, fleet_now(self._settings), at_once=None).memory
        return {"version": VERSION, "files": memory, "findings": [], "large": []}

    def latest_offset(self, start: Offset, limit: ReadLimit) -> Offset:
        """Look at all files once; the start itself where nothing has changed."""
        if start.get("version") != VERSION:
            raise KraftoolError(
                f"a checkpoint of another kraftool: version {start.get('version')} of its offsets"
            )
        if self._is_once and self._is_judged:
            return start
        result = judge(start["files"], fleet_now(self._settings), at_once=AT_ONCE)
        self._is_judged = not result.waiting
        if result.memory == start["files"]:
            return start
        return {
            "version": VERSION, "files": result.memory, "findings": result.findings,
            "large": result.large,
        }  # fmt: skip

    def prepare_for_available_now(self) -> None:
        """All is looked at once, and no change after that: the stream ends there."""
        self._is_once = True

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """The tasks of the batch that ends at `end`: a large file each, and what is judged."""
        if start == end:
            return []
        wants_owner = self._settings.narrowing.wants_owner
        tasks: list[InputPartition] = []
        if end["large"]:
            files = large_files(fleet_now(self._settings), end["large"])
            tasks += (ReadTask([Split(file=file)]) for file in files if wants_owner(file.directory))
        findings = [finding for finding in end["findings"] if wants_owner(owner_of(finding[0]))]
        return [*tasks, NewFindings(findings)] if findings else tasks

    def read(self, partition: InputPartition) -> Iterator[ArrowBatch]:
        """The rows of one task."""
        arrow = to_arrow_schema(self._schema, timezone="UTC")
        if isinstance(partition, NewFindings):
            table = ArrowRows(arrow)
            for owner, finding in partition.findings:
                add_finding(table, owner_of(owner), finding_of(finding))
            yield table.take()
        elif isinstance(partition, ReadTask):
            yield from read_task(FINDINGS, arrow, self._settings, partition)

    initialOffset = initial_offset
    latestOffset = latest_offset
    prepareForTriggerAvailableNow = prepare_for_available_now
