"""The page loads nothing, runs nothing, and no data in it is ever markup."""

from __future__ import annotations

import re
import unicodedata
from base64 import b64encode
from collections import Counter
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from hashlib import sha256
from typing import Any

import pytest

from kraftool.reports.fleet.model import FleetAudit, FleetFinding
from tests.reports.fleet.page_fleets import assembled, sick, sound
from tests.reports.fleet.page_reader import Page

CANARY = (
    "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&lt;b&gt;&amp;"
    "\x1b[31mred\x1b]8;;http://evil.example\x07\x00\x7f\x9b\u202eevil\u2066\u200b\ufeff\udcff"
    "]]>--><!--</style></title></svg>{{x}} javascript:alert(1)"
)
FLEETS = {"sick": sick(40), "sound": sound(3), "one": sick(1), "empty": assembled([], [])}
DATA_ATTRIBUTES = {"title", "aria-label"}


@pytest.fixture(params=FLEETS)
def read(request: pytest.FixtureRequest) -> Page:
    return Page.of(FLEETS[request.param])


def poisoned(value: Any, name: str = "") -> Any:
    """A model in which every text is the canary; names stay different, so that they are unique."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return value + CANARY
    if isinstance(value, tuple):
        return tuple(poisoned(item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{field.name: poisoned(getattr(value, field.name)) for field in fields(value)}
        )
    return value


def poisoned_fleet() -> FleetAudit:
    audit: FleetAudit = poisoned(sick(40))
    return audit


def test_there_is_no_inline_style_and_no_handler(read: Page) -> None:
    tags = {element.tag for element in read.elements}
    assert not tags & {"img", "link", "iframe", "object", "embed", "base", "form", "use"}
    for element in read.elements:
        assert "style" not in element.attributes
        assert not [name for name in element.attributes if name.startswith("on")]


def test_the_one_script_makes_nothing_of_text_but_text(read: Page) -> None:
    """It is the same whatever the audit found, and no data can become HTML or code by it."""
    from kraftool.reports.fleet.page_script import SCRIPT

    (script,) = read.of_tag("script")
    assert script.text == SCRIPT
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval",
        "Function(",
        "setTimeout",
        "fetch",
        "XMLHttp",
        "import",
        "location",
        "storage",
        "cookie",
        "</",
        "<!--",
    ):
        assert word not in script.text  # fmt: skip


def test_nothing_points_out_of_the_page(read: Page) -> None:
    for element in read.elements:
        for name, value in element.attributes.items():
            if name in ("href", "src", "xlink:href", "action", "data", "poster", "srcset"):
                assert name == "href"
                assert value.startswith("#")
    style = read.of_tag("style")[0].text
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_allows_one_style_block_and_one_script_and_nothing_else(read: Page) -> None:
    policies = [
        element.attributes["content"]
        for element in read.of_tag("meta")
        if element.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    styles = read.of_tag("style")
    assert len(policies) == len(styles) == 1
    directives = dict(part.split(maxsplit=1) for part in policies[0].split("; "))
    digest = b64encode(sha256(styles[0].text.encode()).digest()).decode()
    assert directives.pop("style-src") == f"'sha256-{digest}'"
    (script,) = read.of_tag("script")
    assert not script.attributes
    digest = b64encode(sha256(script.text.encode()).digest()).decode()
    assert directives.pop("script-src") == f"'sha256-{digest}'"
    assert directives.pop("default-src") == "'none'"
    assert set(directives.values()) == {"'none'"}
    assert read.html.index("Content-Security-Policy") < read.html.index("<style>")


def test_every_link_leads_to_a_place_that_is_there_once(read: Page) -> None:
    ids = Counter(
        element.attributes["id"] for element in read.elements if "id" in element.attributes
    )
    assert set(ids.values()) <= {1}
    for element in read.elements:
        href = element.attributes.get("href")
        if href is not None:
            assert href[1:] in ids
        for id in element.attributes.get("aria-labelledby", "").split():
            assert id in ids


def test_what_scrolls_can_be_reached_with_the_keyboard_and_has_a_name(read: Page) -> None:
    scrolling = [
        element for element in read.elements if element.attributes.get("class") == "scroll"
    ]
    for element in scrolling:
        assert element.attributes["tabindex"] == "0"
        assert element.attributes["role"] == "region"
        assert element.attributes["aria-label"]
    svgs = [element for element in read.elements if element.tag == "svg"]
    assert all(svg.attributes["role"] == "img" and svg.text for svg in svgs)


def test_poisoned_data_makes_no_element_and_no_attribute_more() -> None:
    clean, dirty = Page.of(sick(40)), Page.of(poisoned_fleet())
    assert {element.tag for element in dirty.elements} <= {
        element.tag for element in clean.elements
    }
    names = {name for element in clean.elements for name in element.attributes}
    assert {name for element in dirty.elements for name in element.attributes} <= names


def test_the_page_of_poisoned_data_is_as_safe_as_any() -> None:
    read = Page.of(poisoned_fleet())
    for check in (
        test_there_is_no_inline_style_and_no_handler,
        test_the_one_script_makes_nothing_of_text_but_text,
        test_nothing_points_out_of_the_page,
        test_the_policy_allows_one_style_block_and_one_script_and_nothing_else,
        test_every_link_leads_to_a_place_that_is_there_once,
    ):
        check(read)
    for element in read.elements:
        for name, value in element.attributes.items():
            assert "evil" not in value or name in DATA_ATTRIBUTES


def test_no_character_acts_on_its_neighbours_and_all_of_it_is_utf_8() -> None:
    html = "".join(Page.of(poisoned_fleet()).html)
    odd = {
        character
        for character in html
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    }
    assert odd <= {"\n"}
    assert html.encode("utf-8")


def test_what_was_hidden_is_shown_where_it_stands() -> None:
    text = Page.of(poisoned_fleet()).text
    for phrase in (
        "<script>alert(1)</script>",
        "\\u001b[31mred",
        "\\u202eevil",
        "\\u200b",
        "\\udcff",
        "&lt;b",
    ):
        assert phrase in text


def test_a_line_break_in_data_makes_no_second_command() -> None:
    audit = sick(6)
    trap = tuple(
        replace(finding, commands=("kraftool doctor /archive\nrm -rf /data",))
        for finding in audit.findings
    )
    shown = [element.text for element in Page.of(replace(audit, findings=trap)).of_tag("pre")]
    assert not [line for text in shown for line in text.splitlines() if line.startswith("rm")]
    assert [text for text in shown if "\\u000arm -rf" in text]


def test_a_text_of_a_million_characters_is_cut_and_that_is_told() -> None:
    audit = sick(6)
    long = tuple(_long(finding) for finding in audit.findings)
    read = Page.of(replace(audit, findings=long))
    assert len(read.html) < 500_000
    assert re.search(r"… and 99\d,\d{3} more characters", read.text)


def _long(fleet_finding: FleetFinding) -> FleetFinding:
    command = "kraftool explain " + "y" * 1_000_000
    finding = fleet_finding.finding.saying("x" * 1_000_000)
    return replace(fleet_finding, finding=finding, commands=(command,))
