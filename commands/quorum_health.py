"""`kraftool quorum health`: whether a live quorum is well, and what is wrong if not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kraftool.commands.options import Color, Debug, Out, Quiet, RowFormat, RowOutput, TimeZone
from kraftool.commands.output import ColorWhen, Output
from kraftool.commands.quorum_options import TIMEOUT_S, Bootstrap, CommandConfig, Resolve, Timeout

if TYPE_CHECKING:
    from kraftool.client.model import NodeAnswer


def health(
    bootstrap_controller: Bootstrap,
    quorum_only: Annotated[
        bool,
        typer.Option("--quorum-only", help="Leave out brokers and partitions: read no metadata."),
    ] = False,
    command_config: CommandConfig = "",
    resolve: Resolve = None,
    timeout: Timeout = TIMEOUT_S,
    output: RowOutput = RowFormat.TABLE,
    tz: TimeZone = "UTC",
    out: Out = "",
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Tell whether a live quorum is well, and what to do if not.

    Example: kraftool quorum health --bootstrap-controller ctl-1:9093

    Two looks, a moment apart: one leader that everyone knows and that runs a controller, a majority
    of voters that fetch, a high watermark that moves, replicas less than 1000 records and 5 s
    behind, levels of features that every node supports. Meanwhile the leader's committed metadata
    is read, as no replica of the quorum: fenced brokers, partitions offline or under
    min.insync.replicas, and what else doctor knows of a state. Without a leader it is told what is
    known, and what is not.
    kraftool doctor --explain CODE tells more of each finding.

    It ends with 1 from a warning up, with 4 where no node could be reached. Nothing is changed.
    """
    import asyncio

    from kraftool.client.checking import check
    from kraftool.commands.finding_options import settle
    from kraftool.commands.quorum_options import target as target_of
    from kraftool.commands.quorum_options import tell_reach
    from kraftool.commands.times import time_zone

    zone = time_zone(tz)
    target = target_of(bootstrap_controller, command_config, timeout, resolve)
    to = Output(color=color, quiet=quiet, out=out)
    with to.task_progress("the committed metadata") as progress:
        found = asyncio.run(check(target, with_metadata=not quorum_only, progress=progress))
    shown: tuple[NodeAnswer, ...] = ()
    if output is RowFormat.TABLE:
        from kraftool.commands.quorum_view import write_health

        write_health(to, found, zone)
        shown = found.view.asked
    else:
        from kraftool.client.quorum_json import health_document

        to.document(health_document(found), output)
    tell_reach(to, found.view, shown=shown)
    settle(to, found.findings)
    to.finish()
