"""`kraftool quorum describe`: who leads, who votes, how far everyone is, by every node's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.options import (
    OutputOptions,
    RowFormat,
    RowOutput,
    TimeZone,
)
from kraftool.commands.quorum_options import (
    AccessOptions,
    Bootstrap,
)

if TYPE_CHECKING:
    from kraftool.client.model import NodeAnswer


def describe(
    *,
    bootstrap_controller: Bootstrap,
    status: Annotated[
        bool,
        Option("--status", help="Print what kafka-metadata-quorum describe --status prints."),
    ] = False,
    replication: Annotated[
        bool,
        Option(
            "--replication", help="Print what kafka-metadata-quorum describe --replication prints."
        ),
    ] = False,
    human_readable: Annotated[
        bool, Option("--human-readable", help="With --replication: show times as time ago.")
    ] = False,
    access: AccessOptions,
    output: RowOutput = RowFormat.TABLE,
    tz: TimeZone = "UTC",
    printing: OutputOptions,
) -> None:
    """Describe a live quorum as each controller reports it.

    Example: kraftool quorum describe --bootstrap-controller ctl-1:9093

    The leader reports voters, observers and how far each of them is. Every other controller reports
    the leader and epoch that it knows, and the feature levels that it has applied, even without a
    leader. The second line says how many voters can be lost, judged as quorum health does, by one
    poll. --status and --replication print what kafka-metadata-quorum prints.

    A voter that runs no controller, such as a kraftool node, is shown as a witness. While one
    leads, topics cannot be created, and brokers that start exit.

    Exits 1 if no node leads, if the leader has committed nothing in its epoch or runs no
    controller, or if nodes disagree; 4 if no node could be reached. Nothing is changed. The quorum
    does not see kraftool as an observer.
    """
    import asyncio
    import time

    from kraftool.commands.quorum_options import tell_reach
    from kraftool.commands.times import time_zone

    if status and replication:
        raise UsageError(
            "--status and --replication cannot be used together", hint="name one of them"
        )
    if human_readable and not replication:
        raise UsageError("--human-readable requires --replication")
    if (status or replication) and output is not RowFormat.TABLE:
        raise UsageError("-o json already has both", hint="leave --status and --replication out")
    zone = time_zone(tz)
    target = access.target_at(bootstrap_controller)
    to = printing.open()
    view = asyncio.run(target.survey())
    shown: tuple[NodeAnswer, ...] = ()
    if output is not RowFormat.TABLE:
        from kraftool.client.quorum_json import describe_document

        to.document(describe_document(view), output)
    elif status or replication:
        from kraftool.client.active_controller import without_controller
        from kraftool.client.kafka_text import replication_text, status_text

        if view.quorum is None:
            to.note("no node leads, so the values that only a leader knows are left out")
        elif view.lacks_controller:
            to.note(without_controller(view))
        if status:
            to.write(status_text(view))
        else:
            to.write(replication_text(view, int(time.time() * 1000) if human_readable else None))
    else:
        from kraftool.commands.quorum_view import write_quorum

        write_quorum(to, view, zone)
        shown = view.asked
    tell_reach(to, view, shown=shown)
    to.finish()
