"""`kraftool recover collect`: what planning needs to know of a host, in a file to carry."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NoReturn

from typer import Argument, Option

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import Debug, PlainFormat, PlainOutput, Quiet
from kraftool.commands.output import Output
from kraftool.commands.remote_options import (
    SILENCE_S,
    RemoteOptions,
    refuse_mixed,
    remote_nodes,
)


@dataclass(frozen=True, kw_only=True)
class CollectOptions(RemoteOptions):
    """The options of `recover collect` as they were written."""

    out: Annotated[
        str, Option("--out", metavar="FILE", help="New file to carry to where you plan.")
    ]
    paths: Annotated[
        list[str],
        Argument(
            metavar="PATH",
            help="Data directories, or the node's server.properties; a tar stream or -.",
            show_default=False,
        ),
    ] = field(default_factory=list)
    keep: Annotated[
        bool, Option("--keep", help="With --ssh or --kubectl: skip nodes with a file in --out.")
    ] = False
    at: Annotated[
        int | None,
        Option("--at", min=1, metavar="OFFSET", help="Also hash the state at this offset."),
    ] = None
    output: PlainOutput = PlainFormat.TABLE
    quiet: Quiet = False
    debug: Debug = False


def collect(options: CollectOptions) -> None:
    """Collect from a host what recover plan needs, in one file.

    Example: kraftool recover collect /etc/kafka/server.properties --out node-2.collect

    Run it on every surviving host, brokers too: a broker's metadata log may be ahead of the
    controllers' logs. Stop Kafka first, and keep it stopped until the plan is applied. Damaged
    directories are collected too. A server.properties gives more than the directory: the node's
    address, static voters, and its other log directories.

    The file has identities, sizes and hashes of files, epochs, and types of records. It has no
    keys, no values and no secrets, and only its owner can read it.

    With --ssh or --kubectl, PATH is on each node, and --out is a folder. All nodes are read at the
    same time. They need a shell and tar, but not kraftool. Of server.properties only the settings
    of the quorum are sent. ssh asks no questions: kraftool reports a host with an unknown key.
    Exits 4 if no node was reached, and 3 if a node's file did not arrive. With -o json the report
    goes to stdout. If a node's file does not arrive, kraftool keeps the others. The same command
    with --keep fetches only the missing files. A file gets its name only when it is complete.

    \b
    $ kraftool recover collect --ssh ctl-1,ctl-2 /etc/kafka/server.properties --out collected
    $ kraftool recover collect --kubectl app=kafka /var/lib/kafka/data --out collected

    Nothing is changed or locked. Exits 1 if something is damaged. If something cannot be read, it
    exits 3 and writes no file: unreadable data is not lost data.
    """
    paths = options.paths
    refuse_mixed(options, paths)
    if options.keep and not options.are_given:
        raise UsageError("--keep is for --ssh and --kubectl")
    if options.are_given:
        _collect_remote(options)
    if not paths:
        raise UsageError("no PATH to collect", hint="name the data directory or server.properties")
    _collect_here(options)


def _again(options: CollectOptions) -> str:
    """Return the command line that fetches only the nodes without a file."""
    import shlex

    words = ["kraftool", "recover", "collect"]
    for option, value in (
        ("--ssh", options.ssh),
        ("--kubectl", options.kubectl),
        ("--namespace", options.namespace),
        ("--container", options.container),
        ("--at", options.at or ""),
        ("--timeout", "" if options.timeout == SILENCE_S else f"{options.timeout:g}"),
    ):
        words += [option, str(value)] if value else []
    words += ["--sudo"] if options.sudo else []
    return shlex.join([*words, *options.paths, "--out", options.out, "--keep"])


def _collect_remote(options: CollectOptions) -> NoReturn:
    from kraftool.commands.recover_collect_json import collect_document
    from kraftool.commands.recover_collect_nodes import collect_nodes, take_codes, write_nodes

    to = Output(quiet=options.quiet)
    folder = Path(options.out)
    again = _again(options)
    collected = collect_nodes(
        to,
        remote_nodes(options, options.paths),
        folder,
        at=options.at,
        seconds=options.timeout,
        keep=options.keep,
        again=again,
    )
    if options.output is PlainFormat.JSON:
        to.document(collect_document(collected))
    else:
        write_nodes(to, collected, options.out, again)
    take_codes(to, collected)
    to.finish()


def _collect_here(options: CollectOptions) -> NoReturn:
    import os
    import shlex
    import time

    from kraftool.commands.finding_view import command_lines, text
    from kraftool.commands.read_progress import read_progress
    from kraftool.commands.recover_collect_json import collect_document
    from kraftool.commands.recover_collect_nodes import CollectedNode, survey_flows
    from kraftool.commands.text_flow import READABLE, Flow
    from kraftool.repair import collect_file
    from kraftool.repair.collect_file import Collected
    from kraftool.repair.narration import is_well
    from kraftool.repair.planner import read_quorum
    from kraftool.storage.paths import open_path

    paths, out = options.paths, options.out
    to = Output(quiet=options.quiet, out=out)
    if to.to_terminal:
        raise UsageError("a collect file is not for a terminal", hint="name a file with --out")
    with read_progress(to, [open_path(path) for path in paths]) as progress:
        now_ms = int(time.time() * 1000)
        read = read_quorum(paths, now_ms=now_ms, at=options.at, progress=progress)
    surveys, data = read.surveys, collect_file.encode(Collected.of(read.directories.values()))
    to.write(data)
    for survey in surveys:
        to.narrate(*survey_flows(survey))
        if not is_well(survey):
            to.raise_code(ExitCode.FINDING)
    words = f"Carry {out} to the place where you plan, with the files of the other nodes. There:"
    # The shell expands the names of the files, so this word is not quoted.
    is_named_so = out.endswith(".collect")
    name = "*.collect" if is_named_so else shlex.quote(os.path.basename(out))
    command = f"kraftool recover plan {name}"
    to.narrate(Flow(text(words), widest=READABLE), *command_lines([command]))
    if options.output is PlainFormat.JSON:
        to.flush()
        report = Output(quiet=options.quiet)
        node = CollectedNode(file=out, size=len(data), surveys=surveys)
        report.document(collect_document([node]))
        report.flush()
    to.finish()
