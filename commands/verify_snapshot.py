"""`kraftool verify-snapshot`: snapshots by themselves, against the log, and against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.options import OutputOptions, RowFormat, RowOutput
from kraftool.commands.output import Output

if TYPE_CHECKING:
    from kraftool.commands.text_flow import Flow
    from kraftool.reports.verify.snapshot_values import (
        SnapshotVerification,
        VerifiedDirectory,
        VerifiedSnapshot,
    )
    from kraftool.storage.paths import Location


def verify_snapshot(
    *,
    paths: Annotated[
        list[str],
        Argument(
            metavar="PATH",
            help="Checkpoints, data directories, __cluster_metadata-0, server.properties, tar, -.",
        ),
    ],
    against: Annotated[
        str,
        Option(
            "--against",
            metavar="DIR",
            help="Compare with the state that this directory's log produces at each offset.",
        ),
    ] = "",
    replay: Annotated[
        bool,
        Option(help="Compare a directory's snapshots with the state that its own log produces."),
    ] = True,
    output: RowOutput = RowFormat.TABLE,
    printing: OutputOptions,
) -> None:
    """Verify the form, records and state of snapshots.

    Example: kraftool verify-snapshot /var/lib/kafka/data

    Checks each batch and record of a checkpoint, its voters and feature levels, and that a
    controller can produce the state of its records. In a directory each snapshot is also compared
    with the log around it, and its state with the state that the log's records produce. Snapshots
    of one offset in several PATHs must have the same state; kraftool compares their hashes. Exits 1
    if something is wrong, and 3 if something could not be read or decoded.

    Nothing is written to the directory, and nothing is locked. A running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import set_exit_code
    from kraftool.reports.files.locations import open_paths
    from kraftool.reports.logs.processes import quicken
    from kraftool.reports.verify.snapshot import verify_snapshots
    from kraftool.storage.paths import open_path

    quicken()
    locations, unopened = open_paths(paths)
    other = open_path(against) if against else None
    to = printing.open()
    every = [*locations, *([other] if other is not None else [])]
    with _progress(to, every) as progress:
        report = verify_snapshots(
            locations,
            against=other,
            replay_logs=replay,
            progress=progress,
            unopened=unopened,
        )
    if output is RowFormat.TABLE:
        _write(to, report)
    else:
        to.document(report, output)
    set_exit_code(to, report.all_findings)
    to.finish()


@contextmanager
def _progress(to: Output, locations: Sequence[Location]) -> Iterator[Callable[[str, int], None]]:
    """A log is read twice, for what lies in it and to replay it: the bar knows the first pass."""
    from kraftool.commands.read_progress import read_progress

    furthest: dict[str, int] = {}
    with read_progress(to, locations) as progress:

        def report_position(name: str, position: int) -> None:
            if position > furthest.get(name, 0):
                furthest[name] = position
                progress(name, position)

        yield report_position


def _write(to: Output, report: SnapshotVerification) -> None:
    """The snapshots of each directory with their hashes, the findings, and the verdict."""
    from kraftool.commands.finding_view import NAME, headline, text, verdict, write_findings
    from kraftool.reports.findings.finding import in_order
    from kraftool.reports.text.words import many

    for number, directory in enumerate(report.verified):
        if number:
            to.line()
        findings = in_order(directory.all_findings)
        has_any = any(one.batches for one in directory.snapshots)
        head = headline(directory.path, findings, fine=_fine(has_any), is_complete=has_any)
        to.rich(head, unbroken=True)
        for snapshot in directory.snapshots:
            for line in _lines(directory, snapshot):
                to.rich(line)
        write_findings(to, findings, directory.path, explain=True)
    if report.findings:
        to.line()
        to.rich(text("Between the snapshots of the PATHs", NAME))
        write_findings(to, report.findings, "", explain=True)
    to.line()
    judged = [verified_snapshot for verified_snapshot in report.rows if verified_snapshot.batches]
    counts = [
        many(len(judged), "snapshot"),
        many(sum(verified_snapshot.batches for verified_snapshot in judged), "batch"),
        many(sum(verified_snapshot.records for verified_snapshot in judged), "record"),
    ]
    compared = sum(1 for verified_snapshot in judged if verified_snapshot.compared_with)
    checked = f"{', '.join(counts)} checked, {compared} compared with a log"
    fine, findings = _fine(bool(judged)), report.all_findings
    to.rich(verdict(checked, findings, fine=fine, is_complete=bool(judged)))


def _fine(is_complete: bool) -> str:
    return "verified" if is_complete else "no snapshot to verify"


def _lines(of: VerifiedDirectory, snapshot: VerifiedSnapshot) -> Iterator[Flow]:
    """A snapshot's name and content, and the hash of its state below it."""
    from rich.text import Text

    from kraftool.commands.finding_view import QUIET, text
    from kraftool.commands.text_flow import Flow
    from kraftool.decoders.names import FileState
    from kraftool.image.metadata_version import level_name
    from kraftool.reports.text.words import ids, many, size

    left = {FileState.PART: "never finished", FileState.DELETED: "waiting for deletion"}
    name = snapshot.file
    if name.startswith(of.path.rstrip("/") + "/"):
        name = name[len(of.path.rstrip("/")) + 1 :]
    details = [size(snapshot.size)]
    if snapshot.state is not FileState.LIVE:
        details.append(left.get(snapshot.state, snapshot.state.value))
    if snapshot.batches:
        details.append(many(snapshot.records, "record"))
    if snapshot.metadata_version is not None:
        level = snapshot.metadata_version
        details.append(f"metadata.version {level_name(level) or level}")
    if snapshot.controls.kraft_version and snapshot.controls.voters is not None:
        voters = [voter["voterId"] for voter in snapshot.controls.voters["voters"]]
        details.append(f"voters {ids(sorted(voters))}")
    if snapshot.compared_with:
        details.append(f"compared with {', '.join(snapshot.compared_with)}")
    body = Text().append_text(text(f"{name}  ")).append_text(text(", ".join(details), QUIET))
    yield Flow(body, lead="  ", again="    ")
    if snapshot.state_hash and snapshot.offset:
        yield Flow(text(f"state {snapshot.state_hash}", QUIET), lead="    ")
