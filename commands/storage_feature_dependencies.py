"""`kraftool storage feature-dependencies`: what a feature level needs."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import Debug
from kraftool.commands.output import Output


def feature_dependencies(
    feature: Annotated[
        list[str],
        Option(
            "--feature",
            "-f",
            metavar="NAME=LEVEL",
            help="A feature level. Repeat it for more features.",
        ),
    ],
    debug: Debug = False,
) -> None:
    """Print the feature levels that a feature level requires.

    Example: kraftool storage feature-dependencies --feature eligible.leader.replicas.version=1

    Prints what kafka-storage prints. Nothing is written.
    """
    from kraftool.image.metadata_version import needs_of, release_name
    from kraftool.storage.format_levels import FormatRefused, check_level, feature_levels

    def named(name: str, level: int) -> str:
        release = release_name(name, level)
        return f"{name}={level}" + (f" ({release})" if release else "")

    to = Output()
    try:
        asked = feature_levels(feature)
        for name, level in asked.items():
            check_level(name, level)
    except FormatRefused as error:
        raise UsageError(error.message, hint=error.hint) from None
    for name, level in asked.items():
        needs = needs_of(name, level)
        to.write(named(name, level) + (" requires:\n" if needs else " has no dependencies.\n"))
        for need in needs:
            to.write(f"    {named(*need)}\n")
    to.finish()
