"""The finder of the State view: everything with a word in its name, then one topic's partitions.

Owns which of the two is shown. The rows are made in a thread, as a state may have a million
partitions.
"""

from __future__ import annotations

from rich.text import Text
from textual.message import Message

from kraftool.image.image import MetadataImage
from kraftool.reports.browse.state_finder import (
    FoundKind,
    FoundRow,
    find_entities,
    topic_partitions,
)
from kraftool.tui.view import View
from kraftool.tui.widgets.lines import Lines
from kraftool.tui.widgets.state_lines import found_line

_NOTHING = FoundRow(kind=FoundKind.HEADING, text="nothing has this in its name")


class StateFinder(Lines[FoundRow]):
    """Rows that were found."""

    class Reveal(Message):
        """The user opened a row that has a place in the tree."""

        def __init__(self, path: tuple[str, ...]) -> None:
            super().__init__()
            self.path = path

    def __init__(self, view: View, *, id: str) -> None:
        def paint(row: FoundRow, width: int) -> Text:
            return found_line(row, width, view.palette)

        super().__init__(paint, id=id)
        self._view = view
        self._image: MetadataImage | None = None
        self._words = ""
        self._topic = ""
        """The topic whose partitions are shown in place of the search."""

    def begin(self, image: MetadataImage) -> str:
        """Show the last search; return its words."""
        self._topic = ""
        self.take(image)
        return self._words

    def take(self, image: MetadataImage) -> None:
        """Look in another state."""
        self._image = image
        self._look()

    def look_for(self, words: str) -> None:
        """Look for other words."""
        if words != self._words:
            self._words = words
            self._look()

    def open_row(self) -> None:
        """Show a topic's partitions; for anything else, ask for its place in the tree."""
        row = self.row
        if row is None or not row.path:
            return
        if row.kind is FoundKind.TOPIC:
            self._topic = row.name
            self.set_rows((), 0)
            self._look()
        else:
            self.post_message(self.Reveal(row.path))

    def leave_topic(self) -> bool:
        """Go back from a topic to the search; False if no topic is shown."""
        if not self._topic:
            return False
        self._topic = ""
        self._look()
        return True

    @property
    def copied(self) -> str:
        row = self.row
        return "" if row is None else f"{row.name}\t{row.text}".strip()

    def _look(self) -> None:
        image, words, topic = self._image, self._words, self._topic
        if image is None:
            return

        def look() -> tuple[FoundRow, ...]:
            rows = topic_partitions(image, topic) if topic else ()
            return rows or find_entities(image, words)

        def looked(rows: tuple[FoundRow, ...]) -> None:
            self.set_rows(rows or (_NOTHING,), self.cursor if self.cursor < len(rows) else 0)

        self._view.work("find", look, looked)
