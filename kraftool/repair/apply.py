"""Applies a plan to one data directory: all of it, once, or not at all.

Owns the procedure. Under the directory's lock, every file is checked; originals are copied and new
files made and verified in a folder where Kafka does not look, durably; only then do files change
their names, one after the other, each step in the journal before it is done. What is interrupted
before that has changed nothing; what is interrupted later is finished by the next run, or undone.
It refuses whatever is not exactly as planned, and asks nobody: the command does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.backup import backup_of, backups
from kraftool.repair.disk import (
    DataDirectory,
    Owner,
    RepairRefused,
    hint_for,
    reading,
)
from kraftool.repair.edits import (
    RestoredDirectories,
    check_as_planned,
    check_content,
    check_no_strangers,
    check_sources,
    expected_size,
    in_turn,
    is_index,
    sources_needed,
)
from kraftool.repair.fingerprints import fingerprint_of
from kraftool.repair.hosts import host_for
from kraftool.repair.originals import DirectoryBeforePlan
from kraftool.repair.plan import Edit, Fingerprint, HostPlan, Plan
from kraftool.repair.plan_file import PlanFileKind
from kraftool.repair.plan_yaml import plan_to_yaml
from kraftool.repair.record import (
    After,
    Begin,
    FileChange,
    FoundFile,
    JournalState,
    Ready,
    facts_of,
    record_of,
)
from kraftool.reports.directory.report import how_to_finish
from kraftool.storage.files import Files
from kraftool.storage.lock import LockState, lock_holder
from kraftool.storage.lock_taking import DirectoryInUse, DirectoryLock
from kraftool.storage.repair_journal import Journal, Stage

_ROOM = 1 << 20
"""For the journal and the file system's own."""
_NEW_MODE, _SNAPSHOT_MODE = 0o644, 0o400
"""As Kafka makes them."""

Tell = Callable[[str], None]


class Repair:
    """A plan and a directory under its lock, from `with` on."""

    def __init__(
        self, plan: Plan, path: str, *, host: str = "", files: Files | None = None
    ) -> None:
        """Find out what the plan has for the directory; nothing is written yet."""
        self.plan = plan
        self.files = Files() if files is None else files
        self.directory = DataDirectory(self.files, path)
        self.backup = backup_of(self.directory, plan.id)
        with reading(path):
            self.record = self._read()
            begun_as = "" if self.record.begin is None else self.record.begin.host
            self.host: HostPlan = host_for(plan, self.directory, host or begun_as)
        self._lock: DirectoryLock | None = None

    def _read(self) -> JournalState:
        record = record_of(self.backup.entries(), self.backup.path)
        if record.begin is not None and record.plan_id != self.plan.id:
            raise RepairRefused(f"{self.backup.path} is another plan's folder")
        return record

    def __enter__(self) -> Self:
        self.directory.check_lock_file()
        try:
            self._lock = DirectoryLock(self.directory.path)
        except DirectoryInUse as error:
            raise RepairRefused(error.message, hint=error.hint) from error
        except KraftoolError as error:
            raise KraftoolError(
                f"{error.message}; nothing was changed", hint=hint_for(error.__cause__)
            ) from error
        self.record = self._read()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def stage(self) -> Stage:
        return self.record.stage

    @property
    def is_locked(self) -> bool:
        return self._lock is not None


class Apply(Repair):
    """A plan that is to be applied."""

    def __init__(
        self,
        plan: Plan,
        path: str,
        *,
        host: str = "",
        sources: Mapping[str, str] | None = None,
        files: Files | None = None,
    ) -> None:
        super().__init__(plan, path, host=host, files=files)
        needed = sources_needed(plan, self.host)
        self.unneeded = tuple(sorted((sources or {}).keys() - needed))
        """Hosts that were given as sources, and from which nothing is read."""
        self.sources: dict[str, DataDirectory] = {}
        for name, where in (sources or {}).items():
            if name in needed:
                with reading(where):
                    self.sources[name] = DirectoryBeforePlan(self.files, where, plan)

    def check(self) -> None:
        """Raise RepairRefused where the plan cannot be applied, or finished, here and now."""
        with reading(self.directory.name):
            self._check()

    def _check(self) -> None:
        if not self.is_locked and lock_holder(self.directory.path).state is LockState.HELD:
            raise RepairRefused(
                f"{self.directory.path} is in use: another process holds its lock",
                hint="a Kafka or a kraftool node runs on it. Stop that first",
            )
        self.directory.check_lock_file()
        self.directory.check_writable()
        self._check_other_plans()
        match self.stage:
            case Stage.NONE | Stage.BEGUN | Stage.UNDONE:
                recipes = [edit.snapshot for edit in self.host.edits if edit.snapshot is not None]
                if any(recipe.flipped or recipe.restored for recipe in recipes):
                    raise RepairRefused(
                        "an earlier kraftool made the plan, which restores damaged files in a way"
                        " that this one does not know",
                        hint="nothing was changed. Run recover collect and recover plan again",
                    )
                check_as_planned(self.host, self.directory)
                check_no_strangers(self.host, self.directory)
                check_sources(self.plan, self.host, self.sources)
                self._check_room()
            case Stage.CHANGING:
                self._check_unmoved()
            case Stage.UNDOING:
                raise RepairRefused(
                    f"the plan is half undone in {self.directory.name}",
                    hint="finish that with recover undo. Then it can be applied again",
                )
            case Stage.APPLIED:
                """Nothing is left to do, whatever happened since."""

    def carry_out(self, now_ms: int, tool: str, tell: Tell = lambda words: None) -> None:
        """Do all of it that is left. KraftoolError says what is changed, if it fails."""
        assert self.is_locked, "a plan is applied under the directory's lock"
        self.check()
        if self.stage is Stage.APPLIED or not self.host.edits:
            return
        journal = None
        if self.stage is not Stage.CHANGING:
            journal = self._prepare(now_ms, tool, tell)
        try:
            journal = self.backup.open_journal() if journal is None else journal
            self._switch(journal, tell)
            journal.note("applied", timeMs=now_ms)
        except OSError as error:
            raise KraftoolError(
                f"{error.filename or self.directory.path}: {error.strerror or error};"
                " the plan is half applied",
                hint="run recover apply again to finish it, or run recover undo",
            ) from error
        finally:
            if journal is not None:
                journal.close()
        self.record = self._read()

    # --- before anything changes ---------------------------------------------------------------

    def _check_other_plans(self) -> None:
        for backup in backups(self.directory):
            if backup.path == self.backup.path:
                continue
            other = record_of(backup.entries(), backup.path)
            name = other.plan_id[:12]
            if other.begin is None or any(other.moved(self.directory)):
                continue  # a node has run since: nothing of it can be finished or undone any more
            if other.stage in (Stage.CHANGING, Stage.UNDOING):
                raise RepairRefused(
                    f"plan {name} is {other.stage.value} in {self.directory.name}",
                    hint=how_to_finish(backup.path, other.stage, self.directory.path),
                )

    def _check_room(self) -> None:
        directory = self.directory
        at_root = any(directory.folder(edit.target) == directory.path for edit in self.host.edits)
        if at_root and not directory.is_one_file_system():
            raise RepairRefused(
                f"{directory.partition} is on another file system than {directory.path}: a"
                " file cannot be moved from one to the other"
            )
        kept = sum(edit.before.size for edit in self.host.edits if edit.before is not None)
        made = sum(expected_size(edit, self.directory, self.sources) for edit in self.host.edits)
        free = self.directory.free_bytes()
        if free < kept + made + _ROOM:
            raise RepairRefused(
                f"{self.directory.path} has {free} bytes free, but {kept + made + _ROOM} are"
                " needed for the originals and the new files. Nothing was changed",
                hint="free space on that file system first",
            )

    def _prepare(self, now_ms: int, tool: str, tell: Tell) -> Journal:
        """Keep every original and make every new file; the journal, once all of it is durable."""
        was_none = self.stage in (Stage.NONE, Stage.BEGUN)
        journal = None
        try:
            had_partition = os.path.isdir(self.directory.partition)
            self.backup.make(plan_to_yaml(self.plan))
            journal = self.backup.open_journal()
            edits = in_turn(self.host.edits)
            inventory = self.directory.inventory()
            begin = Begin(
                plan_id=self.plan.id,
                host=self.host.name,
                tool=tool,
                time_ms=now_ms,
                changes=tuple(self._change(edit) for edit in edits),
                inventory=tuple(
                    FoundFile(path=path, fingerprint=inventory[path]) for path in inventory
                ),
            )
            journal.note("begin", **facts_of(begin))
            for edit in edits:
                if edit.before is not None:
                    tell(f"keeping {edit.target.name}")
                    self.backup.keep(edit.target, edit.before)
            after = tuple(
                After(fingerprint=self._stage(edit, change.owner, tell))
                for edit, change in zip(edits, begin.changes, strict=True)
            )
            self.backup.settle()
            journal.note("ready", **facts_of(Ready(after=after)))
        except (OSError, KraftoolError) as error:
            if journal is not None:
                journal.close()
            raise self._nothing_changed(error, remove=was_none, had=had_partition) from error
        self.record = record_of(journal.entries, self.backup.path)
        return journal

    def _change(self, edit: Edit) -> FileChange:
        owner = self.directory.owner(edit.target)
        if owner is None:
            of_folder = self.directory.owner_of_partition()
            mode = _SNAPSHOT_MODE if edit.target.kind is PlanFileKind.SNAPSHOT else _NEW_MODE
            owner = Owner(of_folder.uid, of_folder.gid, mode)
        return FileChange(target=edit.target, before=edit.before, owner=owner)

    def _stage(self, edit: Edit, owner: Owner | None, tell: Tell) -> Fingerprint | None:
        """Make the new file, and look at it as if nobody had said what is in it."""
        if edit.is_removal:
            return None
        tell(f"making {edit.target.name}")
        restored = RestoredDirectories(self.plan, self.host, self.directory, self.sources)
        self.backup.stage(edit.target, restored.content(edit), owner)
        with_new = self.backup.open_staged(edit.target)
        try:
            fingerprint = fingerprint_of(with_new)
            if edit.after is not None and fingerprint != edit.after:
                raise RepairRefused(
                    f"{edit.target.path} became {fingerprint.size} bytes with SHA-256"
                    f" {fingerprint.sha256[:12]}…, which is not what the plan says"
                )
            check_content(edit.target, with_new)
        finally:
            with_new.close()
        return fingerprint

    def _nothing_changed(
        self, error: OSError | KraftoolError, *, remove: bool, had: bool
    ) -> KraftoolError:
        """The error as one that has changed nothing, once what was begun is removed again."""
        left = ""
        if remove:
            try:
                self.backup.discard(had_partition=had)
            except OSError:
                left = f" ({self.backup.path} could not be removed)"
        if isinstance(error, KraftoolError):
            kind = RepairRefused if isinstance(error, RepairRefused) else KraftoolError
            return kind(f"{error.message}; nothing was changed{left}", hint=error.hint)
        where = error.filename or self.backup.path
        return KraftoolError(
            f"{where}: {error.strerror or error}; nothing was changed{left}", hint=hint_for(error)
        )

    # --- the change ---------------------------------------------------------------------------

    def _check_unmoved(self) -> None:
        """Refuse to finish where a node ran on the half-done directory, or somebody edited it."""
        moved = list(self.record.moved(self.directory))
        hint = "collect and plan again"
        if not moved:
            hint = "undo the plan with recover undo, then collect and plan again"
        has_run = False
        for change, after in zip(self.record.changes, self.record.after, strict=True):
            if self.directory.fingerprint(change.target) not in (change.before, after):
                has_run = has_run or is_index(change.target)
                moved.append(f"{change.target.path} is neither as it was nor as planned")
        if moved:
            reason = f"{self.directory.name} changed after the plan was half applied: {moved[0]}"
            if has_run:
                reason = (
                    f"a node has run on {self.directory.name} since the plan was half applied: it"
                    " wrote its index files again"
                )
            raise RepairRefused(reason, hint=f"{hint}. The originals are in {self.backup.path}/old")

    def _switch(self, journal: Journal, tell: Tell) -> None:
        self._check_unmoved()
        steps = list(zip(self.record.changes, self.record.after, strict=True))
        for change, after in steps:
            is_there = self.directory.fingerprint(change.target) == after
            if not is_there and after and self.backup.fingerprint("new", change.target) != after:
                raise RepairRefused(
                    f"{self.backup.path}/new/{change.target.name} is not what was written there",
                    hint="undo the plan with recover undo, and apply it again",
                )
        for number, (change, after) in enumerate(steps):
            if self.directory.fingerprint(change.target) == after:
                continue
            journal.note("step", number=number, path=change.target.path)
            if after is None:
                tell(f"removing {change.target.name}")
                self.backup.remove(change.target)
            else:
                tell(f"writing {change.target.name}")
                self.backup.switch("new", change.target)
