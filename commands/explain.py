"""`kraftool explain`: a file byte by byte, each with its field, type and value.

Owns the look of annotated hex and the shape of its JSON (docs/schemas/explain.json). What the
bytes are is `reports/explain/annotation.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import (
    Out,
    RowFormat,
    RowOutput,
    ScreenOptions,
    ShowSecrets,
    TakenFor,
)

if TYPE_CHECKING:
    from kraftool.decoders.kinds import FileKind
    from kraftool.reports.explain.annotation import Rest
    from kraftool.storage.source import ByteSource


def explain(
    *,
    file: Annotated[
        str,
        Argument(
            metavar="FILE",
            help="A log segment, checkpoint, index, quorum-state …; - reads one from stdin.",
        ),
    ],
    position: Annotated[
        int | None,
        Option(
            "--position",
            metavar="N",
            min=0,
            help="Explain the part that contains this byte, and mark it.",
        ),
    ] = None,
    offset: Annotated[
        int | None,
        Option(
            "--offset", metavar="N", min=0, help="Explain the batch with this offset, and mark it."
        ),
    ] = None,
    batches: Annotated[
        int | None,
        Option(
            "--batches",
            metavar="N",
            min=0,
            help="Number of batches (default 1) or index entries (default 50). 0 shows all.",
        ),
    ] = None,
    kind: TakenFor = "",
    output: RowOutput = RowFormat.TABLE,
    out: Out = "",
    show_secrets: ShowSecrets = False,
    printing: ScreenOptions,
) -> None:
    """Show each byte of a file with its field, type and value.

    Example: kraftool explain /var/lib/kafka/data/bootstrap.checkpoint

    Starts at the beginning of the file, or at the batch or entry that --position or --offset names.
    Damage is marked with its reason, and the readable bytes around it are still explained. Bytes
    that are or may be secret are shown only with --show-secrets.

    Exits 3 if a part that is shown is damaged. Damage in the rest of the file does not count:
    verify-log and dump check all of it.

    The file is only read. Nothing is ever written to it.
    """
    from kraftool.commands.explain_table import write_table
    from kraftool.reports.explain.annotation import ExplainRequest, is_log
    from kraftool.reports.explain.annotation import explain as annotated
    from kraftool.reports.explain.rows import SeenRows

    if position is not None and offset is not None:
        raise UsageError("--position and --offset cannot be used together")
    request = ExplainRequest(
        position=position, offset=offset, units=batches, show_secrets=show_secrets
    )
    with _open(file) as source:
        size = source.size() or 0
        detected = _kind(source, kind, size)
        if offset is not None and not is_log(detected):
            raise UsageError(
                f"a file of kind {detected.value} has no offsets",
                hint="--position takes a byte position in any file",
            )
        to = printing.open()
        rows = SeenRows(annotated(source.name, detected, source.read_at, size, request))
        if output is RowFormat.TABLE:
            write_table(to, rows, size)
        else:
            from kraftool.commands.explain_json import ExplainDocument

            document = ExplainDocument(
                file=source.name, kind=detected, size=size, lines=rows, seen=rows
            )
            to.document(document, output)
        to.flush()
        if rows.rest is not None:
            following = _onwards(file, rows.rest, kind)
            to.note(f"{rows.rest.size} bytes follow. Continue with {following}")
        if rows.problems:
            places = "one place is" if rows.problems == 1 else f"{rows.problems} places are"
            to.problem(f"{file}: {places} damaged or unknown", code=ExitCode.UNREADABLE)
        to.finish()


def _open(file: str) -> ByteSource:
    from kraftool.storage.bundle_names import bundle_place
    from kraftool.storage.source import BytesSource, FileSource, standard_input

    if file != "-":
        if bundle_place(file) is not None:
            from kraftool.storage.paths import path_here

            file = path_here(file)
        return FileSource(file)

    from kraftool.reports.explain.annotation import LARGEST_WHOLE

    data = standard_input().read(LARGEST_WHOLE + 1)
    if len(data) > LARGEST_WHOLE:
        raise UsageError(
            f"stdin holds more than {LARGEST_WHOLE} bytes",
            hint="copy the file here, or send only the part you need: you can cut a log anywhere",
        )
    return BytesSource("-", data)


def _kind(source: ByteSource, word: str, size: int) -> FileKind:
    from kraftool.decoders.kinds import HEAD_SIZE, FileKind, detect

    words = [file_kind.value for file_kind in FileKind if file_kind is not FileKind.UNKNOWN]
    if word:
        if word not in words:
            raise UsageError(
                f"--as {word!r} is not a kind of file", hint=f"one of {', '.join(words)}"
            )
        return FileKind(word)
    name = source.name.rpartition("/")[2]
    kind = detect(name, source.read_at(0, HEAD_SIZE), size).kind
    if kind is FileKind.UNKNOWN:
        raise UsageError(
            f"{source.name}: kraftool cannot tell its kind from its name or its content",
            hint=f"name its kind with --as, one of {', '.join(words)}",
        )
    return kind


def _onwards(file: str, rest: Rest, kind: str) -> str:
    import shlex

    words = ["kraftool", "explain", file, "--position", str(rest.position)]
    return shlex.join([*words, "--as", kind] if kind else words)
