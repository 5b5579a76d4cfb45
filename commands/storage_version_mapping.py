"""`kraftool storage version-mapping`: the feature levels of a release."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import Debug
from kraftool.commands.output import Output


def version_mapping(
    release_version: Annotated[
        str,
        Option(
            "--release-version",
            "-r",
            metavar="RELEASE",
            help="A release, such as 4.3 or 4.3-IV0 (default: the newest).",
        ),
    ] = "",
    debug: Debug = False,
) -> None:
    """Print the feature levels of a release.

    Example: kraftool storage version-mapping --release-version 4.3

    A new cluster of this release starts with these levels. Prints what kafka-storage prints, for
    each release since 3.3. Nothing is written.
    """
    from kraftool.image.metadata_version import METADATA_VERSION, level_name, release_levels
    from kraftool.storage.format_levels import FormatRefused, release_level

    to = Output()
    try:
        level = release_level(release_version)
    except FormatRefused as error:
        raise UsageError(error.message, hint=error.hint) from None
    for name, feature_level in release_levels(level).items():
        named = f" ({release_version or level_name(level)})" if name == METADATA_VERSION else ""
        to.write(f"{name}={feature_level}{named}\n")
    to.finish()
