"""`kraftool backup list`: the backups in a folder or at a URL."""

from __future__ import annotations

from kraftool.commands.backup_options import Store
from kraftool.commands.options import (
    OutputOptions,
    RowFormat,
    RowOutput,
    TimeZone,
)


def list_(
    *,
    store: Store,
    output: RowOutput = RowFormat.TABLE,
    tz: TimeZone = "UTC",
    printing: OutputOptions,
) -> None:
    """List the backups of a cluster, the newest first.

    Example: kraftool backup list /backup/prod

    Reads only the manifests: kraftool backup verify compares the files with them. Exits 3 if a
    manifest cannot be read. Nothing is changed.
    """
    from kraftool.backup.listing import list_backups
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.commands.times import time_zone

    zone = time_zone(tz)
    to = printing.open()
    listing = list_backups(store)
    if output is RowFormat.TABLE:
        from kraftool.backup.table import backup_table
        from kraftool.commands.block_view import table
        from kraftool.commands.finding_view import write_findings

        if listing.backups:
            to.rich(table(backup_table(listing.backups, zone), to.width))
        write_findings(to, listing.findings, listing.store)
    else:
        to.document(listing, output)
    set_exit_code(to, listing.findings)
    to.finish()
