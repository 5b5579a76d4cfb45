"""`kraftool recover collect`: what planning needs to know of a host, in a file to carry."""

from __future__ import annotations

from typing import Annotated

import typer

from kraftool.commands.options import Debug, Quiet
from kraftool.commands.output import ExitCode, Output, UsageError, printable


def collect(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Data directories or the node's server.properties; a tar stream or -.",
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="The file to carry; a new one.")
    ],
    at: Annotated[
        int | None,
        typer.Option("--at", min=1, metavar="OFFSET", help="Hash the state at this offset, too."),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Collect what planning needs to know of this host, into one small file.

    Example: kraftool recover collect /etc/kafka/server.properties --out node-2.collect

    On every host that is left, brokers too: a broker's metadata log may be ahead of the
    controllers'. Kafka should be stopped, and stay so until the plan is carried out. Damaged
    directories are collected like others. Naming server.properties tells more than the directory:
    where the node is reached, and static voters.

    The file has identities, sizes and hashes of files, epochs, and types of records. There is no
    key, no value and no secret in it, and only its owner may read it.

    Nothing is changed, and nothing is locked. Ends with 1 where something was found that is
    damaged, and with 3, without a file, where something could not be read: that is not lost.
    """
    import time

    from kraftool.repair import collect_file
    from kraftool.repair.narration import is_well, survey_lines
    from kraftool.repair.planner import read_surveys

    to = Output(quiet=quiet, out=out)
    if to.to_terminal:
        raise UsageError("a collect file is not for a terminal", hint="name a file with --out")
    surveys = read_surveys(paths, now_ms=int(time.time() * 1000), at=at)
    to.write(collect_file.encode(surveys))
    for each in surveys:
        for line in survey_lines(each):
            to.note(printable(line))
        if not is_well(each):
            to.raise_code(ExitCode.FINDING)
    to.note(f"carry {printable(out)} to where you plan: kraftool recover plan FILE...")
    to.finish()
