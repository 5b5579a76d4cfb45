"""A directory between two states: a plan that is half done there, so that no other can be made.

Owns that it is so only while no node has run since: then nothing of that plan can be finished.
"""

from __future__ import annotations

from kraftool.decoders.errors import KraftoolError
from kraftool.repair.backup import backups
from kraftool.repair.disk import DataDirectory
from kraftool.repair.record import record_of
from kraftool.reports.directory.report import how_to_finish
from kraftool.storage.files import Files
from kraftool.storage.repair_journal import Stage


def half_done(path: str) -> str:
    """Return how to finish a plan that is half done in a directory; empty where there is none."""
    try:
        directory = DataDirectory(Files(), path)
        for backup in backups(directory):
            record = record_of(backup.entries(), backup.path)
            is_half = record.stage in (Stage.CHANGING, Stage.UNDOING)
            if is_half and not any(record.moved(directory)):
                return how_to_finish(backup.path, record.stage, directory.path)
    except (KraftoolError, OSError):
        """What cannot be read keeps nobody from surveying the rest; apply looks at it again."""
    return ""
