"""The folder that a repair keeps beside the log: originals, new files, the journal, the plan.

It lies in the metadata partition's own folder, since there Kafka passes over folders; one directly
in a data directory would be taken for a topic's, and a broker ends at its name (seen on 4.3.0 and
3.9.1). Only its owner may read it. An original is never changed nor removed again by kraftool, and
has its own name there, so that a person can put it back by hand.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.disk import DataDirectory, Owner, RepairRefused
from kraftool.repair.fingerprints import fingerprint_of
from kraftool.repair.plan import SHORT_ID, Fingerprint
from kraftool.repair.plan_file import PlanFile
from kraftool.storage import repair_journal as journal
from kraftool.storage.files import Files, OpenFile
from kraftool.storage.repair_journal import Journal
from kraftool.storage.source import chunks_of

FOLDER = journal.FOLDER
PLAN = "plan.yaml"
_FILE_MODE, _FOLDER_MODE = 0o600, 0o700


class Backup:
    """One plan's folder in one data directory."""

    def __init__(self, directory: DataDirectory, short_id: str) -> None:
        self._files: Files = directory.files
        self._directory = directory
        self._above = os.path.join(directory.partition, FOLDER)
        self.path = os.path.join(self._above, short_id)
        self._parts = {name: os.path.join(self.path, name) for name in ("old", "new", "back")}
        for folder in (self._above, self.path, *self._parts.values()):
            if os.path.islink(folder):
                raise RepairRefused(f"{folder} is a link, and kraftool writes nothing behind links")

    # --- the folder ---------------------------------------------------------------------------

    def make(self, plan: bytes) -> None:
        """Make the folder, and keep the plan in it."""
        self.make_folders()
        self._write(os.path.join(self.path, PLAN), [plan])
        self._files.sync_folder(self.path)

    def make_folders(self) -> None:
        """Have all of its folders; a copy of a directory may have come without the empty ones."""
        self._files.make_folder(self._directory.partition)
        for folder in (self._above, self.path, *self._parts.values()):
            self._files.make_folder(folder, _FOLDER_MODE)

    def open_journal(self) -> Journal:
        """Open the journal, or begin it."""
        opened = Journal(self._files, self._journal_path)
        try:
            self._files.sync_folder(self.path)
        except BaseException:
            opened.close()
            raise
        return opened

    def entries(self) -> list[journal.Entry]:
        """Return what the journal says; nothing where there is none."""
        return journal.entries_at(self._files, self._journal_path)

    @property
    def _journal_path(self) -> str:
        return os.path.join(self.path, journal.NAME)

    def discard(self, *, had_partition: bool) -> None:
        """Remove it all again, of an apply that has changed nothing."""
        if os.path.isdir(self.path):
            for part in self._parts.values():
                if os.path.isdir(part):
                    self._empty(part)
                    self._files.remove_folder(part)
            self._empty(self.path)
            self._files.remove_folder(self.path)
        if os.path.isdir(self._above) and not os.listdir(self._above):
            self._files.remove_folder(self._above)
        if not had_partition and not os.listdir(self._directory.partition):
            self._files.remove_folder(self._directory.partition)
            self._files.sync_folder(self._directory.path)
        else:
            self._files.sync_folder(self._directory.partition)

    # --- originals ----------------------------------------------------------------------------

    def keep(self, target: PlanFile, wanted: Fingerprint) -> None:
        """Have the original here, byte for byte; on the disk once `settle` returned."""
        path = self._at("old", target)
        if self.fingerprint("old", target) == wanted:
            return
        original = self._directory.open(target)
        if original is None:
            raise RepairRefused(f"{self._directory.at(target)} is gone")
        try:
            self._write(path, chunks_of(original))
        finally:
            original.close()
        fingerprint = self.fingerprint("old", target)
        if fingerprint != wanted:
            raise KraftoolError(
                f"{path} is not the copy that it should be: the disk may be failing"
            )

    def open_original(self, target: PlanFile) -> OpenFile:
        return self._files.open_itself(self._at("old", target))

    def put_by(self, target: PlanFile, owner: Owner, wanted: Fingerprint) -> None:
        """Make a copy of the original that can take the target's name."""
        with_original = self._files.open_itself(self._at("old", target))
        try:
            self._write(self._at("back", target), chunks_of(with_original), owner)
        finally:
            with_original.close()
        if self.fingerprint("back", target) != wanted:
            raise RepairRefused(
                f"{self._at('old', target)} is no longer the original",
                hint="somebody changed the backup, or the disk is failing. Nothing was restored",
            )

    # --- new files ----------------------------------------------------------------------------

    def stage(self, target: PlanFile, chunks: Iterable[bytes], owner: Owner | None) -> None:
        """Write a new file under its own name, in a folder that Kafka does not look into."""
        self._write(self._at("new", target), chunks, owner)

    def open_staged(self, target: PlanFile) -> OpenFile:
        return self._files.open_itself(self._at("new", target))

    def fingerprint(self, part: str, target: PlanFile) -> Fingerprint | None:
        """Return what a file of a part (`old`, `new`, `back`) is; None where there is none."""
        try:
            file = self._files.open_itself(self._at(part, target))
        except FileNotFoundError:
            return None
        try:
            return fingerprint_of(file)
        finally:
            file.close()

    def clear_new(self) -> None:
        """Remove new files that got no name."""
        self._empty(self._parts["new"])
        self.clear_copies()

    def clear_copies(self) -> None:
        """Remove copies of originals that were to take their names."""
        self._empty(self._parts["back"])

    def settle(self) -> None:
        """Make the names in it durable."""
        for part in self._parts.values():
            self._files.sync_folder(part)

    def switch(self, part: str, target: PlanFile) -> None:
        """Give a file of a part the target's name, durably; what had the name is gone."""
        self._files.rename(self._at(part, target), self._directory.at(target))
        self._files.sync_folder(self._directory.folder(target))

    def remove(self, target: PlanFile) -> None:
        """Unlink a target, durably."""
        self._files.unlink(self._directory.at(target))
        self._files.sync_folder(self._directory.folder(target))

    def _empty(self, folder: str) -> None:
        for name in self._files.names(folder):
            self._files.unlink(os.path.join(folder, name))

    def _at(self, part: str, target: PlanFile) -> str:
        return os.path.join(self._parts[part], target.name)

    def _write(self, path: str, chunks: Iterable[bytes], owner: Owner | None = None) -> None:
        file = self._files.create(path, _FILE_MODE)
        try:
            size = 0
            for chunk in chunks:
                file.write_at(size, chunk)
                size += len(chunk)
            if owner is not None:
                file.give(owner.uid, owner.gid, owner.mode)
            file.sync()
        finally:
            file.close()


def backups(directory: DataDirectory) -> list[Backup]:
    """Every plan's folder that is in a directory."""
    folders = journal.folders_in(directory.partition)
    return [Backup(directory, os.path.basename(folder)) for folder in folders]


def backup_of(directory: DataDirectory, plan_id: str) -> Backup:
    """The folder of one plan, whether it is there or not."""
    return Backup(directory, plan_id[:SHORT_ID])
