"""One record in full: its batch, its JSON, and every byte with its field, type and value.

Owns the layout. Which bytes may be shown is settled in the report.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from kraftool.reports.browse.detail import Detail
from kraftool.reports.explain.rows import Row
from kraftool.reports.text.printable import printable
from kraftool.tui.palette import Palette

_A_LINE = 8
_HEX = 20
_FIELD = 30


def detail_lines(detail: Detail, palette: Palette) -> list[Text]:
    """The lines of a record that was opened."""
    lines = []
    for label, words in detail.facts:
        lines.append(Text(f"{label:7}", palette.quiet).append(printable(words), palette.name))
    if detail.row.text and detail.data is None:
        lines.append(Text(printable(detail.row.text), palette.bad))
    lines += [Text(printable(json_line)) for json_line in detail.json_lines()]
    if detail.bytes:
        lines.append(Text(f"{'at':>9}  {'bytes':{_HEX}} {'field':{_FIELD}} value", palette.quiet))
    for row in detail.bytes:
        lines += _row(row, palette)
    return lines


def _row(row: Row, palette: Palette) -> Iterator[Text]:
    name = row.field.rpartition(".")[2] or row.type
    field = "  " * min(row.depth, 6) + name
    at = Text(f"{row.position:>9}  ", palette.quiet)
    if row.group:
        yield at.append(f"{'':{_HEX}} {printable(field)}", palette.line)
        return
    chunks = [row.data[start : start + _A_LINE] for start in range(0, len(row.data), _A_LINE)]
    first = "**" * min(row.size, 4) if row.secret else _hex(chunks[0]) if chunks else ""
    at.append(f"{first:{_HEX}} ").append(f"{printable(field)[:_FIELD]:{_FIELD}} ", palette.key)
    at.append(_value(row), palette.quiet if row.secret else "")
    if row.note:
        at.append(f"  {printable(row.note)}", palette.quiet)
    yield at
    for chunk in chunks[1:]:
        yield (
            Text(f"{'':9}  ").append(_hex(chunk)).append("  ").append(_ascii(chunk), palette.quiet)
        )
    if row.problem:
        yield Text(f"{'':9}  ✗ {printable(row.problem)}", palette.bad)


def _hex(data: bytes) -> str:
    return " ".join(data[at : at + 2].hex() for at in range(0, len(data), 2))


def _ascii(data: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)


def _value(row: Row) -> str:
    value = row.value
    if isinstance(value, bytes):
        return _ascii(value[:_A_LINE])
    if value is None:
        return "" if row.secret else "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return printable(str(value))
