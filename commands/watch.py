"""`kraftool watch`: a quorum on one screen, live, from data directories, or both."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.finding_options import MuteFile, ShowMuted, finding_filter
from kraftool.commands.options import OutputOptions, RowFormat, RowOutput
from kraftool.commands.output import Output
from kraftool.commands.quorum_options import (
    LiveOptions,
)
from kraftool.storage.bundle_names import each_node

if TYPE_CHECKING:
    from kraftool.reports.findings.finding import Finding
    from kraftool.reports.findings.mutes import FindingFilter
    from kraftool.watching.judging import Statement
    from kraftool.watching.picture import Picture
    from kraftool.watching.quorum import QuorumReport
    from kraftool.watching.safety import MetadataHealth
    from kraftool.watching.sources import Sources


class Theme(StrEnum):
    """The dashboard's colours."""

    DARK = "dark"
    LIGHT = "light"
    HIGH_CONTRAST = "high-contrast"
    COLOUR_BLIND = "colour-blind"
    NO_COLOUR = "no-colour"


def watch(
    *,
    directories: Annotated[
        list[str] | None,
        Argument(metavar="DIR", help="Data directories of stopped or running nodes."),
    ] = None,
    quorum: LiveOptions,
    interval: Annotated[
        float,
        Option("--interval", metavar="SECONDS", min=0.2, help="Polling interval."),
    ] = 1.0,
    view: Annotated[
        str, Option("--view", metavar="NAME", help="View to open first, such as quorum.")
    ] = "",
    theme: Annotated[
        Theme | None,
        Option(
            "--theme", help="Colour theme. The key t changes it. NO_COLOR switches off colours."
        ),
    ] = None,
    once: Annotated[
        bool, Option("--once", help="Print the quorum as it is now, and exit.")
    ] = False,
    mute: MuteFile = "",
    show_muted: ShowMuted = False,
    serve: Annotated[
        int | None,
        Option(
            "--serve",
            metavar="PORT",
            min=0,
            max=65535,
            help="Show the dashboard in a browser on this machine. Port 0 uses any free port.",
        ),
    ] = None,
    served: Annotated[bool, Option("--served", hidden=True)] = False,
    output: RowOutput = RowFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Watch live controllers, data directories, or both.

    Example: kraftool watch --bootstrap-controller ctl-1:9093

    Example: kraftool watch /var/lib/kafka/data --once

    The dashboard asks every controller itself. It works without a leader, with nodes down, and with
    nodes that disagree. The last line shows the most important keys, and ? explains all of them.
    --once prints the first view with brokers and partitions, for scripts and tickets. It exits 1 if
    there is a warning or an error, as quorum health does. --mute leaves out what a file names
    by its code. It exits 3 if a directory cannot be read, and 4 if no node could be reached.

    Nothing is changed or locked. The quorum does not see kraftool as an observer.
    """
    from kraftool.storage.paths import path_here
    from kraftool.watching.sources import Sources

    if not directories and not quorum.bootstrap_controller:
        raise UsageError(
            "nothing was named to watch", hint="name --bootstrap-controller, directories, or both"
        )
    if (output is not RowFormat.TABLE or printing.out) and not once:
        raise UsageError("-o and --out require --once")
    if mute and not once:
        raise UsageError("--mute requires --once")
    left_out = finding_filter(None, mute)
    target = quorum.target() if quorum.bootstrap_controller else None
    sources = Sources(target=target, directories=tuple(each_node(directories or ())))
    for directory in sources.directories:
        path_here(directory)  # a node of a bundle is unpacked once, before others look for it
    if once and serve is not None:
        raise UsageError("--once and --serve cannot be used together", hint="choose one of them")
    if serve is not None:
        from kraftool.commands.watch_serve import serve as serve_windows

        given = quorum.command_config
        config = ("--command-config", given) if given else ()
        colours = ("--theme", theme.value) if theme is not None else ()
        ports = (f"--resolve={address}" for address in quorum.resolve or ())
        own = (
            "--served",
            "--timeout",
            str(quorum.timeout),
            "--interval",
            str(interval),
            "--view",
            view,
        )
        arguments = (*own, *config, *colours, *ports, "--", *sources.directories)
        serve_windows(arguments, serve, printing.open(), target)
        return
    if once:
        to = printing.open()
        _print(to, sources, quorum.timeout, output, left_out, show_muted=show_muted)
        to.finish()
    colours_of = f"kraftool-{theme.value}" if theme is not None else ""
    _show(sources, interval, view, colours_of, is_served=served)


def _print(
    to: Output,
    sources: Sources,
    timeout_s: float,
    output: RowFormat,
    left_out: FindingFilter,
    *,
    show_muted: bool,
) -> None:
    """One poll, as text, JSON or CSV."""
    import asyncio
    from dataclasses import replace

    from kraftool.commands.finding_options import set_exit_code
    from kraftool.reports.findings.finding import Finding
    from kraftool.watching.judging import Statement
    from kraftool.watching.quorum import of_directories, quorum_report
    from kraftool.watching.watcher import Watcher

    async def poll() -> Picture:
        watcher = Watcher(sources)
        try:
            return await watcher.whole(timeout_s)
        finally:
            await watcher.close()

    picture = asyncio.run(poll())
    metadata, found = _metadata(sources, picture)
    report = of_directories(quorum_report(picture, metadata), sources.directories)
    every: tuple[Finding | Statement, ...] = (*report.statements, *found)
    chosen = left_out.sorted(every, _finding_of)
    findings = tuple(value for value in chosen.kept if isinstance(value, Finding))
    statements = tuple(value for value in chosen.kept if isinstance(value, Statement))
    report = replace(report, statements=statements)
    is_table = output is RowFormat.TABLE
    if is_table:
        from kraftool.commands.finding_view import write_muted
        from kraftool.commands.watch_view import write_watched

        write_watched(to, report, metadata, findings)
        write_muted(to, chosen.muted, is_listed=show_muted)
    else:
        from kraftool.watching.document import watch_document

        to.document(watch_document(report, metadata, findings, chosen.muted), output)
    _set_exit_code(to, picture, report, is_shown=is_table)
    set_exit_code(to, findings)


def _finding_of(value: Finding | Statement) -> Finding:
    """Return what a mute compares."""
    from kraftool.watching.judging import Statement

    return value.finding if isinstance(value, Statement) else value


def _metadata(
    sources: Sources, picture: Picture
) -> tuple[MetadataHealth | None, tuple[Finding, ...]]:
    """Return brokers and partitions by the leader's metadata, with their problems."""
    from kraftool.watching.checkup import MetadataWatch
    from kraftool.watching.task import Task

    view = picture.view
    if sources.target is None or view is None or view.leader is None:
        return None, ()
    metadata = MetadataWatch(sources.target).read(view, Task())
    return metadata, metadata.findings(view)


def _set_exit_code(to: Output, picture: Picture, report: QuorumReport, *, is_shown: bool) -> None:
    """The exit code: 1 for what `quorum health` calls a warning or an error, too, and 3 for a
    directory that cannot be read."""
    from kraftool.commands.quorum_options import tell_reach
    from kraftool.reports.findings.finding import Severity

    if picture.view is not None:
        tell_reach(to, picture.view, shown=picture.view.asked if is_shown else ())
    statements = (statement for statement in report.statements if not statement.is_of_old_log)
    if any(statement.severity is not Severity.INFO for statement in statements):
        to.raise_code(ExitCode.FINDING)
    for directory in picture.directories:
        if directory.problem:
            to.problem(f"{directory.path}: {directory.problem}")


def _show(
    sources: Sources, interval_s: float, view: str, theme: str, *, is_served: bool = False
) -> None:
    """The dashboard, until it is left; in a browser it has no terminal here."""
    import gc
    import sys

    if not is_served and not (sys.stdin.isatty() and Output().to_terminal):
        raise UsageError(
            "a dashboard needs a terminal", hint="use --once to print it, and -o json for scripts"
        )
    if not is_served and not Output().stderr_is_terminal:
        raise UsageError(
            "a dashboard needs a terminal on stderr too, because it draws there",
            hint="do not redirect stderr, or use --once to print the quorum",
        )

    from kraftool.tui.app import WatchApp
    from kraftool.tui.views import VIEWS, named
    from kraftool.watching.export import Memory
    from kraftool.watching.watcher import Watcher

    if view and named(view) is None:
        names = ", ".join(view_entry.name for view_entry in VIEWS)
        raise UsageError(f"--view {view!r} is not a view", hint=f"the views are {names}")
    # What was imported stays: without it the collections that follow are short.
    gc.freeze()
    watcher = Watcher(sources, interval_s=interval_s)
    memory = None if is_served else Memory("watch")
    WatchApp(watcher, view=view, theme=theme, memory=memory, is_served=is_served).run()
