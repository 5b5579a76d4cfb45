"""`kraftool quorum may-stop`: a gate for restarts, one controller after the other."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import ExitCode
from kraftool.commands.options import OutputOptions, RowFormat, RowOutput
from kraftool.commands.quorum_options import (
    AccessOptions,
    Bootstrap,
)

WAIT_TIMEOUT_S = 600.0


def may_stop(
    *,
    node_id: Annotated[int, Argument(metavar="ID", min=0, help="node.id of the node to stop.")],
    bootstrap_controller: Bootstrap,
    wait: Annotated[bool, Option("--wait", help="Wait until the node may stop.")] = False,
    wait_timeout: Annotated[
        float,
        Option(
            "--wait-timeout",
            metavar="SECONDS",
            min=0,
            help="Maximum time to wait with --wait.",
        ),
    ] = WAIT_TIMEOUT_S,
    metrics: Annotated[
        list[str] | None,
        Option(
            "--metrics",
            metavar="ID=HOST:PORT",
            help="Address at which a kraftool node serves /metrics. Repeat it for more nodes.",
        ),
    ] = None,
    access: AccessOptions,
    output: RowOutput = RowFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Check whether a controller can stop without risk.

    Example: kraftool quorum may-stop 2 --wait --bootstrap-controller ctl-1:9093

    kraftool polls twice, 1.5 s apart. A node may stop if one leader stays in both polls and
    commits, and if a majority of the voters is ready without the node. A voter is ready if it
    answers, knows the leader, fetched between the two polls, and has all records that were
    committed at the first poll. If the node leads, one of these voters must run a controller.
    kraftool cannot see whether the voters reach each other, and does not check the partitions of
    brokers.

    kraftool calls each voter itself, and cannot see whether the voters can call each other. With
    --metrics it reads that from voters that kraftool node runs, started with --metrics-listen: no
    node may stop while a voter that would remain cannot call another one.

    Ask for one node at a time, and restart it before you ask for the next one: kraftool does not
    remember that it allowed a stop.

    Exits 0 if the node may stop, 1 if not, and 4 if no controller was reached. With --wait kraftool
    asks again until the node may stop. It does not wait if that is impossible, as with one or two
    voters, or if the first poll reaches no controller. Nothing is changed.
    """
    import asyncio

    from kraftool.client.stopping import StopVerdict, ask_may_stop
    from kraftool.commands.quorum_options import addresses, tell_unreached

    target = access.target_at(bootstrap_controller)
    to = printing.open()
    asking = ask_may_stop(
        target,
        node_id,
        wait_s=wait_timeout if wait else 0.0,
        waiting=lambda why: to.note(f"waiting: {why}"),
        metrics=addresses(metrics),
    )
    permission, view = asyncio.run(asking)
    if output is RowFormat.TABLE:
        from kraftool.commands.quorum_change_run import write_permission

        write_permission(to, permission)
    else:
        from kraftool.client.quorum_json import MayStopDocument

        to.document(MayStopDocument(may_stop=permission), output)
    tell_unreached(to, view)
    if permission.verdict is not StopVerdict.YES:
        to.raise_code(ExitCode.FINDING)
    to.finish()
