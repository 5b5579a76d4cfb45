"""Reads a page as a browser would: its elements, their text, its links and its places.

Owns the walk over the HTML. Elements that are not closed as they were opened fail it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from kraftool.reports.fleet.model import FleetAudit
from kraftool.reports.fleet.page import page

_VOID = {"meta", "br", "wbr"}
_SELF_CLOSED = {"rect"}


@dataclass(slots=True)
class Element:
    """An element with all text in it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    rows: list[list[str]] = field(default_factory=list)
    """Of a table: the text of its cells."""
    caption: str = ""
    """Of a table."""


class Page(HTMLParser):
    """A page that was read."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.html = html
        self.elements: list[Element] = []
        self.sections: dict[str, Element] = {}
        self._open: list[Element] = []
        self.feed(html)
        self.close()
        assert not self._open, "every element is closed"

    @classmethod
    def of(cls, audit: FleetAudit) -> Page:
        return cls("".join(page(audit)))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), "no attribute twice"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag == "section":
            self.sections[element.attributes["id"]] = element
        if tag == "tr":
            self._table().rows.append([])
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _SELF_CLOSED
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        element = self._open.pop()
        assert element.tag == tag, f"{tag} closes {element.tag}"
        if tag == "caption":
            self._table().caption = element.text
        if tag in ("td", "th"):
            self._table().rows[-1].append(element.text)

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def _table(self) -> Element:
        return next(element for element in reversed(self._open) if element.tag == "table")

    def of_tag(self, tag: str) -> list[Element]:
        return [element for element in self.elements if element.tag == tag]

    def table(self, label: str) -> Element:
        """The only table with a caption."""
        tables = [element for element in self.of_tag("table") if element.caption == label]
        assert len(tables) == 1, f"{len(tables)} tables {label}"
        return tables[0]

    def tile(self, name: str) -> str:
        """The number on a tile."""
        terms = [element for element in self.of_tag("dt") if element.text == name]
        following = self.elements[self.elements.index(terms[0]) :]
        return next(element.text for element in following if element.tag == "dd")

    @property
    def text(self) -> str:
        """All that is shown, without the style."""
        return re.sub(r"\s+", " ", next(e.text for e in self.elements if e.tag == "body"))
