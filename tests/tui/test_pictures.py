"""The pictures of the documents: what moves, what stands still, and that nothing is fetched."""

from __future__ import annotations

import sys

import pytest

from tests.support.places import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import pictures

pytestmark = pytest.mark.tui

SCREEN = """<svg viewBox="0 0 100 50">
.terminal-7-r1 {{ fill: #fff }}
.terminal-7-r2 {{ fill: #f00;font-weight: bold }}
<rect fill="#111" x="0" y="1.5" width="12.2" height="24.65" shape-rendering="crispEdges"/>
<rect fill="#111" x="12.2" y="1.5" width="12.2" height="24.65" shape-rendering="crispEdges"/>
<text class="terminal-7-r1" x="0" y="20" textLength="48.8" clip-path="">&#160;a&lt;&#160;</text>
<text class="terminal-7-r2" x="0" y="44" textLength="12.2" clip-path="">{}</text>
"""


def test_the_pictures_of_the_documents_show_what_the_dashboard_shows() -> None:
    for name, now in pictures.of_documents().items():
        committed = (pictures.DOCS / name).read_text()
        assert pictures.words(committed) == pictures.words(now), "make picture"
        assert len(committed) < 400_000
        assert "url(" not in committed
        assert "<script" not in committed
        assert committed.count("http") == 1, "the name of SVG"
        assert ("@keyframes" in committed) is (name == "leader-killed.svg")


def test_what_stays_is_drawn_once_and_what_changes_is_shown_in_its_time() -> None:
    svg = pictures.picture([SCREEN.format(word) for word in ("x", "y", "x")])
    assert svg.count(">a&lt;<") == 1
    assert svg.count("<rect class=") == 1, "rectangles that touch are one"
    assert 'width="24.4"' in svg
    (left,) = (line for line in svg.splitlines() if ">a&lt;<" in line)
    assert 'x="12.2"' in left, "blanks are a place and not drawn"
    assert 'textLength="24.4"' in left
    assert svg.count("@keyframes") == 2
    assert "{0%{visibility:visible}15.52%{visibility:hidden}31.03%{visibility:visible}}" in svg
    assert "prefers-reduced-motion" in svg


def test_one_screen_stands_still() -> None:
    svg = pictures.picture([SCREEN.format("x")])
    assert "animation" not in svg
    assert pictures.words(svg) == ["a&lt;", "kraftool watch", "x"]
