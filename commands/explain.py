"""`kraftool explain`: a file byte by byte, each with its field, type and value.

Owns the look of annotated hex and the shape of its JSON (docs/schemas/explain.json). What the
bytes are is `reports/explain/annotation.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import (
    Color,
    Debug,
    Out,
    Quiet,
    RowFormat,
    RowOutput,
    ShowSecrets,
    TakenFor,
)
from kraftool.commands.output import ColorWhen, Output

if TYPE_CHECKING:
    from kraftool.decoders.kinds import FileKind
    from kraftool.reports.explain.annotation import ExplainRequest, Rest
    from kraftool.storage.source import ByteSource


def explain(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A log segment, checkpoint, index, quorum-state …; - reads one from stdin.",
        ),
    ],
    position: Annotated[
        int | None,
        typer.Option(
            "--position", metavar="N", min=0, help="Explain what holds this byte, and mark it."
        ),
    ] = None,
    offset: Annotated[
        int | None,
        typer.Option(
            "--offset", metavar="N", min=0, help="Explain the batch of this offset, and mark it."
        ),
    ] = None,
    batches: Annotated[
        int | None,
        typer.Option(
            "--batches",
            metavar="N",
            min=0,
            help="So many batches (1 if not given), or index entries (50); 0 for all to the end.",
        ),
    ] = None,
    kind: TakenFor = "",
    output: RowOutput = RowFormat.TABLE,
    out: Out = "",
    show_secrets: ShowSecrets = False,
    color: Color = ColorWhen.AUTO,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Show a file byte by byte, each with its field, type and value.

    Example: kraftool explain /var/lib/kafka/data/bootstrap.checkpoint

    Begins at the start of the file, or at the batch or entry that --position or --offset names.
    Damage is marked with its reason, and what can be read around it still is. Bytes that are
    secret, or may be, are not shown unless --show-secrets is given.

    Exits 3 if anything that is shown is damaged. Damage in the rest of the file does
    not count: verify-log and dump look at all of it.

    The file is only read, and nothing is ever written to it.
    """
    from kraftool.commands.explain_table import write_table
    from kraftool.reports.explain.annotation import ExplainRequest, is_log

    if position is not None and offset is not None:
        raise UsageError("--position and --offset exclude each other")
    request = ExplainRequest(
        position=position, offset=offset, units=batches, show_secrets=show_secrets
    )
    with _open(file) as source:
        size = source.size() or 0
        detected = _kind(source, kind, size)
        if offset is not None and not is_log(detected):
            raise UsageError(
                f"a file of kind {detected.value} holds no offsets to look for",
                hint="--position takes a byte position in any file",
            )
        to = Output(color=color, quiet=quiet, out=out)
        if output is RowFormat.TABLE:
            problems, rest = write_table(to, source, detected, size, request)
        else:
            problems, rest = _write_document(to, source, detected, size, request, output)
        to.flush()
        if rest is not None:
            to.note(f"{rest.size} bytes follow; go on with {_onwards(file, rest, kind)}")
        if problems:
            places = "one place is" if problems == 1 else f"{problems} places are"
            to.problem(f"{file}: {places} damaged or not known", code=ExitCode.UNREADABLE)
        to.finish()


def _open(file: str) -> ByteSource:
    from kraftool.storage.source import BytesSource, FileSource, standard_input

    if file != "-":
        return FileSource(file)

    from kraftool.reports.explain.annotation import LARGEST_WHOLE

    data = standard_input().read(LARGEST_WHOLE + 1)
    if len(data) > LARGEST_WHOLE:
        raise UsageError(
            f"stdin holds more than {LARGEST_WHOLE} bytes",
            hint="copy the file here, or send the part that matters: a log may be cut anywhere",
        )
    return BytesSource("-", data)


def _kind(source: ByteSource, word: str, size: int) -> FileKind:
    from kraftool.decoders.kinds import HEAD_SIZE, FileKind, detect

    words = [file_kind.value for file_kind in FileKind if file_kind is not FileKind.UNKNOWN]
    if word:
        if word not in words:
            raise UsageError(f"--as {word!r} is no kind of file", hint=f"one of {', '.join(words)}")
        return FileKind(word)
    name = source.name.rpartition("/")[2]
    found = detect(name, source.read_at(0, HEAD_SIZE), size).kind
    if found is FileKind.UNKNOWN:
        raise UsageError(
            f"{source.name}: neither its name nor its content tells what it is",
            hint=f"say it with --as, one of {', '.join(words)}",
        )
    return found


def _onwards(file: str, rest: Rest, kind: str) -> str:
    import shlex

    words = ["kraftool", "explain", file, "--position", str(rest.position)]
    return shlex.join([*words, "--as", kind] if kind else words)


def _write_document(
    to: Output,
    source: ByteSource,
    kind: FileKind,
    size: int,
    request: ExplainRequest,
    output: RowFormat,
) -> tuple[int, Rest | None]:
    """Write the document row by row; return how many rows have a problem, and the rest."""
    from kraftool.commands.explain_json import ExplainDocument, SeenRows
    from kraftool.reports.explain.annotation import explain

    seen = SeenRows(explain(source.name, kind, source.read_at, size, request))
    to.document(
        ExplainDocument(file=source.name, kind=kind, size=size, lines=seen, seen=seen), output
    )
    return seen.problems, seen.rest
