"""Text in lines: words, paths, names and commands are never broken over two of them.

Owns where a line may end. Rich breaks a word that is longer than the line, and crops what is wider
than the screen: both make a path or a command that cannot be copied. Here such a word has a line of
its own, and that line is as long as it takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table
from rich.text import Text

_WORD = re.compile(r"\S+")
_PROGRAM = re.compile(r"\W*(kraftool|kafka-[a-z-]+(\.sh)?)\Z")
_GROUPS = frozenset({"features", "node", "pipeline", "quorum", "recover", "storage"})
"""Commands of kraftool that have commands of their own."""
_ARGUMENT = re.compile(r"--?\w|.*[/=]|[A-Z0-9]{2,}\b|\S*\w[.:]\w")
"""An option, a path, a value or a placeholder: what continues a command in a sentence."""
_LEAST = 24
"""Columns for a text beside its lead; with fewer it begins below it."""


READABLE = 100
"""Columns of a sentence on a wide terminal; tables take more."""


class Flow:
    """A text in as many lines as it takes, behind a lead."""

    def __init__(
        self,
        body: Text,
        *,
        lead: str | Text = "",
        again: str | None = None,
        widest: int | None = None,
    ) -> None:
        """`again` leads the lines after the first; by default they are indented as far as that.

        No line is longer than `widest`, also where there is more room.
        """
        self._body = body
        self._lead = lead if isinstance(lead, Text) else Text(lead)
        self._again = " " * self._lead.cell_len if again is None else again
        self._widest = widest

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self.lines(options.max_width)

    def lines(self, width: int) -> Iterator[Text]:
        """The lines, each as long as `width` unless one word or command of it is longer."""
        width = min(width, self._widest or width)
        lead, again = self._lead, self._again
        if lead.plain.strip() and width - lead.cell_len < _LEAST:
            yield lead
            lead, again = Text("  "), "  "
        for paragraph in self._body.split("\n", allow_blank=True) or [Text()]:
            for line in _lines(paragraph, width - lead.cell_len, width - len(again)):
                yield Text().append_text(lead).append_text(line)
                lead = Text(again)


class Unbroken:
    """A text on one line however long, as a command that is to be copied."""

    def __init__(self, line: Text) -> None:
        self._line = line

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._line


class Beside:
    """A text with a word or a path at the right edge of its first line; below it where it does not
    fit there."""

    def __init__(
        self, body: Text, side: Text, *, lead: str | Text = "", least: int | None = None
    ) -> None:
        """The text is broken into lines of `least` columns or more; of None, it is not broken."""
        self._body, self._side = body, side
        self._lead = lead if isinstance(lead, Text) else Text(lead)
        self._least = body.cell_len if least is None else min(least, body.cell_len)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, READABLE)
        room = width - self._side.cell_len - 2
        is_beside = bool(self._side) and room - self._lead.cell_len >= self._least
        flow = Flow(self._body, lead=self._lead)
        first, *others = flow.lines(room if is_beside else width)
        if is_beside and first.cell_len > room:  # a long word, such as a path
            is_beside = False
            first, *others = flow.lines(width)
        if is_beside:
            first = (
                Text()
                .append_text(first)
                .append(" " * (width - first.cell_len - self._side.cell_len))
            )
            first.append_text(self._side)
        yield first
        yield from others
        if self._side and not is_beside:
            yield Text(" " * self._lead.cell_len).append_text(self._side)


def _lines(text: Text, first: int, others: int) -> Iterator[Text]:
    """The lines of a paragraph; the first may have another width than the others."""
    plain, ends = text.plain, []
    start, end, room = 0, 0, first
    for begin, stop in _chunks(plain):
        if end > start and cell_len(plain[start:stop]) > room:
            ends += [end, begin]
            start, room = begin, others
        end = stop
    return iter(text.divide([*ends, end])[:-1:2])  # every other piece is the blanks between


def _chunks(plain: str) -> Iterator[tuple[int, int]]:
    """Yield where each word begins and ends; a command with its arguments counts as one."""
    words = [match.span() for match in _WORD.finditer(plain)]
    number = 0
    while number < len(words):
        begin, stop = words[number]
        number += 1
        if _PROGRAM.match(plain[begin:stop]):
            last = number + _arguments([plain[one:two] for one, two in words[number:]])
            stop = words[last - 1][1]
            number = last
        yield begin, stop


def _arguments(words: list[str]) -> int:
    """Return how many of the words that follow a program belong to its command."""
    if not words or not re.match(r"[a-z-]+\W*\Z|--?\w|/", words[0]):
        return 0
    count = 2 if words[0] in _GROUPS and len(words) > 1 else 1
    for word in words[count:]:
        if words[count - 1][-1] in ".,;:)" or not _ARGUMENT.match(word):
            break
        count += 1
    return count


def fitting(table: Table, width: int) -> Table | Stacked:
    """The table, with columns that break no word.

    If they do not fit beside each other, the columns of a row are below its first one.
    """
    _, right, _, left = table.padding
    room = width - (len(table.columns) - 1) * (left + right)
    natural = [column.width or _longest_line(column, table) for column in table.columns]
    if sum(natural) <= room or len(table.columns) < 2:
        return table
    least = [
        whole if column.width or column.no_wrap or column.justify == "right" else
        min(whole, _longest_word(column, table))
        for column, whole in zip(table.columns, natural, strict=True)
    ]  # fmt: skip
    if sum(least) > room:
        return Stacked(table)
    for column, columns in zip(table.columns, _shared(least, natural, room), strict=True):
        column.width = columns
    return table


def _shared(least: list[int], natural: list[int], room: int) -> list[int]:
    """Share the room that is left over: the columns that need little more get it first."""
    widths, left = [*least], room - sum(least)
    wanting = sorted(range(len(least)), key=lambda number: natural[number] - least[number])
    for done, number in enumerate(wanting):
        more = min(natural[number] - least[number], left // (len(wanting) - done))
        widths[number] += more
        left -= more
    return widths


class Stacked:
    """The rows of a table, each a line with its first cell and lines with the others below it."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = self._table
        heads = [_cell(column.header) if table.show_header else Text() for column in table.columns]
        columns = [[*column.cells] for column in table.columns]
        for row in zip(*columns, strict=True):
            cells = [_styled(cell, column) for cell, column in zip(row, table.columns, strict=True)]
            first = next((number for number, cell in enumerate(cells) if cell.plain.strip()), 0)
            yield from Flow(cells[first], again="    ").lines(options.max_width)
            parts = [
                Text.assemble((f"{head.plain} ", table.header_style or "") if head else "", cell)
                for head, cell in zip(heads[first + 1 :], cells[first + 1 :], strict=True)
                if cell.plain.strip()
            ]
            if parts:
                body = Text(" · ").join(parts)
                yield from Flow(body, lead="    ").lines(options.max_width)


def _cell(value: object) -> Text:
    return value if isinstance(value, Text) else Text(str(value))


def _styled(value: object, column: Column) -> Text:
    return Text(style=column.style or "").append_text(_cell(value))


def _longest_line(column: Column, table: Table) -> int:
    longest = max((line.cell_len for line in _lines_of(column, table)), default=0)
    return max(min(longest, column.max_width or longest), column.min_width or 0)


def _longest_word(column: Column, table: Table) -> int:
    return max(
        (
            cell_len(line.plain[begin:stop])
            for line in _lines_of(column, table)
            for begin, stop in _chunks(line.plain)
        ),
        default=0,
    )


def _lines_of(column: Column, table: Table) -> Iterator[Text]:
    for value in (*column.cells, *([column.header] if table.show_header else [])):
        yield from _cell(value).split("\n")
