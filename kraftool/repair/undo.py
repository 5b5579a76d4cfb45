"""Undoes a plan in one data directory, from the originals that apply kept.

Owns the way back, step by step as apply went, each in the journal before it is done. It refuses
once the quorum has moved on: what a node wrote since would be lost, and a node that forgot what it
promised could vote twice.
"""

from __future__ import annotations

from contextlib import suppress

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.apply import Repair, Tell
from kraftool.repair.backup import backups
from kraftool.repair.disk import RepairRefused, hint_for, reading
from kraftool.repair.record import record_of
from kraftool.storage.repair_journal import Journal, Stage


class Undo(Repair):
    """A plan that is to be undone."""

    def check(self) -> None:
        """Raise RepairRefused where it cannot be undone."""
        with reading(self.directory.name):
            self._check()

    def _check(self) -> None:
        match self.stage:
            case Stage.NONE:
                raise RepairRefused(
                    f"the plan was not applied to {self.directory.name}: there is nothing to undo"
                )
            case Stage.UNDONE | Stage.BEGUN:
                """Nothing is changed."""
            case _:
                self._check_later_plans()
                self._check_unmoved()
                self._check_originals()
                self._check_room()

    def carry_out(self, now_ms: int, tell: Tell = lambda words: None) -> None:
        """Put every original back. KraftoolError says how far it came, if it fails."""
        assert self.is_locked, "a plan is undone under the directory's lock"
        self.check()
        if self.stage is Stage.UNDONE:
            return
        try:
            self.backup.make_folders()
            journal = self.backup.open_journal()
            try:
                if self.stage is not Stage.BEGUN:
                    self._put_back(journal, tell)
                self.backup.clear_new()
                journal.note("undone", timeMs=now_ms)
            finally:
                journal.close()
        except OSError as error:
            raise self._failed(error) from error
        self.record = self._read()

    def _failed(self, error: OSError) -> KraftoolError:
        """Return how far it came; before the first change nothing of it is left."""
        failure = f"{error.filename or self.directory.path}: {error.strerror or error}"
        if self.stage is Stage.UNDOING:
            return KraftoolError(
                f"{failure}; the plan is {self.stage.value}",
                hint="do not start the node. Run recover undo again to finish",
            )
        with suppress(OSError):
            self.backup.clear_copies()
        hint = hint_for(error) or "repair that, then run recover undo again"
        return KraftoolError(
            f"{failure}. Nothing was changed: the plan is still {self.stage.value}", hint=hint
        )

    def _check_later_plans(self) -> None:
        """Refuse while a later plan is applied: it was made for the files as this one left them."""
        assert self.record.begin is not None, "it was applied"
        began_ms = self.record.begin.time_ms
        for backup in backups(self.directory):
            other = record_of(backup.entries(), backup.path)
            if other.begin is None or other.begin.time_ms <= began_ms:
                continue
            is_applied = other.stage in (Stage.CHANGING, Stage.APPLIED, Stage.UNDOING)
            if is_applied and not any(other.moved(self.directory)):
                raise RepairRefused(
                    f"plan {other.plan_id[:12]} was applied to {self.directory.name} later",
                    hint=f"undo that one first: {backup.path}/plan.yaml",
                )

    def _check_unmoved(self) -> None:
        moved = list(self.record.moved(self.directory))
        if moved:
            raise RepairRefused(
                f"a node has run on {self.directory.name} since the plan was {self.stage.value}:"
                f" {moved[0]}" + (f", and {len(moved) - 1} more" if len(moved) > 1 else ""),
                hint=f"make a new plan. The originals stay in {self.backup.path}/old",
            )

    def _check_originals(self) -> None:
        for change in self.record.changes:
            if change.before is None:
                continue
            if self.backup.fingerprint("old", change.target) != change.before:
                raise RepairRefused(
                    f"{self.backup.path}/old/{change.target.name} is no longer the original."
                    " Nothing was restored",
                    hint="somebody changed the backup, or the disk is failing. Look for a copy of"
                    " that file, or continue from here with a new plan",
                )

    def _check_room(self) -> None:
        needed = sum(
            change.before.size for change in self.record.changes if change.before is not None
        )
        free = self.directory.free_bytes()
        if free < needed:
            raise RepairRefused(
                f"{self.directory.path} has {free} bytes free, but {needed} are needed to"
                " restore the originals. Nothing was restored"
            )

    def _put_back(self, journal: Journal, tell: Tell) -> None:
        """First a copy of every original that can take its name, then the way back, last first."""
        changes = self.record.changes
        for change in changes:
            if change.before is None or change.owner is None:
                continue
            if self.directory.fingerprint(change.target) != change.before:
                self.backup.put_by(change.target, change.owner, change.before)
        self.backup.settle()
        journal.note("undo")
        self.record = record_of(journal.entries, self.backup.path)
        for number, change in reversed(list(enumerate(changes))):
            target = change.target
            if self.directory.fingerprint(target) == change.before:
                continue
            journal.note("back", number=number, path=target.path)
            if change.before is None:
                tell(f"removing {target.name}")
                self.backup.remove(target)
            else:
                tell(f"restoring {target.name}")
                self.backup.switch("back", target)
