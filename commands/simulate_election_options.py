"""The options of `kraftool simulate-election`, as the command line has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import typer

from kraftool.commands.options import Color, Debug, Out, Quiet, RowFormat, RowOutput
from kraftool.commands.output import ColorWhen


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateElectionOptions:
    """What was asked for, as it was written."""

    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Data directories, one a node, or the server.properties that lead to them.",
        ),
    ] = field(default_factory=list)
    scenario: Annotated[
        str,
        typer.Option("--scenario", metavar="FILE", help="Nodes without directories, in YAML."),
    ] = ""
    down: Annotated[
        list[int], typer.Option("--down", metavar="N", help="What if node N is down.")
    ] = field(default_factory=list)
    partition: Annotated[
        list[str],
        typer.Option(
            "--partition",
            metavar="A|B",
            help="What if 1|2,3 cannot reach each other, or 1>2 in one direction only.",
        ),
    ] = field(default_factory=list)
    delay: Annotated[
        int | None,
        typer.Option("--delay", metavar="MS", help="What a message takes on average; else 5."),
    ] = None
    wipe: Annotated[
        list[int],
        typer.Option("--wipe", metavar="N", help="What if node N is formatted again, and empty."),
    ] = field(default_factory=list)
    add_voter: Annotated[
        list[int],
        typer.Option("--add-voter", metavar="N", help="What if N is then added to the voters."),
    ] = field(default_factory=list)
    remove_voter: Annotated[
        list[int],
        typer.Option("--remove-voter", metavar="N", help="What if N is then removed from them."),
    ] = field(default_factory=list)
    assume_up: Annotated[
        list[str],
        typer.Option(
            "--assume-up",
            metavar="N[=LOG]",
            help="A voter without a directory runs, with an equal log or N=empty.",
        ),
    ] = field(default_factory=list)
    witness: Annotated[
        list[int],
        typer.Option(
            "--witness",
            metavar="N",
            help="Treat node N as a witness. Default: directories with the file kraftool-witness.",
        ),
    ] = field(default_factory=list)
    explore: Annotated[
        int,
        typer.Option(
            "--explore",
            metavar="DEPTH",
            min=0,
            max=40,
            help="Also try every order of so many choices, and of all messages to a commit.",
        ),
    ] = 0
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Of the first run.")] = 0
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", min=1, max=100_000, help="How many runs.")
    ] = 100
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", metavar="N", min=0, help="Processes for many runs; 0 takes all processors."
        ),
    ] = 0
    output: RowOutput = RowFormat.TABLE
    out: Out = ""
    color: Color = ColorWhen.AUTO
    quiet: Quiet = False
    debug: Debug = False
