"""Rows as CSV.

Owns how a cell is written: a truth as JSON has it, nothing for what is not known, and what a
spreadsheet would take for a formula quoted with '.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence

from kraftool.reports.printable import file_text

_END = "\r\n"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    lines = _Lines()
    csv.writer(lines, lineterminator=_END).writerows([_cell(each) for each in row] for row in rows)
    return "".join(lines)


class _Lines(list[str]):
    r"""Takes lines that end with \r\n, and has them with \n.

    The writer quotes of these two characters only the ones that end its lines.
    """

    def write(self, line: str) -> None:
        self.append(line.removesuffix(_END) + "\n")


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    text = file_text(value)
    return "'" + text if text.startswith(_FORMULA) else text
