"""The options of `kraftool simulate-election`, as the command line has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from typer import Argument, Option

from kraftool.commands.options import Out, RowFormat, RowOutput, ScreenOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateElectionOptions:
    """The options of `simulate-election` as they were written."""

    paths: Annotated[
        list[str],
        Argument(
            metavar="PATH",
            help="Data directories, one per node, or the server.properties that names them.",
        ),
    ] = field(default_factory=list)
    scenario: Annotated[
        str,
        Option(
            "--scenario",
            metavar="FILE",
            help="Describe nodes in YAML instead of giving directories.",
        ),
    ] = ""
    down: Annotated[
        list[int], Option("--down", metavar="N", help="Assume that node N is down.")
    ] = field(default_factory=list)
    partition: Annotated[
        list[str],
        Option(
            "--partition",
            metavar="A|B",
            help="Assume that 1|2,3 cannot reach each other, or 1>2 in one direction only.",
        ),
    ] = field(default_factory=list)
    delay: Annotated[
        int | None,
        Option("--delay", metavar="MS", help="Average delay of a message (default 5)."),
    ] = None
    wipe: Annotated[
        list[int],
        Option("--wipe", metavar="N", help="Assume that node N was formatted again and is empty."),
    ] = field(default_factory=list)
    add_voter: Annotated[
        list[int],
        Option("--add-voter", metavar="N", help="Assume that node N is then added to the voters."),
    ] = field(default_factory=list)
    remove_voter: Annotated[
        list[int],
        Option(
            "--remove-voter",
            metavar="N",
            help="Assume that node N is then removed from the voters.",
        ),
    ] = field(default_factory=list)
    assume_up: Annotated[
        list[str],
        Option(
            "--assume-up",
            metavar="N[=LOG]",
            help="Assume that a voter without a directory runs, with an equal log or N=empty.",
        ),
    ] = field(default_factory=list)
    witness: Annotated[
        list[int],
        Option(
            "--witness",
            metavar="N",
            help="Treat node N as a witness. Default: directories with the file kraftool-witness.",
        ),
    ] = field(default_factory=list)
    seed: Annotated[int, Option("--seed", metavar="S", min=0, help="Seed of the first run.")] = 0
    runs: Annotated[
        int, Option("--runs", metavar="N", min=1, max=100_000, help="Number of runs.")
    ] = 100
    jobs: Annotated[
        int,
        Option(
            "--jobs",
            metavar="N",
            min=0,
            help="Number of processes for the runs. 0 uses all processors.",
        ),
    ] = 0
    output: RowOutput = RowFormat.TABLE
    out: Out = ""
    verbose: Annotated[
        bool, Option("--verbose", "-v", help="Show the whole report, not only one proof.")
    ] = False
    printing: ScreenOptions
