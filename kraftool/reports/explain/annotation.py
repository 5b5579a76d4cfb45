"""Any file of a log directory, annotated: its rows, by what kind of file it is.

Owns the choice of the reader by kind and the bound on what is read whole. It opens nothing: the
bytes come from a function (position, size) -> bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.kinds import FileKind
from kraftool.decoders.names import parse_segment_name
from kraftool.reports.explain.files import explain_entries, explain_text
from kraftool.reports.explain.log import explain_log
from kraftool.reports.explain.rows import ExplainRequest, ReadAt, Rest, Row

__all__ = ["LARGEST_WHOLE", "ExplainRequest", "ReadAt", "Rest", "Row", "explain", "is_log"]

LARGEST_WHOLE = 32 << 20
"""Files other than logs are read whole; Kafka's largest, an index, has 10 MiB."""

_LOGS = (FileKind.LOG, FileKind.CHECKPOINT, FileKind.BOOTSTRAP_CHECKPOINT)
_ENTRIES = (
    FileKind.OFFSET_INDEX,
    FileKind.TIME_INDEX,
    FileKind.TXN_INDEX,
    FileKind.PRODUCER_STATE,
)


def is_log(kind: FileKind) -> bool:
    """True if files of this kind hold batches, and so offsets."""
    return kind in _LOGS


def explain(
    name: str, kind: FileKind, read_at: ReadAt, size: int, request: ExplainRequest
) -> Iterator[Row | Rest]:
    """The rows of a file; a `Rest` at the end where they stop short of the file's own."""
    if is_log(kind):
        yield from explain_log(read_at, size, request)
        return
    if kind is FileKind.UNKNOWN:
        raise KraftoolError(f"{name}: a file of no known kind")
    if request.offset is not None:
        raise KraftoolError(
            f"{kind.value} holds no records, so none at offset {request.offset}",
            hint="--position takes a byte position in any file",
        )
    if size > LARGEST_WHOLE:
        raise KraftoolError(
            f"{size} bytes are too many for a {kind.value}; at most {LARGEST_WHOLE} are read"
        )
    data = read_at(0, size)
    if kind in _ENTRIES:
        segment = parse_segment_name(name.rpartition("/")[2])
        base_offset = segment.base_offset if segment is not None else 0
        yield from explain_entries(kind, data, base_offset, request)
    else:
        yield from explain_text(kind, data, request)
