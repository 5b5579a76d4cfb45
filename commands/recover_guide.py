"""`kraftool recover guide`: the commands of a recovery, with a question before each."""

from __future__ import annotations

import os
import sys
from typing import Annotated

from typer import Option

from kraftool.commands.exit_code import ExitCode
from kraftool.commands.options import Debug
from kraftool.commands.output import Output

_BY_HAND = (
    "kraftool recover collect --ssh ctl-1,ctl-2 /var/lib/kafka/data --out collected",
    "kraftool doctor /var/lib/kafka/data",
    "kraftool recover plan collected/*.collect --set lost=3 --out plan.yaml",
    "kraftool recover rehearse plan.yaml --dir /var/lib/kafka/data",
    "kraftool recover apply plan.yaml --dir /var/lib/kafka/data",
)


def guide(
    folder: Annotated[
        str,
        Option(
            "--folder",
            metavar="DIR",
            help="Folder of the recovery (default recovery-TIME). If it exists, the guide continues"
            " it.",
        ),
    ] = "",
    debug: Debug = False,
) -> None:
    """Guide you from collect to apply, with a question each time.

    Example: kraftool recover guide --folder recovery

    The guide runs collect, doctor, plan, rehearse and apply in this order. It asks for the
    surviving hosts, data directories and collect files, and for the lost voters. It collects from
    other hosts over ssh. Then it shows each command, and runs it if you answer y. You can add
    options to a command, or skip it and run it yourself in another shell. The guide itself judges
    nothing: you see what the commands print.

    It writes only in its folder: collect files, the plan, and a journal of your answers, the
    commands and their exit codes. Apply requires the word yes, and then asks for the plan's id. For
    a directory on another host the guide prints the commands, waits until you have run them, and
    compares the directory with the plan. If you quit, it prints the commands that are left. To
    continue, give the same --folder. Without a terminal it prints the commands and exits 2.
    """
    guide_on_terminal(folder)


def guide_on_terminal(folder: str = "") -> None:
    """Run the guide. Without a terminal, print the commands and exit 2."""
    to = Output()
    if not to.to_terminal or sys.stdin is None or not sys.stdin.isatty():
        from kraftool.commands.finding_view import command_lines

        to.problem(
            "the guide asks questions and requires a terminal",
            hint="without one, run commands like these, with your hosts, paths and lost voters:",
            code=ExitCode.USAGE,
        )
        to.narrate(*command_lines(_BY_HAND))
        to.finish()
    import time

    from kraftool.commands.recover_guide_questions import ask_on_terminal
    from kraftool.commands.recover_guide_steps import Guide, run_kraftool

    name = folder or time.strftime("recovery-%Y%m%dT%H%M%SZ", time.gmtime())
    Guide(to, os.path.abspath(name), ask_on_terminal, run_kraftool).run()
    to.finish()
