"""`kraftool quorum health`: whether a live quorum is well, and what is wrong if not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.finding_options import (
    IgnoredCodes,
    MuteFile,
    ShowMuted,
    finding_filter,
    set_exit_code,
)
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


def health(
    *,
    bootstrap_controller: Bootstrap,
    quorum_only: Annotated[
        bool,
        Option(
            "--quorum-only", help="Leave out brokers and partitions, and do not read the metadata."
        ),
    ] = False,
    expect_voters: Annotated[
        str,
        Option(
            "--expect-voters",
            metavar="ID,…",
            help="Ids that the voters should have. Others are a warning.",
        ),
    ] = "",
    ignore: IgnoredCodes = None,
    mute: MuteFile = "",
    show_muted: ShowMuted = False,
    wait: Annotated[
        float,
        Option(
            "--wait",
            metavar="SECONDS",
            min=0,
            help="Maximum time to wait until the quorum is healthy.",
        ),
    ] = 0.0,
    access: AccessOptions,
    output: RowOutput = RowFormat.TABLE,
    tz: TimeZone = "UTC",
    printing: OutputOptions,
) -> None:
    """Check whether a live quorum is healthy.

    Example: kraftool quorum health --bootstrap-controller ctl-1:9093

    kraftool polls twice, a moment apart. It checks that all nodes know one leader, that the leader
    runs a controller, and that the quorum can lose a voter. It checks that the high watermark
    moves, that replicas are less than 1000 records and 5 s behind, and that every node supports the
    feature levels. If the leader wrote records between the polls and committed none, kraftool polls
    for about 5 s more before it reports this. Meanwhile it reads the leader's committed metadata,
    without joining as a replica: fenced brokers, partitions that are offline or under
    min.insync.replicas, and the other problems that doctor finds in a state. Without a leader it
    reports what is known and what is not. kraftool doctor --explain CODE explains each finding.

    For a monitor, --ignore leaves out findings, --mute does so until a date, and --expect-voters
    adds one if the voters are not these. With --wait kraftool asks again until the quorum is
    healthy.

    Exits 1 if there is a warning or an error, and 4 if no node could be reached. Nothing is
    changed.
    """
    import asyncio

    from kraftool.client.checking import check_until
    from kraftool.client.expectations import expecting
    from kraftool.commands.quorum_options import tell_unreached
    from kraftool.commands.times import time_zone

    zone = time_zone(tz)
    voters, left_out = ids_of(expect_voters), finding_filter(ignore, mute)
    target = access.target_at(bootstrap_controller)
    to = printing.open()
    with to.task_progress("the committed metadata") as progress:
        health_report = asyncio.run(
            check_until(
                target,
                lambda report: expecting(report, voters, left_out),
                wait,
                lambda why: to.note(f"waiting: {why}"),
                with_metadata=not quorum_only,
                progress=progress,
            )
        )
    shown: tuple[NodeAnswer, ...] = ()
    if output is RowFormat.TABLE:
        from kraftool.commands.quorum_view import write_health

        write_health(to, health_report, zone, show_muted=show_muted)
        shown = health_report.view.asked
    else:
        from kraftool.client.quorum_json import health_document

        to.document(health_document(health_report), output)
    tell_unreached(to, health_report.view, shown=shown)
    set_exit_code(to, health_report.findings)
    to.finish()


def ids_of(given: str) -> tuple[int, ...]:
    """Return the ids of --expect-voters."""
    words = [word.strip() for word in given.split(",")] if given else []
    if not all(word.isascii() and word.isdigit() for word in words):
        raise UsageError(f"--expect-voters {given} is not a list of ids", hint="such as 1,2,3")
    return tuple(map(int, words))
