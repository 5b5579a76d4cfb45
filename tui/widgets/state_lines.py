"""The lines of a state: the tree of the image, and what differs between two.

Owns indentation and signs. The keys that open and close branches are here too, as they go on from
those of a list.
"""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message

from kraftool.reports.browse.state_changes import ChangeRow
from kraftool.reports.browse.state_finder import FoundKind, FoundRow
from kraftool.reports.browse.state_overview import OverviewPart, StateOverview
from kraftool.reports.browse.state_tree import TreeRow
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.status import Status
from kraftool.reports.state.load import LoadedState
from kraftool.reports.text.printable import printable
from kraftool.reports.text.times import iso
from kraftool.reports.text.words import many
from kraftool.tui.findings import shortened
from kraftool.tui.palette import Palette
from kraftool.tui.widgets.lines import Lines


def tree_line(row: TreeRow, width: int, palette: Palette) -> Text:
    """A branch with how much is in it, or a leaf with what it says."""
    line = Text("  " * row.depth, no_wrap=True, end="")
    name = printable(row.name)
    if row.is_directory:
        line.append("▾ " if row.is_open else "▸ ", palette.line).append(name, palette.name)
        return line.append(f"  {row.count}", palette.quiet)
    line.append(f"  {name}  ", palette.key)
    return line.append(printable(row.text())[: max(width, 1)])


def found_line(row: FoundRow, width: int, palette: Palette) -> Text:
    """A line of the finder: kind and name, and its state by a sign and words."""
    line = Text(no_wrap=True, end="")
    if row.kind is FoundKind.HEADING:
        if row.name:
            line.append(f"{printable(row.name)}  ", palette.name)
        elif not row.text.startswith("…"):
            line.append("  ")
        return line.append(printable(row.text)[:width], palette.quiet)
    status = row.status
    style = getattr(palette, status.meaning)
    line.append(f"{status.mark} ", style)
    if row.kind is FoundKind.PARTITION:
        is_bad = status in (Status.BAD, Status.WARN)
        return line.append(printable(row.text)[:width], style if is_bad else "")
    line.append(f"{row.kind.value} ", palette.quiet).append(printable(row.name), palette.name)
    return line.append(f"  {printable(row.text)}"[:width])


def overview_rows(overview: StateOverview, cluster_id: str, palette: Palette) -> list[list[Text]]:
    """The card, a row a line."""
    rows = []
    lines = [*overview.lines]
    if cluster_id:
        label, parts = lines[0]
        lines[0] = label, (OverviewPart(text=cluster_id), *parts)
    for label, parts in lines:
        words = Text(no_wrap=False)
        for number, part in enumerate(parts):
            sign = "" if part.status is Status.NOTE else f"{part.status.mark} "
            meaning = "" if part.status is Status.NOTE else part.status.meaning
            words.append(" · " if number else "", palette.quiet)
            words.append_text(palette.text(f"{sign}{part.text}", meaning))
        rows.append([palette.text(label, "quiet"), words])
    return rows


_SIGNS = {"+": "good", "-": "bad", "~": "warn", "": ""}


def change_line(row: ChangeRow, width: int, palette: Palette) -> Text:
    """A kind, an entity with its sign, or a field."""
    line = Text("  " * row.depth, no_wrap=True, end="")
    if row.depth == 0:
        return line.append(row.name, palette.name).append(f"  {row.text}", palette.quiet)
    if row.sign:
        line.append(f"{row.sign} ", getattr(palette, _SIGNS[row.sign]))
        line.append(printable(row.name), getattr(palette, _SIGNS[row.sign]))
        return line.append(f"  {printable(row.text)}"[:width], palette.quiet)
    line.append(f"  {printable(row.name)} ", palette.key)
    return line.append(printable(row.text)[:width])


def wrapped(text: str, width: int) -> list[str]:
    """A text of any length in lines, broken where Kafka's words end if there is such a place."""
    lines = []
    rest = printable(text)
    while len(rest) > width > 8:
        at = max(rest.rfind(", ", 0, width), rest.rfind(" ", 0, width))
        at = at + 1 if at > width // 2 else width
        lines.append(rest[:at])
        rest = rest[at:].lstrip()
    return [*lines, rest]


def headline(found_total: int, old: int, new: int) -> str:
    """Return the summary of a difference."""
    if not found_total:
        return f"no difference between offsets {old} and {new}"
    return f"{many(found_total, 'difference')} from offset {old} to {new}"


def state_words(
    state: LoadedState,
    palette: Palette,
    *,
    is_newest: bool,
    stale: str,
    newer_end: int | None = None,
    wanted: int | None = None,
) -> Text:
    """Return the words on a state: which one it is, and what it may lack.

    `is_newest`: no offset was asked for. `newer_end`: a later end of the log that is known.
    `wanted`: the offset up to which the log is still being read.
    """
    line = Text(f"at offset {state.end_offset}", palette.key, no_wrap=True, end="")
    if wanted is not None:
        line.append_text(palette.text(f"  ? not yet the state at {wanted}", "warn"))
    elif stale:
        line.append_text(palette.text(f"  ▲ stale: {stale}", "warn"))
    elif is_newest and newer_end is not None:
        line.append(f", the log ends at {newer_end}", palette.quiet)
    elif is_newest:
        line.append(", the newest", palette.quiet)
    # What may be wrong comes first: a narrow terminal cuts the rest.
    if state.open_transaction is not None:
        line.append("  ? in a transaction, whose records are not shown", palette.warn)
    wrong = [finding for finding in state.findings if finding.severity is not Severity.INFO]
    if wrong:
        first = wrong[0]
        file = shortened(first.file.rpartition("/")[2])
        words = f"  ✖ {many(len(wrong), 'finding')}: {file}: {first.sentence()}"
        line.append_text(palette.text(words, "bad"))
    at = state.image.provenance
    if at.last_offset >= 0:
        line.append(f"  epoch {at.last_epoch}, {iso(at.last_timestamp)}", palette.quiet)
    return line.append_text(palette.text(f"  {state.path}", "name"))


class TreeLines(Lines[TreeRow]):
    """A list whose rows may be opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "branch(True)", "Open", show=False),
        Binding("left,h", "branch(False)", "Close, or to the branch above", show=False),
    ]

    class Branch(Message):
        """Open the branch under the cursor, or close it."""

        def __init__(self, *, is_open: bool) -> None:
            super().__init__()
            self.is_open = is_open

    def action_branch(self, is_open: bool) -> None:
        self.post_message(self.Branch(is_open=is_open))
