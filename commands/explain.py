"""`kraftool explain`: a file byte by byte, each with its field, type and value.

Owns the look of annotated hex and the shape of its JSON (docs/schemas/explain.json). What the
bytes are is `reports/annotation.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kraftool.commands.options import (
    Color,
    Debug,
    Out,
    PlainFormat,
    PlainOutput,
    Quiet,
    ShowSecrets,
    TakenFor,
)
from kraftool.commands.output import ColorWhen, ExitCode, Output, UsageError

if TYPE_CHECKING:
    from kraftool.decoders.kinds import FileKind
    from kraftool.reports.annotation import ExplainRequest, Rest
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
    output: PlainOutput = PlainFormat.TABLE,
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

    The file is only read, and nothing is ever written to it.
    """
    from kraftool.commands.explain_table import write_table
    from kraftool.reports.annotation import ExplainRequest, is_log

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
        write = write_table if output is PlainFormat.TABLE else _write_json
        problems, rest = write(to, source, detected, size, request)
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

    from kraftool.reports.annotation import LARGEST_WHOLE

    data = standard_input().read(LARGEST_WHOLE + 1)
    if len(data) > LARGEST_WHOLE:
        raise UsageError(
            f"stdin holds more than {LARGEST_WHOLE} bytes",
            hint="copy the file here, or send the part that matters: a log may be cut anywhere",
        )
    return BytesSource("-", data)


def _kind(source: ByteSource, word: str, size: int) -> FileKind:
    from kraftool.decoders.kinds import HEAD_SIZE, FileKind, detect

    words = [each.value for each in FileKind if each is not FileKind.UNKNOWN]
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


def _write_json(
    to: Output, source: ByteSource, kind: FileKind, size: int, request: ExplainRequest
) -> tuple[int, Rest | None]:
    """Write the JSON document row by row; return how many rows have a problem, and the rest."""
    import orjson

    from kraftool.commands.explain_table import row_object
    from kraftool.reports.annotation import Rest, explain

    rows = explain(source.name, kind, source.read_at, size, request)
    first = next(rows, None)
    head = {
        "schemaVersion": 1,
        "file": source.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        "kind": kind.value,
        "size": size,
    }
    to.write(orjson.dumps(head)[:-1] + b',"rows":[')
    problems, rest, separator = 0, None, b"\n"
    while first is not None:
        if isinstance(first, Rest):
            rest = first
            break
        problems += bool(first.problem)
        to.write(separator + orjson.dumps(row_object(first)))
        separator, first = b",\n", next(rows, None)
    following = {"position": rest.position, "size": rest.size} if rest is not None else None
    to.write(b'\n],"next":' + orjson.dumps(following) + b"}\n")
    return problems, rest
