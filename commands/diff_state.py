"""`kraftool diff-state`: what differs between two states of the metadata, field by field."""

from __future__ import annotations

from contextlib import ExitStack
from enum import StrEnum
from typing import Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import OUTPUT, OutputOptions, ShowSecrets
from kraftool.commands.quorum_options import (
    LiveOptions,
)


class DiffFormat(StrEnum):
    """Output formats of diff-state."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"


def diff_state(
    *,
    path: Annotated[
        str,
        Argument(
            metavar="A", help="Data directory, __cluster_metadata-0, checkpoint, segment, tar or -."
        ),
    ] = "",
    other: Annotated[
        str, Argument(metavar="B", help="Second side, in the same forms (default: A).")
    ] = "",
    at: Annotated[
        int | None,
        Option(
            "--at",
            metavar="OFFSET",
            min=0,
            help="State of A before this offset. It also applies to B unless --to is given.",
        ),
    ] = None,
    at_time: Annotated[
        str,
        Option(
            "--at-time",
            metavar="TIME",
            help="State of A at this time: ISO-8601, epoch ms, or 24h for 24 hours ago.",
        ),
    ] = "",
    to_offset: Annotated[
        int | None,
        Option(
            "--to", metavar="OFFSET", min=0, help="State of B (or of A later) before this offset."
        ),
    ] = None,
    at_end: Annotated[
        bool,
        Option(
            "--at-end", help="Compare each directory at its own end, not at the last common offset."
        ),
    ] = False,
    ignore: Annotated[
        str,
        Option(
            "--ignore",
            metavar="FIELD,…",
            help="Fields to leave out, separated by commas: leaderEpoch,partitionEpoch.",
        ),
    ] = "",
    limit: Annotated[
        int,
        Option(
            "--limit",
            metavar="N",
            min=0,
            help="Maximum number of lines of each kind in the table. 0 shows all.",
        ),
    ] = 50,
    quorum: LiveOptions,
    output: Annotated[DiffFormat, OUTPUT] = DiffFormat.TABLE,
    show_secrets: ShowSecrets = False,
    printing: OutputOptions,
) -> None:
    """Compare the metadata of two directories or two offsets.

    Example: kraftool diff-state /backup/data /var/lib/kafka/data

    Example: kraftool diff-state /backup/data --bootstrap-controller ctl-1:9093

    Example: kraftool diff-state --bootstrap-controller ctl-1:9093 --at-time 24h

    Nodes never stop at the same offset, so kraftool compares two directories at the highest offset
    that both have. --at names another offset. --at-end compares each directory at its own end: with
    a copy of yesterday and the directory of today, it shows what changed since.
    For one directory, --at 100 --to 200 shows what the records 100 to 199 changed. Without --to
    it shows all changes from 100 on. --at-time 24h shows all changes of the last 24 hours.
    kraftool compares topics by id: a topic that was deleted and created again is two topics. It
    compares secrets too, but shows them masked. Exits 0 if nothing differs, and 1 if something
    does.

    If both states are of one log, each change has the time and the offset of its last record. The
    newer side must still have all records after the older state.

    With --bootstrap-controller, B is the leader. Without a PATH, A is the leader. kraftool reads
    the leader's log over the network, without joining as a replica, up to the high watermark. It
    compares each side at its own end, not at the last common offset. Exits 4 if no node could be
    reached, and 3 if there is no leader.

    Nothing is written or locked. A running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.commands.live_reading import leader_log, live_quorum, refuse_nothing
    from kraftool.commands.read_progress import read_progress
    from kraftool.commands.times import parse_time
    from kraftool.reports.logs.processes import quicken
    from kraftool.reports.state import diff_json
    from kraftool.reports.state.change_times import dated
    from kraftool.reports.state.compare import Offsets, last_changes, load_two
    from kraftool.reports.state.diff import DiffOptions, changes
    from kraftool.storage.paths import open_path

    ignored = _ignored(ignore)
    moment = parse_time(at_time, "--at-time")
    if other and quorum.bootstrap_controller:
        raise UsageError(
            "--bootstrap-controller takes at most one PATH", hint="leave out one of the PATHs"
        )
    refuse_nothing([path] if path else [], quorum.bootstrap_controller, "PATH")
    if at is not None and moment is not None:
        raise UsageError("--at and --at-time contradict each other", hint="use one of them")
    is_single = not (path and (other or quorum.bootstrap_controller))
    if path == other == "-":
        raise UsageError("stdin can be read only once", hint="name - once")
    is_ranged = at is not None or to_offset is not None or moment is not None
    if is_single and not is_ranged:
        raise UsageError(
            f"{'one PATH' if path else 'the leader'} has only one state to compare",
            hint="name a second PATH, or use --at OFFSET or --at-time 24h to see what changed since"
            " then",
        )
    if at_end and (is_single or is_ranged):
        raise UsageError(
            "--at-end requires two PATHs, without --at, --at-time and --to", hint="leave one out"
        )
    quicken()
    offsets = Offsets(
        old=0 if at is None and moment is None and is_single else at,
        new=at if to_offset is None and not is_single else to_offset,
        old_time=moment,
        at_end=at_end or bool(quorum.bootstrap_controller),
    )
    to = printing.open()
    with ExitStack() as stack:
        live = stack.enter_context(live_quorum(to, quorum, committed=True, with_history=True))
        locations = [open_path(given_path) for given_path in (path, other) if given_path]
        if live is not None:
            locations.append(leader_log(to, live).location)
        progress = stack.enter_context(read_progress(to, locations))
        both = load_two(locations[0], None if is_single else locations[1], offsets, progress)
        times = last_changes(both)
    options = DiffOptions(ignored=ignored, show_secrets=show_secrets)
    differing = dated(changes(both.old.image, both.new.image, options), times)
    counts = diff_json.Counts()
    if output is DiffFormat.TABLE:
        from kraftool.commands.diff_state_view import write_diff

        write_diff(to, both, differing, counts, limit)
    else:
        if output is not DiffFormat.JSONL:
            document = diff_json.diff_state_document(both, differing, ignored, counts)
            to.document(document, output)
        else:
            for line in diff_json.lines(both, differing, ignored, counts):
                to.write(line)
    if counts.by_kind:
        to.raise_code(ExitCode.FINDING)
    set_exit_code(to, both.findings)
    to.finish()


def _ignored(words: str) -> frozenset[str]:
    from kraftool.reports.state.diff import IGNORABLE

    fields = [word.strip() for word in words.split(",") if word.strip()]
    for field in fields:
        if field not in IGNORABLE:
            raise UsageError(
                f"--ignore {field!r} is not a field that can be left out",
                hint=f"one of {', '.join(IGNORABLE)}",
            )
    return frozenset(fields)
