"""`kraftool storage random-uuid`: an id for a cluster or a directory."""

from __future__ import annotations

from kraftool.commands.options import Debug
from kraftool.commands.output import Output


def random_uuid(debug: Debug = False) -> None:
    """Print a random uuid, for a cluster or a directory.

    Example: kraftool storage random-uuid

    The uuid never begins with a hyphen, so a command line cannot mistake it for an option. Nothing
    is written.
    """
    from kraftool.storage.random_ids import random_uuid as new_uuid

    to = Output()
    to.write(new_uuid() + "\n")
    to.finish()
