"""The table of requests in docs/controller.md, which this test makes from the code.

`KRAFTOOL_REWRITE=1 pytest tests/node/test_served_table.py` writes it, to be read in the diff.
"""

from __future__ import annotations

import os
import re

from kraftool.decoders import schema
from kraftool.node.serving import APIS, OF_ITEMS, Family
from tests.support.places import ROOT

RENEW = "KRAFTOOL_REWRITE=1 pytest tests/node/test_served_table.py"
PAGE = ROOT / "docs" / "controller.md"
HEAD = "| request | key | versions | answered by | permission | compared or tested in |\n"
TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)+")
ANSWERED_BY = {
    Family.CORE: "the raft core",
    Family.NODE: "the node",
    Family.CONTROLLER: "the active controller",
    Family.TOKENS: "the active controller",
    Family.FORWARDED: "as the request in it",
}
TESTS = ("tests/differential/controller", "tests/differential", "tests/node", "tests/controller")
"""Folders of tests; the first that names a request compares it with Kafka's own code, if it is one
of the first two."""


def test_the_table_has_each_request_that_is_served() -> None:
    page = PAGE.read_text()
    if os.environ.get("KRAFTOOL_REWRITE") == "1":
        assert not os.environ.get("CI"), "nothing is rewritten there"
        page = TABLE.sub(lambda _: table(), page)
        PAGE.write_text(page)
    assert TABLE.findall(page) == [table()], RENEW


def table() -> str:
    folders = {
        folder: "".join(file.read_text() for file in sorted((ROOT / folder).glob("*.py")))
        for folder in TESTS
    }
    return HEAD + "|---|---|---|---|---|---|\n" + "".join(rows(folders))


def rows(folders: dict[str, str]) -> list[str]:
    found = []
    for name, api in APIS.items():
        key = schema.message(f"{name}Request").api_key
        assert key is not None
        named = re.compile(rf"\b{name}(Request|Response)?\b")
        tested = next(folder for folder in TESTS if named.search(folders[folder]))
        operation = api.operation.replace("_", " ").capitalize()
        permission = "of each item" if api.operation == OF_ITEMS else f"{operation} on the cluster"
        if name == "ApiVersions":
            permission = "none"
        versions = f"{api.low}-{api.high}" if api.low < api.high else f"{api.low}"
        answered = ANSWERED_BY[api.family]
        found.append(
            (key, f"| {name} | {key} | {versions} | {answered} | {permission} | `{tested}` |\n")
        )
    return [row for _, row in sorted(found)]
