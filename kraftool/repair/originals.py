"""A directory as it was before a plan changed it: what other hosts' files are made of.

Owns that a host may be the source of a later one after the plan was applied to it: its changed
files are read from what apply kept of them.
"""

from __future__ import annotations

from kraftool.repair.backup import backup_of
from kraftool.repair.disk import DataDirectory
from kraftool.repair.plan import Plan
from kraftool.repair.plan_file import PlanFile
from kraftool.repair.record import record_of
from kraftool.storage.files import Files, OpenFile
from kraftool.storage.repair_journal import Stage


class DirectoryBeforePlan(DataDirectory):
    """A data directory; what the plan changed in it is read from the plan's own folder."""

    def __init__(self, files: Files, path: str, plan: Plan) -> None:
        super().__init__(files, path)
        self._kept = backup_of(self, plan.id)
        record = record_of(self._kept.entries(), self._kept.path)
        is_changed = record.stage in (Stage.CHANGING, Stage.APPLIED, Stage.UNDOING)
        self._changes = {
            change.target: change.before
            for change in record.changes
            if is_changed and record.plan_id == plan.id
        }

    def open(self, target: PlanFile) -> OpenFile | None:
        """Open it as it was; None where there was none."""
        if target not in self._changes:
            return super().open(target)
        return None if self._changes[target] is None else self._kept.open_original(target)
