"""The options that the commands on backups share, and what they come to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument

if TYPE_CHECKING:
    from kraftool.storage.backup_files import BackupFiles

Store = Annotated[
    str, Argument(metavar="STORE", help="Folder or URL with the backups.", show_default=False)
]
BackupOrStore = Annotated[
    str,
    Argument(
        metavar="BACKUP",
        help="A backup, STORE/NAME; or a STORE with backups.",
        show_default=False,
    ),
]


def opened(place: str) -> tuple[BackupFiles, str]:
    """The place, and the name of the backup in it; an empty name for a place with backups."""
    from kraftool.storage.backup_files import BackupFiles, is_backup, split

    return split(place) if is_backup(place) else (BackupFiles(place), "")
