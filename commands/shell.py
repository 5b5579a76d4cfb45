"""`kraftool shell`: the metadata image as a tree of files, as kafka-metadata-shell shows it.

Owns where commands come from (-c, a terminal, or lines on stdin) and how the run ends: with 1 if a
command of a script could not do what it was asked, however the others went.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.options import Debug, Quiet, ShowSecrets
from kraftool.commands.quorum_options import (
    LiveOptions,
)

if TYPE_CHECKING:
    from kraftool.commands.output import Output
    from kraftool.commands.shell_session import ShellSession

_LINES_AT_ONCE = 1000


def shell(
    *,
    path: Annotated[
        str,
        Argument(
            metavar="PATH",
            help="A data directory, one checkpoint or segment, a server.properties or a tar. -"
            " reads a tar from stdin.",
        ),
    ] = "",
    at: Annotated[
        int | None,
        Option(
            "--at",
            metavar="OFFSET",
            min=0,
            help="Show the state before this offset instead of the last one.",
        ),
    ] = None,
    commands: Annotated[
        list[str] | None,
        Option(
            "--command",
            "-c",
            metavar="COMMANDS",
            help="Run these commands, separated by ;, instead of asking. Repeat it for more.",
        ),
    ] = None,
    quorum: LiveOptions,
    show_secrets: ShowSecrets = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Browse the cluster's metadata as a tree.

    Example: kraftool shell /var/lib/kafka/data -c "ls image; cat image/provenance"

    Example: kraftool shell --bootstrap-controller ctl-1:9093 -c "tree image/topics"

    On a terminal the shell asks for commands, with completion and history. Elsewhere, without -c,
    it reads commands from stdin. It has the commands of kafka-metadata-shell: ls, cat, find, tree,
    cd, pwd, man, history, help and exit. Changes of an unfinished transaction are not shown.

    With --bootstrap-controller kraftool reads the leader's log over the network, without joining
    as a replica: its snapshot and the log after it, up to the high watermark. Records that are not
    committed yet are not shown. The tree shows one moment and does not follow the quorum. Exits 4
    if no node could be reached, and 3 if there is no leader.

    Files are only read. Nothing is ever written.
    """
    import sys

    from kraftool.commands.live_reading import leader_log, live_quorum, refuse_both
    from kraftool.commands.output import Output
    from kraftool.commands.shell_load import image_of, load
    from kraftool.commands.shell_session import ShellSession
    from kraftool.commands.shell_terminal import become_stdin, interact, open_terminal
    from kraftool.reports.state.shell.tree import shell_tree

    refuse_both([path] if path else [], quorum.bootstrap_controller)
    to = Output(quiet=quiet)
    asks = not commands and sys.stdin is not None and sys.stdin.isatty() and to.to_terminal
    terminal = open_terminal(to) if path == "-" and not commands else None
    with live_quorum(to, quorum, committed=True) as live:
        state = load(to, path if live is None else leader_log(to, live).location, at)
    session = ShellSession(
        root=shell_tree(image_of(state), show_secrets=show_secrets),
        show=lambda lines: _show(to, lines),
        complain=lambda text: _fail(to, text),
    )
    if terminal is not None:
        become_stdin(terminal)
    if asks or terminal is not None:
        _make_interactive(session, to)
        interact(session, to)
    else:
        for line in commands or (line.rstrip("\n") for line in sys.stdin or ()):
            session.run(line)
            if session.is_over:
                break
    to.finish()


def _make_interactive(session: ShellSession, to: Output) -> None:
    """Complaints take their place among the results, and names fill the terminal."""
    from rich.cells import cell_len

    from kraftool.commands.output import printable

    session.complain = lambda text: to.line(printable(text))
    session.width = lambda: to.width
    session.measure = lambda name: cell_len(printable(name))


def _show(to: Output, lines: Iterable[str]) -> None:
    from kraftool.commands.output import printable

    waiting = iter(lines)
    while some := list(islice(waiting, _LINES_AT_ONCE)):
        if to.to_terminal:
            some = list(map(printable, some))
        to.write("\n".join(some) + "\n")


def _fail(to: Output, text: str) -> None:
    from kraftool.commands.exit_code import ExitCode

    to.problem(text, code=ExitCode.FINDING)
