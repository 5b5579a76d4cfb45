"""What each command imports until it is done: what came in fails here, and not in a measurement.

`start.txt` has our modules that each of CASES imports, their lines and classes, and the packages of
others and of Python's library what is large. It is the table that `make size` prints.
`KRAFTOOL_REWRITE=1 pytest tests/commands/test_start.py` writes it, to be read in the diff;
`make bench-start` measures the time.
"""

from __future__ import annotations

import os

import pytest

from tests.commands.start_cases import CASES
from tools import size
from tools.size import Size, Start

pytestmark = pytest.mark.slow

MARGIN = 0.03
"""How far a number may be from the table's, either way. A change to a few modules stays within it;
a command with fewer than 34 modules may import no other one. A gain has to be written down, too, so
that it cannot be lost unnoticed."""
RENEW = "KRAFTOOL_REWRITE=1 pytest tests/commands/test_start.py"


def _outside(table: Size, now: Size) -> list[str]:
    """Return the numbers that are further from the table's than the margin."""
    return [
        f"{count} {what}, {'more' if count > listed else 'fewer'} than {listed} in the table"
        for what, listed, count in zip(Size._fields, table, now, strict=True)
        if abs(count - listed) > listed * MARGIN
    ]


@pytest.fixture(scope="module")
def table() -> dict[str, Start]:
    if os.environ.get("KRAFTOOL_REWRITE") == "1":
        assert not os.environ.get("CI"), "nothing is rewritten there"
        size.TABLE.write_text(f"{size.table({name: size.start(name) for name in CASES})}\n")
    return size.read(size.TABLE.read_text())


def test_the_table_has_every_command(table: dict[str, Start]) -> None:
    assert [*table] == [*CASES], RENEW


@pytest.mark.parametrize("name", CASES)
def test_a_command_imports_what_the_table_has(name: str, table: dict[str, Start]) -> None:
    now = size.start(name)
    outside = _outside(table[name].size, now.size)
    if outside:
        pytest.fail(
            f"{name} imports {'; '.join(outside)}. If it has to be so, renew the table: {RENEW}\n"
            f"{size.changes(name)}",
            pytrace=False,
        )
    assert now.packages == table[name].packages, RENEW


def test_a_margin_is_left_on_both_sides() -> None:
    table = Size(modules=200, lines=10_000, classes=100)
    assert _outside(table, Size(206, 10_300, 97)) == []
    assert _outside(table, Size(207, 10_301, 100)) == [
        "207 modules, more than 200 in the table",
        "10301 lines, more than 10000 in the table",
    ]
    assert _outside(table, Size(200, 9_699, 96)) == [
        "9699 lines, fewer than 10000 in the table",
        "96 classes, fewer than 100 in the table",
    ]
    small = Size(modules=32, lines=900, classes=9)
    assert _outside(small, small._replace(modules=33))


def test_a_table_is_read_as_it_was_written() -> None:
    starts = {
        "dump": Start(Size(184, 20_800, 320), ("orjson", "rich")),
        "version": Start(Size(15, 900, 9), ()),
    }
    assert size.read(size.table(starts)) == starts


def test_lines_are_counted_without_blank_ones_comments_and_docstrings() -> None:
    source = '''"""A module.

    Its second line.
    """

    # A comment.
    TEXT = """one

    three
    """  # counts as 3: a blank line is none
    """What TEXT is."""


    class Outer(
        object,
    ):
        """A class."""

        class Inner: ...  # in the other

        def text(self) -> str:
            "Return it."

            return (  # a comment
                # another one
                TEXT
            )
    '''
    source = source.replace("\n    ", "\n")
    assert size.count(source) == Size(modules=1, lines=3 + 3 + 1 + 1 + 3, classes=2)


def test_modules_that_came_left_or_changed_are_named_the_largest_first() -> None:
    then = {"left": Size(1, 30, 1), "same": Size(1, 90, 1), "grew": Size(1, 10, 1)}
    now = {"same": Size(1, 90, 1), "grew": Size(1, 15, 1), "came": Size(1, 400, 2)}
    assert size.changed_lines(then, now) == ["  +400 came new", "   -30 left gone", "    +5 grew"]


def test_no_command_waits_for_pydantic_or_another_command() -> None:
    packages = {name: size.start(name).packages for name in CASES}
    assert not [name for name in CASES if "pydantic" in packages[name]]
    assert not [name for name in CASES if name.startswith("dump") and "textual" in packages[name]]
    assert "kraftool.commands.dump" in size.imported("dump")
    assert "kraftool.commands.recover_plan" not in size.imported("dump")
    # What a script asks most often does not even wait for typer.
    assert {name for name in CASES if "typer" not in packages[name]} == {"version", "completion"}
