"""`kraftool diff-state`: what differs between two states of the metadata, field by field."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import OUTPUT, Color, Debug, Out, Quiet, ShowSecrets
from kraftool.commands.output import ColorWhen, Output
from kraftool.commands.parameter_marks import Argument, Option

if TYPE_CHECKING:
    from kraftool.reports.state.compare import Offsets


class DiffFormat(StrEnum):
    """Output formats of diff-state."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


def diff_state(
    path: Annotated[
        str,
        Argument(
            metavar="A", help="Data directory, __cluster_metadata-0, checkpoint, segment, tar or -."
        ),
    ],
    other: Annotated[
        str, Argument(metavar="B", help="The same for another node (default: A again).")
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
    output: Annotated[DiffFormat, OUTPUT] = DiffFormat.TABLE,
    show_secrets: ShowSecrets = False,
    out: Out = "",
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare the metadata of two directories or two offsets.

    Example: kraftool diff-state /backup/data /var/lib/kafka/data

    Nodes never stop at the same offset, so kraftool compares two directories at the highest offset
    that both have. --at names another offset. --at-end compares each directory at its own end: with
    a copy of yesterday and the directory of today, it shows what changed since.
    For one directory, --at 100 --to 200 shows what the records 100 to 199 changed. Without --to it
    shows all changes from 100 on. Topics are compared by id: a topic that was deleted and created
    again is two topics. Secrets are compared, but shown masked. Exits 0 if nothing differs, and 1
    if something does.

    Nothing is written or locked. A running Kafka is not disturbed.
    """
    from kraftool.commands.finding_options import settle
    from kraftool.commands.read_progress import read_progress
    from kraftool.reports.logs.processes import quicken
    from kraftool.reports.state import diff_json
    from kraftool.reports.state.compare import load_two
    from kraftool.reports.state.diff import DiffOptions, changes
    from kraftool.storage.paths import open_path

    ignored = _ignored(ignore)
    if path == other == "-":
        raise UsageError("stdin can be read only once", hint="name - once")
    if not other and at is None and to_offset is None:
        raise UsageError(
            "there is nothing to compare one PATH with",
            hint="name a second PATH, or use --at OFFSET to see what changed since then",
        )
    if at_end and (not other or at is not None or to_offset is not None):
        raise UsageError("--at-end requires two PATHs, without --at and --to", hint="leave one out")
    quicken()
    offsets = _offsets(at, to_offset, two=bool(other), at_end=at_end)
    locations = [open_path(each) for each in (path, other) if each]
    to = Output(color=color, quiet=quiet, out=out)
    with read_progress(to, locations) as progress:
        both = load_two(path, other or None, offsets, progress)
    options = DiffOptions(ignored=ignored, show_secrets=show_secrets)
    differing = changes(both.old.image, both.new.image, options)
    counts = diff_json.Counts()
    if output is DiffFormat.TABLE:
        from kraftool.commands.diff_state_view import write_diff

        write_diff(to, both, differing, counts, limit)
    else:
        if output is DiffFormat.JSON:
            to.document(diff_json.diff_state_document(both, differing, ignored, counts))
        else:
            for line in diff_json.lines(both, differing, ignored, counts):
                to.write(line)
    if counts.by_kind:
        to.raise_code(ExitCode.FINDING)
    settle(to, both.findings)
    to.finish()


def _offsets(at: int | None, to: int | None, *, two: bool, at_end: bool) -> Offsets:
    from kraftool.reports.state.compare import Offsets

    if two and to is None:
        return Offsets(old=at, new=at, at_end=at_end)
    return Offsets(old=0 if at is None and not two else at, new=to, at_end=at_end)


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
