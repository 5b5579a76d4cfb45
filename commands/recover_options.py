"""The options that plan, apply, undo and verify share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from kraftool.commands.exit_code import UsageError

PlanFile = Annotated[str, typer.Argument(metavar="PLAN", help="The file of recover plan.")]
Directory = Annotated[
    str, typer.Option("--dir", metavar="DIR", help="The data directory: metadata.log.dir.")
]
Yes = Annotated[
    str,
    typer.Option(
        "--yes",
        metavar="PLAN_ID",
        help="Ask nothing: this is the plan, and no Kafka runs on the directory anywhere.",
    ),
]
Accept = Annotated[
    list[str] | None,
    typer.Option(
        "--accept", metavar="WORD", help="With --yes: a risk that the plan takes; may be repeated."
    ),
]
Host = Annotated[
    str,
    typer.Option(
        "--host", metavar="NAME", help="Which host of the plan it is, where the files do not tell."
    ),
]
Config = Annotated[
    str,
    typer.Option(
        "--config", "-c", metavar="FILE", help="The node's server.properties, to be compared."
    ),
]


def refuse_unknown_words(given: Iterable[str]) -> None:
    """Raise UsageError for an --accept of what is no risk's word."""
    from kraftool.repair.request import Acceptance

    words = {acceptance.value for acceptance in Acceptance}
    for each in given:
        if each not in words:
            raise UsageError(
                f"--accept {each} is no word", hint=f"one of {', '.join(sorted(words))}"
            )
