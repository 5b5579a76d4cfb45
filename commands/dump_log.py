"""`kraftool dump-log`: the batches and records of segments and checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraftool.commands.dump_log_options import DumpLogOptions
from kraftool.commands.options import DumpLogFormat

if TYPE_CHECKING:
    from kraftool.commands.log_run import LogRun


def dump_log(options: DumpLogOptions) -> None:
    """Show the records of metadata logs and checkpoints.

    Example: kraftool dump-log /var/lib/kafka/data --type PartitionRecord --tail 20

    Example: kraftool dump-log --bootstrap-controller ctl-1:9093 --since 1h

    With --bootstrap-controller kraftool reads the leader's log over the network, without joining
    as a replica: all of the log that the leader still has, up to the high watermark. Records that
    are not committed yet are not shown. --follow shows each record once it is committed, and
    continues when the leader changes. --snapshots adds the snapshot. Exits 4 if no node could be
    reached, and 3 if there is no leader.

    Kafka deletes old segments. If --offsets, --since or --until reach back before the log, kraftool
    reports the start of the log, and exits 3.

    dump-log does not check file names, indexes, or the order of a snapshot's control records. dump
    and verify-snapshot check them.

    Nothing is written to the log, and nothing is locked. A running Kafka is not disturbed.
    """
    from kraftool.commands.live_reading import leader_log, live_quorum, refuse_both

    files = [name for name in options.files.split(",") if name]
    named = [*options.paths, *files]
    refuse_both(named, options.quorum.bootstrap_controller)
    run = _run(options, named)
    with live_quorum(run.output, options.quorum, committed=True, with_history=True) as live:
        if live is None:
            run.run(named)
            return
        from kraftool.commands.log_entries import EntryRun
        from kraftool.commands.log_follow_live import LiveFollowing

        captured = leader_log(run.output, live)
        if isinstance(run, EntryRun) and options.follow:
            run.following = LiveFollowing(options.quorum.target(), live.now, captured.end)
        run.run([captured.location])


def _run(options: DumpLogOptions, named: list[str]) -> LogRun:
    """Return the run for these options. Whole files do not wait for what entries need."""
    from kraftool.reports.logs.source import is_reread

    by_entry = (
        options.output is DumpLogFormat.TABLE
        or bool(options.topic)
        or options.head is not None
        or options.tail is not None
        or options.follow
        or (bool(options.grep) and not all(map(is_reread, named)))
    )
    if by_entry:
        from kraftool.commands.log_entries import EntryRun

        return EntryRun(options)
    from kraftool.commands.log_run import LogRun

    return LogRun(options)
