"""`kraftool backup create`: the metadata of a live leader or of a directory, to keep."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.backup_options import Store
from kraftool.commands.exit_code import RefusedError
from kraftool.commands.options import (
    OutputOptions,
    PlainFormat,
    PlainOutput,
)
from kraftool.commands.output import Output, printable
from kraftool.commands.quorum_options import (
    LiveOptions,
)

if TYPE_CHECKING:
    from kraftool.backup.manifest import Manifest


def create(
    *,
    store: Store,
    path: Annotated[
        str,
        Argument(metavar="PATH", help="Data directory, in place of a live quorum."),
    ] = "",
    at: Annotated[
        int | None,
        Option(
            "--at", metavar="OFFSET", min=1, help="Keep the state before this offset, not the last."
        ),
    ] = None,
    encrypt_to: Annotated[
        list[str] | None,
        Option(
            "--encrypt-to",
            metavar="KEY",
            help="Encrypt with age to this public key (age1… or ssh-…). Repeat it for more keys.",
        ),
    ] = None,
    without_secrets: Annotated[
        bool,
        Option(
            "--without-secrets",
            help="Leave out SCRAM users, and config values that are not known to be harmless.",
        ),
    ] = False,
    quorum: LiveOptions,
    output: PlainOutput = PlainFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Create a backup of a cluster's metadata.

    \b
    Example: kraftool backup create /backup/prod --bootstrap-controller ctl-1:9093
    Example: kraftool backup create s3://backups/prod /var/lib/kafka/data

    With --bootstrap-controller kraftool reads the leader's snapshot and its log up to the high
    watermark, without joining as a replica: everything in the backup is committed. The files of one
    node do not show whether their last records were committed.

    The backup ends before a transaction that is not finished. If the state is that of the newest
    backup, kraftool writes only a manifest. It reads back what it wrote. If it is stopped before
    the end, the backup does not exist, and earlier ones are as they were.

    The backup has secrets: SCRAM keys and passwords in configs. Only its owner can read its files.
    With --encrypt-to only the owner of the key can read the checkpoint, with kraftool or with the
    tool age. With --without-secrets the secrets are left out. The manifest lists what a restore
    will not bring back.

    kraftool makes no backup of a damaged log, and does not mix two clusters in one STORE: it exits
    5. Nothing else is changed, and nothing is locked.
    """
    from kraftool.backup.create import BackupOptions, NotWholeError
    from kraftool.backup.create import create as create_backup
    from kraftool.commands.live_reading import leader_log, live_quorum, refuse_both
    from kraftool.commands.read_progress import read_progress
    from kraftool.reports.logs.processes import quicken
    from kraftool.storage.backup_files import BackupFiles
    from kraftool.storage.paths import open_path
    from kraftool.storage.remote import shown_url

    refuse_both([path] if path else [], quorum.bootstrap_controller)
    quicken()
    to = printing.open()
    options = BackupOptions(
        at=at,
        with_secrets=not without_secrets,
        recipients=tuple(encrypt_to or ()),
        now_ms=int(time.time() * 1000),
    )
    with live_quorum(to, quorum, committed=True, with_history=at is not None) as live:
        if live is None:
            location, source = open_path(path), shown_url(path)
        else:
            location = leader_log(to, live).location
            source = f"the leader {location.path}"
        with read_progress(to, [location]) as progress:
            try:
                manifest = create_backup(BackupFiles(store), location, options, source, progress)
            except NotWholeError as error:
                raise RefusedError(error.message, hint=error.hint) from None
    if output is PlainFormat.JSON:
        to.document(manifest)
    else:
        _write(to, store, manifest)
    to.finish()


def _write(to: Output, store: str, manifest: Manifest) -> None:
    from kraftool.commands.backup_view import left_out_words, summary
    from kraftool.storage.remote import shown_url

    to.line(printable(f"{shown_url(store).rstrip('/')}/{manifest.name}"))
    to.rich(*summary(manifest))
    if not manifest.has_own_checkpoint:
        to.note("The state is that of the newest backup: only a manifest was written.")
    if words := left_out_words(manifest):
        to.note(words)
    elif manifest.has_secrets and not manifest.is_encrypted:
        to.note("The backup has secrets, and is not encrypted: only its owner can read its files.")
