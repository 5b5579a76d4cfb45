"""The options that plan, apply, undo and verify share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import UsageError

PlanFile = Annotated[str, Argument(metavar="PLAN", help="Plan file, as recover plan wrote it.")]
Directory = Annotated[
    str, Option("--dir", metavar="DIR", help="Data directory (metadata.log.dir).")
]
Yes = Annotated[
    str,
    Option(
        "--yes",
        metavar="PLAN_ID",
        help="Give the plan id here instead of typing it. You confirm that no Kafka runs on the"
        " directory anywhere.",
    ),
]
Accept = Annotated[
    list[str] | None,
    Option(
        "--accept",
        metavar="WORD",
        help="With --yes: accept a risk. The plan names the word for each risk. Repeat it for more"
        " risks.",
    ),
]
Host = Annotated[
    str,
    Option(
        "--host", metavar="NAME", help="Name of the host in the plan, if the files do not show it."
    ),
]
Config = Annotated[
    str,
    Option(
        "--config",
        "-c",
        metavar="FILE",
        help="server.properties of the node, to compare with the plan.",
    ),
]


def refuse_unknown_words(given: Iterable[str]) -> None:
    """Raise UsageError for an --accept of what is no risk's word."""
    from kraftool.repair.request import Acceptance

    words = {acceptance.value for acceptance in Acceptance}
    for word in given:
        if word not in words:
            raise UsageError(
                f"--accept {word} is not a word for a risk",
                hint=f"one of {', '.join(sorted(words))}",
            )
