"""A dump for people: the summary that answers at a glance, findings, and the tables below it.

Owns layout and colour; words are `reports/text/words.py`'s, tables of single files
`dump_file_view.py`'s. Everything that comes from data goes through `printable` into Text, which
knows no markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import tzinfo

from rich.table import Table
from rich.text import Text

from kraftool.commands.block_view import LabelledRows, plain_table, type_table
from kraftool.commands.dump_file_view import write_file
from kraftool.commands.finding_view import (
    BAD,
    MOST_ALIKE,
    NAME,
    QUIET,
    SEVERITY_STYLES,
    WARN,
    headline,
    text,
    write_commands,
    write_findings,
)
from kraftool.commands.output import Output
from kraftool.commands.times import iso
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import FileState, parse_checkpoint_name
from kraftool.decoders.quorum_state import QuorumState
from kraftool.directory.metadata_summary import (
    MetadataSummary,
    NodeIds,
    SeenVoters,
    SnapshotSummary,
    VoterSource,
)
from kraftool.directory.node_directory import NodeDirectory
from kraftool.image.metadata_version import METADATA_VERSION
from kraftool.raft.endpoints import shown_endpoints
from kraftool.raft.names import Voter
from kraftool.reports.directory.report import DumpReport
from kraftool.reports.files.file_words import folder_counts, holds
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import KINDS
from kraftool.reports.text import shell_text
from kraftool.reports.text.words import ids, many, size, transactions
from kraftool.reports.voters.judged_directory import JudgedDirectory

_ROOM_FOR_CONTENT = 38
"""Columns beside a file's name for its size and what it holds."""
_NO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"


def write_report(
    output: Output, report: DumpReport, zone: tzinfo, *, verbose: bool = False
) -> None:
    """Write a whole dump."""
    first = True
    for directory in report.directories:
        if not first:
            output.line()
        first = False
        doctor = shell_text.line("kraftool", "doctor", report.path)
        _write_directory(output, directory, zone, doctor, verbose=verbose)
    if report.findings and report.directories:
        output.line()
        output.rich(Text("Of the PATH as a whole", style=NAME))
    for file in report.files:
        if not first:
            output.line()
        first = False
        write_file(output, file, zone)
    write_findings(output, report.findings, "", most_alike=None if verbose else MOST_ALIKE)


def _write_directory(
    output: Output, judged: JudgedDirectory, zone: tzinfo, doctor: str, *, verbose: bool
) -> None:
    report = judged.directory
    node_id = report.summary.node.node_id
    output.rich(
        headline(
            report.path,
            judged.findings,
            name=f"node {node_id}" if node_id is not None else "",
            fine=_what_was_read(judged),
            is_judged=False,
        )
    )
    hint = Text("  → ", style=QUIET).append("doctor judges what is in them:", style=QUIET)
    output.rich(hint)
    write_commands(output, (doctor,))
    rows = LabelledRows(output.width)
    _identity(rows, report)
    _leadership(rows, report, zone)
    _versions(rows, report.summary)
    _range(rows, report.summary, zone)
    _rest(rows, report)
    output.rich(rows.table)
    write_findings(
        output,
        judged.findings,
        report.path,
        with_notes=verbose,
        most_alike=None if verbose else MOST_ALIKE,
    )
    if len(report.summary.snapshots) > 0:
        output.line()
        output.rich(_snapshots(report.summary.snapshots, zone, output.width))
    if report.summary.record_types:
        output.line()
        output.rich(type_table("Records of the log", report.summary.record_types, output.width))
    if report.files:
        output.line()
        output.rich(_files(judged, output.width))


def _what_was_read(judged: JudgedDirectory) -> str:
    """Say how many files can be read. A dump decodes them; doctor judges what is in them."""
    files_read = judged.directory.files
    unknown = sum(file.kind is FileKind.UNKNOWN for file in files_read)
    files = many(len(files_read) - unknown, "file")
    is_whole = not any(
        KINDS[finding.code].undecoded for finding in judged.findings if finding.code in KINDS
    )
    words = f"{files} readable" if is_whole else f"{files}, not all readable"
    return f"{words}, {many(unknown, 'file')} of no known kind" if unknown else words


def _identity(rows: LabelledRows, report: NodeDirectory) -> None:
    summary, node = report.summary, report.summary.node
    if node.node_id is not None:
        directory = node.directory_id
        rows.add(
            "node",
            text(node.node_id, NAME),
            _role(summary),
            Text(", directory " if directory else ""),
            text(directory or ""),
        )
    if node.cluster_id is not None:
        rows.add("cluster", text(node.cluster_id, NAME))
    if report.is_running:
        rows.add("lock", Text(f"held: {report.lock.holder} runs here", style=WARN))


def _role(summary: MetadataSummary) -> Text:
    node, voters = summary.node, summary.voter_set
    if voters is None or node.node_id is None:
        return Text()
    voter = voters.of(node.node_id)
    if voter is None:
        return Text(", not a voter")
    if _is_stale(voter, node):
        return Text(", not a voter: its directory id is another", style=BAD)
    return Text(", a voter")


def _is_stale(voter: Voter, node: NodeIds) -> bool:
    """True if the voters know this node by another directory id."""
    return None not in (voter.directory_id, node.directory_id) and (
        voter.directory_id != node.directory_id
    )


def _leadership(rows: LabelledRows, report: NodeDirectory, zone: tzinfo) -> None:
    summary = report.summary
    state, change = summary.quorum_state, summary.leader_change
    if state is not None:
        rows.add("quorum-state", *_election(state))
    elif any(file.kind is FileKind.QUORUM_STATE and file.is_live for file in report.files):
        rows.add("quorum-state", Text("unreadable", style=BAD))
    if change is not None:
        rows.add(
            "last leader",
            text(change.leader_id, NAME),
            f" in epoch {change.epoch}, from offset {change.offset}, {iso(change.timestamp, zone)}",
            f", granted by {ids(change.granting_voters)}" if change.granting_voters else "",
        )
    if summary.voter_set is not None:
        _voters(rows, summary, summary.voter_set)


def _election(state: QuorumState) -> Iterable[str | Text]:
    yield "epoch "
    yield text(state.leader_epoch, NAME)
    yield ", leader " if state.leader_id >= 0 else ", no leader known"
    if state.leader_id >= 0:
        yield text(state.leader_id, NAME)
    if state.voted_id >= 0:
        yield f", voted for {state.voted_id}"
        if state.voted_directory_id != _NO_UUID:
            yield f" ({state.voted_directory_id})"


def _voters(rows: LabelledRows, summary: MetadataSummary, voters: SeenVoters) -> None:
    words = f"{len(voters.voters)}, "
    if voters.source is VoterSource.RECORD:
        snapshot = parse_checkpoint_name(voters.file.rpartition("/")[2])
        where = f"at offset {voters.offset}"
        if snapshot is not None:
            where = f"in the snapshot at offset {snapshot.offset} epoch {snapshot.epoch}"
        words += f"by the KRaftVoters record {where}"
    elif voters.source is VoterSource.QUORUM_STATE:
        words += "by currentVoters, which Kafka never reads"
    elif voters.source is VoterSource.LEADER_CHANGE:
        words += f"by the LeaderChange at offset {voters.offset}"
    else:
        words += f"by {voters.source.value}"
    rows.add("voters", words)
    leader = summary.quorum_state.leader_id if summary.quorum_state is not None else None
    for voter in sorted(voters.voters, key=lambda voter: voter.id):
        mine = voter.id == summary.node.node_id
        stale = mine and _is_stale(voter, summary.node)
        line = text(f"{voter.id:>3}", NAME if mine else "")
        if voter.directory_id is not None:
            line.append_text(text(f"  {voter.directory_id}", BAD if stale else ""))
        endpoints = "  ".join(shown_endpoints(voter.endpoints))
        if endpoints:
            narrow = len(line) + 2 + len(endpoints) > rows.room
            line.append("\n     " if narrow else "  ").append_text(text(endpoints))
        marks = [word for word, on in (("this node", mine), ("leader", voter.id == leader)) if on]
        if marks:
            last = len(line.plain.rpartition("\n")[2])
            line.append("\n     " if last + 2 + len(", ".join(marks)) > rows.room else "  ")
            line.append(", ".join(marks), style=NAME)
        rows.add("", line)


def _versions(rows: LabelledRows, summary: MetadataSummary) -> None:
    version = summary.finalized_kraft_version
    if summary.voter_set is not None or version.file:
        static = "" if version.level else " (static voters)"
        rows.add("kraft.version", text(version.level, NAME), static)
    metadata = summary.feature(METADATA_VERSION)
    if metadata is not None:
        release = f" ({metadata.release or 'of a newer Kafka'})"
        rows.add(METADATA_VERSION, text(metadata.level, NAME), release)
    others = [feature for feature in summary.features if feature.name != METADATA_VERSION]
    if others:
        rows.add("features", text(", ".join(f"{other.name} {other.level}" for other in others)))


def _range(rows: LabelledRows, summary: MetadataSummary, zone: tzinfo) -> None:
    log = summary.log
    if log is not None:
        rows.add(
            "log",
            "offsets ",
            text(f"{log.start} to {max(log.end - 1, log.start)}", NAME),
            f" (end offset {log.end}), {_epochs(log.first_epoch, log.last_epoch)}"
            if log.first_epoch is not None
            else ", empty",
        )
        rows.add(
            "",
            f"{many(log.records, 'record')} in {many(log.batches, 'batch')},"
            f" {many(log.segments, 'segment')}, {size(log.size)}",
        )
        if log.first_timestamp is not None and log.last_timestamp is not None:
            rows.add("", f"{iso(log.first_timestamp, zone)} to {iso(log.last_timestamp, zone)}")
        if log.intact_end < log.end:
            rows.add("", Text(f"intact up to offset {log.intact_end} only", style=BAD))
    live = [snapshot for snapshot in summary.snapshots if snapshot.state is FileState.LIVE]
    newest = summary.newest_snapshot
    if newest is not None:
        upto = f", up to {iso(newest.timestamp, zone)}" if newest.timestamp is not None else ""
        rows.add(
            "snapshots",
            f"{len(live)}, newest at offset ",
            text(newest.offset, NAME),
            f" epoch {newest.epoch}, {_records(newest)}{upto}",
        )


def _records(snapshot: SnapshotSummary) -> str:
    """The number of records; of a damaged snapshot only those that were read."""
    if not snapshot.intact and not snapshot.records:
        return "no record could be read"
    return many(snapshot.records, "record")


def _epochs(first: int | None, last: int | None) -> str:
    return f"epoch {first}" if first == last else f"epochs {first} to {last}"


def _rest(rows: LabelledRows, report: NodeDirectory) -> None:
    summary = report.summary
    registered = [
        f"{noun if len(node_ids) == 1 else f'{noun}s'} {ids(node_ids)}"
        for noun, node_ids in (("broker", summary.brokers), ("controller", summary.controllers))
        if node_ids
    ]
    if registered:
        rows.add("registered", "; ".join(registered))
    counts = summary.transactions
    if transaction_text := transactions(counts.committed, counts.aborted, counts.open_offset):
        rows.add("transactions", transaction_text)
    if report.folders.total:
        rows.add("folders", folder_counts(report.folders))


def _snapshots(snapshots: Sequence[SnapshotSummary], zone: tzinfo, width: int) -> Table:
    table = plain_table(
        "Snapshots", "offset", "epoch", "size", "records", "up to", "state",
        right=("offset", "epoch", "size", "records"),
    )  # fmt: skip
    for snapshot in snapshots:
        upto = iso(snapshot.timestamp, zone) if snapshot.timestamp is not None else "?"
        table.add_row(
            text(snapshot.offset),
            text(snapshot.epoch),
            size(snapshot.size),
            text(snapshot.records),
            upto if width >= 72 else upto.partition(".")[0],
            _snapshot_state(snapshot),
        )
    return table


def _snapshot_state(snapshot: SnapshotSummary) -> Text:
    if snapshot.state is FileState.PART:
        return Text("unfinished", style=QUIET)
    words = "whole" if snapshot.intact else "damaged"
    if not snapshot.intact and not snapshot.has_footer:
        words = "no footer"
    if snapshot.state is FileState.DELETED:
        return Text(f"deleted, {words}", style=QUIET)
    return Text(words, style="" if snapshot.intact else BAD)


def _files(judged: JudgedDirectory, width: int) -> Table:
    """One line a file; on a narrow terminal what it holds goes below its name."""
    report = judged.directory
    longest = max((len(file.basename) for file in report.files), default=0)
    wide, narrow = width >= 100, width < max(78, longest + _ROOM_FOR_CONTENT)
    columns = ["file", *(["kind"] if wide else []), "size", *([] if narrow else ["holds"])]
    table = plain_table("Files", *columns, right=("size",))
    worst: dict[str, Severity] = {}
    for finding in judged.findings:
        worst.setdefault(finding.file, finding.severity)
    place = ""
    for file in report.files:
        folder = file.path.rpartition("/")[0]
        if folder != place:
            place = folder
            table.add_row(text(f"{folder}/", QUIET), *[""] * (len(columns) - 1))
        style = SEVERITY_STYLES[worst[file.file]] if file.file in worst else ""
        indent = "  " if folder else ""
        name = text(f"{indent}{file.basename}", style)
        kind = [text(file.kind.value, QUIET)] if wide else []
        held = text(holds(file, report.lock.state), QUIET if file.kind is FileKind.UNKNOWN else "")
        if narrow:
            table.add_row(name.append(f"\n{indent}    ").append_text(held), size(file.size))
        else:
            table.add_row(name, *kind, size(file.size), held)
    return table
