"""`kraftool storage version-mapping`: the feature levels of a release."""

from __future__ import annotations

from typing import Annotated

import typer

from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import Debug
from kraftool.commands.output import Output


def version_mapping(
    release_version: Annotated[
        str,
        typer.Option(
            "--release-version",
            "-r",
            metavar="RELEASE",
            help="A release as 4.3 or 4.3-IV0; the newest if not given.",
        ),
    ] = "",
    debug: Debug = False,
) -> None:
    """Print the feature levels that a new cluster of a release starts with.

    Example: kraftool storage version-mapping --release-version 4.3

    The lines of kafka-storage, for each release from 3.3 on. Nothing is written.
    """
    from kraftool.image.metadata_version import METADATA_VERSION, level_name, release_levels
    from kraftool.storage.format_levels import FormatRefused, release_level

    to = Output()
    try:
        level = release_level(release_version)
    except FormatRefused as error:
        raise UsageError(error.message, hint=error.hint) from None
    for name, each in release_levels(level).items():
        named = f" ({release_version or level_name(level)})" if name == METADATA_VERSION else ""
        to.write(f"{name}={each}{named}\n")
    to.finish()
