"""The findings of files as they appear: `kraft.findings` as a stream, and a part of `kraft.live`.

Owns the news of that stream; `judged.py` has its memory. It judges each file by itself, as the
batch source does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql.datasource import InputPartition

from kraftool.arrow.columns import FINDINGS
from kraftool.arrow.file_rows import add_finding
from kraftool.arrow.fleet import Fleet
from kraftool.arrow.reading import Part
from kraftool.arrow.rows import ArrowRows
from kraftool.arrow.settings import SourceOptions
from kraftool.arrow.splits import Split
from kraftool.arrow.untyped import ArrowBatch, ArrowSchema
from kraftool.spark.finding_rows import finding_of
from kraftool.spark.live.changes import owner_of
from kraftool.spark.live.following import FollowStep, Listing
from kraftool.spark.live.judged import AT_ONCE, judge
from kraftool.spark.live.state_log import Memory
from kraftool.spark.tasks import ReadTask


class NewFindings(InputPartition):
    """Findings as they stand in the news."""

    def __init__(self, findings: Sequence[list[Any]]) -> None:
        self.findings = tuple(findings)


class FindingFollower:
    """Follows all other files: findings that are new for their file.

    The memory of a directory is what was seen of its files.
    """

    source, kind = FINDINGS, "finding"

    def __init__(self, settings: SourceOptions) -> None:
        self._settings = settings
        self._is_once = self._is_judged = False

    def end_here(self, fleet: Fleet) -> None:
        """All is polled once, and no change after that."""
        self._is_once = True

    def skip(self, memory: Memory, fleet: Fleet) -> dict[str, Any]:
        return dict(judge(memory, fleet, at_once=None).memory)

    def poll(self, memory: Memory, fleet: Fleet, limit: int | None, *, begun: bool) -> FollowStep:
        if self._is_once and self._is_judged:
            return FollowStep()
        result = judge(memory, fleet, at_once=AT_ONCE)
        self._is_judged = not result.waiting
        changed: dict[str, Any] = {
            name: files for name, files in result.memory.items() if files != memory.get(name)
        }
        changed |= dict.fromkeys(memory.keys() - result.memory.keys())
        news = {}
        if result.findings or result.large:
            news = {"findings": result.findings, "large": result.large}
        return FollowStep(changed=changed, news=news, is_kept=bool(changed))

    def tasks(self, memory: Memory, news: dict[str, Any], fleet: Listing) -> list[InputPartition]:
        """The tasks: a large file each, and what is judged."""
        wants_owner = self._settings.narrowing.wants_owner
        tasks: list[InputPartition] = []
        if news["large"]:
            # As far as they are there still.
            files = [file for file in fleet().files if file.name in news["large"]]
            tasks += (
                ReadTask(Part(splits=(Split(file=file),)))
                for file in files
                if wants_owner(file.directory)
            )
        findings = [finding for finding in news["findings"] if wants_owner(owner_of(finding[0]))]
        return [*tasks, NewFindings(findings)] if findings else tasks

    def read(self, arrow: ArrowSchema, task: InputPartition) -> Iterator[ArrowBatch]:
        if isinstance(task, NewFindings):
            table = ArrowRows(arrow)
            for owner, finding in task.findings:
                add_finding(table, owner_of(owner), finding_of(finding))
            yield table.take()
        elif isinstance(task, ReadTask):
            yield from task.rows(FINDINGS, arrow, self._settings)
