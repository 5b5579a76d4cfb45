"""`kraftool quorum ready`: one node, for startup and readiness probes."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from kraftool.commands.exit_code import ExitCode
from kraftool.commands.options import OutputOptions, RowFormat, RowOutput
from kraftool.commands.quorum_options import (
    AccessOptions,
    Bootstrap,
)


def ready(
    *,
    bootstrap_controller: Bootstrap,
    node: Annotated[
        int | None,
        Option(
            "--node",
            metavar="ID",
            min=0,
            help="node.id of the node (default: the node at the first address).",
        ),
    ] = None,
    access: AccessOptions,
    output: RowOutput = RowFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Check whether a controller takes part in its quorum.

    Example: kraftool quorum ready --node 2 --bootstrap-controller ctl-2:9093

    kraftool polls twice, 1.5 s apart. A node is ready if it answers and knows the leader, if the
    leader sees it fetch with the directory id that it knows, if it has what was committed at the
    first poll, and if it is registered as a controller. The high watermark must move, unless
    nothing waits for a commit.

    Use it for startup and readiness probes. Do not use it for liveness: a restart brings back no
    leader, and it takes a voter away while the quorum needs every one.

    Exits 0 if the node is ready, and 1 if not. Nothing is changed.
    """
    import asyncio

    from kraftool.client.readiness import ask_ready

    target = access.target_at(bootstrap_controller)
    to = printing.open()
    readiness = asyncio.run(ask_ready(target, node))
    if output is RowFormat.TABLE:
        from kraftool.commands.quorum_change_run import write_readiness

        write_readiness(to, readiness)
    else:
        from kraftool.client.quorum_json import ReadyDocument

        to.document(ReadyDocument(ready=readiness), output)
    if not readiness.is_ready:
        to.raise_code(ExitCode.FINDING)
    to.finish()
