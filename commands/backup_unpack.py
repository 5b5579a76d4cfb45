"""`kraftool backup unpack`: a backup as a data directory."""

from __future__ import annotations

import time
from typing import Annotated

from typer import Argument, Option

from kraftool.commands.backup_options import BackupOrStore, opened
from kraftool.commands.exit_code import RefusedError
from kraftool.commands.options import ScreenOptions
from kraftool.commands.output import printable


def unpack(
    *,
    backup: BackupOrStore,
    directory: Annotated[
        str, Argument(metavar="DIR", help="A folder that is new or empty.", show_default=False)
    ],
    node_id: Annotated[
        int, Option("--node-id", metavar="ID", min=0, help="node.id of the directory.")
    ],
    printing: ScreenOptions,
) -> None:
    """Write a backup as a data directory.

    Example: kraftool backup unpack /backup/prod /tmp/unpacked --node-id 999

    kraftool recover plan takes the state of a quorum from this directory: so the same cluster comes
    back with an earlier state (docs/restore.md). Kafka starts on it, too. The directory gets a new
    directory id, and so it does not vote. If all controllers are lost, name the id of the node that
    runs on the directory. To go back to an earlier state, name an id that no node has. If BACKUP is
    a STORE, kraftool takes its newest backup.

    Exits 5 if DIR is not empty, or if the backup is not as it was written. Nothing else is changed.
    """
    from kraftool.backup.create import NotWholeError
    from kraftool.backup.manifest import newest
    from kraftool.backup.unpack import unpack as unpack_backup

    to = printing.open()
    files, name = opened(backup)
    manifest = newest(files, name)
    try:
        unpack_backup(files, manifest, directory, node_id, int(time.time() * 1000))
    except NotWholeError as error:
        raise RefusedError(error.message, hint=error.hint) from None
    to.line(printable(f"{directory}: the state of {manifest.name} at offset {manifest.offset}"))
    to.finish()
