"""The site's sources: its pages are listed, findings and commands have theirs, no link leads out.

`make site` builds it with Sphinx, and checks every link between the built pages. What needs no
Sphinx is here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.main import get_command

from kraftool.commands.app import app
from kraftool.commands.command_tree import walk
from kraftool.reports.doctor.explain import explain
from kraftool.reports.findings.kinds import KINDS
from kraftool.tui.views import VIEWS
from tests.support.places import ROOT
from tests.test_plain_english import retired_uses

sys.path.insert(0, str(ROOT / "tools"))

import build_site
import site_pages


def test_every_page_is_in_the_navigation_once() -> None:
    text = (build_site.SITE / "index.md").read_text()
    pages = {name.removesuffix(".md") for name in build_site.documents()} | {"changelog"}
    for place in (
        site_pages.COMMANDS,
        site_pages.FINDINGS,
        site_pages.SCHEMAS,
        site_pages.TABLES,
    ):
        pages.add(f"{place}/index")
    assert set(build_site.listed(text)) <= pages
    names = build_site.listed(build_site.first_page(text, pages))
    assert sorted(names) == sorted(pages - {"index"})


def test_a_document_that_no_list_names_is_listed_last() -> None:
    text = "```{toctree}\n:hidden:\n\nTitle <a>\nb\n```\n"
    assert build_site.listed(text) == ["a", "b"]
    assert build_site.first_page(text, ["a.md", "b.md", "index.md"]) == text
    assert build_site.listed(build_site.first_page(text, ["c.md", "a.md"])) == ["a", "b", "c"]


def test_every_command_has_a_page_with_its_options() -> None:
    pages = site_pages.command_pages()
    for node in walk(get_command(app)):
        if not node.words:
            continue
        page = pages[f"{site_pages.COMMANDS}/{node.page}.md"]
        assert f"# {node.invocation}\n" in page
        names = [
            p.opts[-1]
            for p in node.command.params
            if p.param_type_name == "option" and not p.hidden
        ]
        if not hasattr(node.command, "list_commands"):
            assert not [name for name in names if name not in page], node.invocation


def test_every_finding_has_a_page_with_all_that_explain_says() -> None:
    pages = site_pages.finding_pages()
    index = pages[f"{site_pages.FINDINGS}/index.md"]
    for kind in explain("list"):
        page = pages[f"{site_pages.FINDINGS}/{kind.code}.md"]
        for text in (kind.meaning, kind.note, kind.advice[1:], *kind.observed, *kind.references):
            assert site_pages.escaped(text) in page
        assert f"({kind.code}.md)" in index
        assert site_pages.area_of(kind.code).commands


def test_the_commands_that_show_findings_are_commands() -> None:
    known = {" ".join(node.words) for node in walk(get_command(app))}
    shown = {name for area in site_pages.AREAS.values() for name in area.commands}
    assert shown <= known


def test_every_issue_that_a_finding_names_is_in_the_table() -> None:
    table = site_pages.known_issues()
    for code, kind in KINDS.items():
        for reference in kind.references:
            if site_pages.ISSUE.fullmatch(reference):
                (row,) = (row for row in table.splitlines() if f"`{code}`" in row)
                assert reference.removeprefix("apache/kafka #") in row


def test_every_schema_has_a_page() -> None:
    pages = site_pages.schema_pages()
    for file in (ROOT / "docs" / "schemas").glob("*.json"):
        assert "| member |" in pages[f"{site_pages.SCHEMAS}/{file.stem}.md"]


def test_types_are_said_in_words() -> None:
    several = {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/one"}}]}
    assert site_pages.type_words(several) == "null or list of one"
    assert site_pages.type_words({"enum": ["a", None]}) == '"a", null'
    assert site_pages.type_words({"type": ["string", "null"]}) == "string or null"
    counts = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert site_pages.type_words(counts) == "map to integer"


def test_a_document_becomes_a_page() -> None:
    text = (
        "See [x](../tests/y.md#z), `KT-LOG-CRC`, [recover.md](recover.md#methods) and `KT-NO`.\n\n"
        "```\n`KT-LOG-CRC`\n```\n"
    )
    assert build_site.page("a.md", text) == (
        "See x (`tests/y.md` in the repository),"
        " [`KT-LOG-CRC`](reference/findings/KT-LOG-CRC.md), [](recover.md#methods) and `KT-NO`.\n\n"
        "```\n`KT-LOG-CRC`\n```\n"
    )


def test_each_view_has_its_picture_in_the_page_of_the_dashboard() -> None:
    page = build_site.page("watch.md", (ROOT / "docs/watch.md").read_text())
    assert page.count("](pictures/") == len(VIEWS) - 1
    assert page.count("](watch-quorum.svg)") == 1


@pytest.mark.parametrize("name", sorted(path.name for path in build_site.SITE.glob("*.md")))
def test_the_pages_of_the_site_are_in_plain_words(name: str) -> None:
    assert not retired_uses((build_site.SITE / name).read_text())


def test_a_broken_link_and_a_font_of_a_server_are_found(tmp_path: Path) -> None:
    (tmp_path / "there.html").write_text('<p id="here">')
    (tmp_path / "index.html").write_text(
        '<a href="there.html#here">a</a><a href="there.html#gone">b</a><a href="gone.html">c</a>'
        '<a href="https://kafka.apache.org">d</a><script src="https://cdn.example/x.js"></script>'
    )
    (tmp_path / "x.css").write_text("@font-face{src:url(https://fonts.example/f)}")
    assert list(build_site.broken_links(tmp_path)) == [
        "index.html: there.html#gone is no place in that page",
        "index.html: gone.html is not there",
        "index.html: loads https://cdn.example/x.js",
        "x.css: loads https://fonts.example/f",
    ]
