"""`kraftool simulate-election`: what would happen if these nodes started now."""

from __future__ import annotations

from typing import Annotated

import typer

from kraftool.commands.options import Color, Debug, Out, PlainFormat, PlainOutput, Quiet
from kraftool.commands.output import ColorWhen, ExitCode, Output, UsageError


def simulate_election(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH",
            help="Data directories, one a node, or the server.properties that lead to them.",
        ),
    ] = None,
    scenario: Annotated[
        str,
        typer.Option("--scenario", metavar="FILE", help="Nodes without directories, in YAML."),
    ] = "",
    down: Annotated[
        list[int] | None, typer.Option("--down", metavar="N", help="What if node N is down.")
    ] = None,
    partition: Annotated[
        list[str] | None,
        typer.Option(
            "--partition",
            metavar="A|B",
            help="What if 1|2,3 cannot reach each other, or 1>2 in one direction only.",
        ),
    ] = None,
    delay: Annotated[
        int | None,
        typer.Option("--delay", metavar="MS", help="What a message takes on average; else 5."),
    ] = None,
    wipe: Annotated[
        list[int] | None,
        typer.Option("--wipe", metavar="N", help="What if node N is formatted anew, and empty."),
    ] = None,
    add_voter: Annotated[
        list[int] | None,
        typer.Option("--add-voter", metavar="N", help="What if N is then added to the voters."),
    ] = None,
    remove_voter: Annotated[
        list[int] | None,
        typer.Option("--remove-voter", metavar="N", help="What if N is then removed from them."),
    ] = None,
    assume_up: Annotated[
        list[str] | None,
        typer.Option(
            "--assume-up",
            metavar="N[=LOG]",
            help="A voter without a directory runs, with an equal log or N=empty.",
        ),
    ] = None,
    witness: Annotated[
        list[int] | None,
        typer.Option(
            "--witness",
            metavar="N",
            help="Treat node N as a witness. Default: directories with the file kraftool-witness.",
        ),
    ] = None,
    explore: Annotated[
        int,
        typer.Option(
            "--explore",
            metavar="DEPTH",
            min=0,
            max=40,
            help="Also try every order of so many choices, and of all messages to a commit.",
        ),
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", metavar="S", min=0, help="Of the first run.")] = 0,
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", min=1, max=100_000, help="How many runs.")
    ] = 100,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs", metavar="N", min=0, help="Processes for many runs; 0 takes all processors."
        ),
    ] = 0,
    output: PlainOutput = PlainFormat.TABLE,
    out: Out = "",
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Simulate the next election from what nodes have on their disks.

    Example: kraftool simulate-election /var/lib/kafka/data --assume-up 3

    Give one directory (or server.properties) a node. Who can win, who refuses whom and why, how
    likely each leader is and how long it takes; which records are lost if a node leads that lacks
    them; which nodes may be restarted, and how many more failures the quorum stands. A voter
    without a directory counts as down. It ends with 1 if no leader is possible, if none of the
    runs had one, and if a possible leader would cut off what may have been committed (DATA LOSS).

    A scenario describes nodes instead: "nodes: {1: {end: 120}, 2: {end: 120}, 3: {end: 90, down:
    true}}"; docs/simulate-election.md has all keys. --explore tries every order of messages,
    timeouts and one crash, not a sample, and says how far it came. The same seed gives the same
    bytes, whatever --jobs is. On a terminal the verdict is printed before the runs begin.

    Nothing is written, and nothing is locked; a running Kafka is not disturbed. Nothing is sent to
    any node: the protocol runs in memory, on copies of what was read.
    """
    from kraftool.commands.election_question import ElectionQuestion, asked

    if bool(paths) == bool(scenario):
        raise UsageError("name either directories or a scenario", hint="--scenario FILE")
    if paths and paths.count("-") > 1:
        raise UsageError("stdin can be read once only", hint="name - once")
    to = Output(color=color, quiet=quiet, out=out)
    question = ElectionQuestion(
        paths=tuple(paths or ()),
        scenario=scenario,
        down=tuple(down or ()),
        partition=tuple(partition or ()),
        delay_ms=delay,
        wipe=tuple(wipe or ()),
        add_voter=tuple(add_voter or ()),
        remove_voter=tuple(remove_voter or ()),
        assume_up=tuple(assume_up or ()),
        witness=tuple(witness or ()),
    )
    with to.task_progress("simulate-election") as progress:
        case, conditions = asked(question)
        from kraftool.sim.election.report import assess, with_runs

        assessment = assess(case, conditions, seed=seed)
    is_early = output is PlainFormat.TABLE and to.to_terminal
    if is_early:
        from kraftool.commands.simulate_election_view import write_verdict

        write_verdict(to, assessment)
        to.line()
    with to.task_progress("simulate-election") as progress:
        report = with_runs(assessment, runs, explore, jobs, progress)
    if output is PlainFormat.JSON:
        from kraftool.commands.output import json_document
        from kraftool.sim.election.document import document

        to.write(json_document(document(report)))
    else:
        from kraftool.commands.simulate_election_view import write_election

        write_election(to, report, assessment if is_early else None)
    if not report.is_fine:
        to.raise_code(ExitCode.FINDING)
    if any(each.undecoded for each in case.findings):
        to.raise_code(ExitCode.UNREADABLE)
    to.finish()
