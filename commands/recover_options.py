"""The options that apply, undo and verify share."""

from __future__ import annotations

from typing import Annotated

import typer

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
