"""Paths and patterns of the shell's tree, and the layout of what ls, find and tree print.

The layout is compared with the real shell in tests/interop/test_shell.py.
"""

from __future__ import annotations

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.reports.state.shell import glob
from kraftool.reports.state.shell.glob import pattern_of, quoted, unquoted
from kraftool.reports.state.shell.nodes import Directory, Leaf, Node, fixed, in_order, leaf
from kraftool.reports.state.shell.paths import complete, find, written
from kraftool.reports.state.shell.walk import columns, find_lines, list_lines, tree_lines


def of(contents: dict[str, object]) -> Directory:
    """A directory of directories (dicts) and files (strings)."""

    def make(value: object) -> Node:
        return of(value) if isinstance(value, dict) else leaf(str(value))

    return fixed({name: partial(make, value) for name, value in contents.items()})


ROOT = of(
    {
        "alpha": {"beta": {"one": "1", "two": "2"}, "gamma": {}, "theta": {"three": "3"}},
        "zeta": {"a*b": "star", "aXb": "x", "a/b": "slash", r"u(a\(b)": "escaped", "..": "dots"},
        "file": "text",
    }
)


def paths(text: str, working: tuple[str, ...] = ()) -> list[str]:
    return [written(entry.path) for entry in find(ROOT, working, text)]


# --- paths ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/", "/"),
        ("", "/"),
        (".", "/"),
        ("alpha/beta/", "/alpha/beta"),
        ("//alpha///beta", "/alpha/beta"),
        ("alpha/./beta/../theta", "/alpha/theta"),
        ("nowhere/../file", "/file"),
        ("file/", "/file"),
    ],
)
def test_a_path_leads_to_its_node_however_it_is_spelled(text: str, path: str) -> None:
    assert paths(text) == [path]


def test_above_the_root_is_the_root() -> None:
    assert paths("..") == paths("/../..") == ["/"]
    assert paths("../../../file", ("alpha",)) == ["/file"]


def test_a_relative_path_starts_at_the_working_directory() -> None:
    assert paths("beta/one", ("alpha",)) == ["/alpha/beta/one"]
    assert paths("..", ("alpha", "beta")) == ["/alpha"]
    assert paths("/file", ("alpha",)) == ["/file"]


def test_what_is_not_there_is_not_found() -> None:
    for text in ("nowhere", "file/below", "alpha/beta/one/x", "*/nowhere", "Alpha"):
        assert paths(text) == []


def test_each_component_may_be_a_pattern_and_matches_come_in_order() -> None:
    assert paths("a*/*") == ["/alpha/beta", "/alpha/gamma", "/alpha/theta"]
    assert paths("alpha/{theta,beta}/*") == [
        "/alpha/beta/one",
        "/alpha/beta/two",
        "/alpha/theta/three",
    ]
    assert paths("*/beta/t?o") == ["/alpha/beta/two"]
    assert paths("f*/x") == []


def test_names_that_look_like_patterns_or_hold_slashes_can_be_reached() -> None:
    assert paths("zeta/a*b") == ["/zeta/a*b", "/zeta/a/b", "/zeta/aXb"]
    assert paths(r"zeta/a\*b") == ["/zeta/a*b"]
    assert [entry.name for entry in find(ROOT, (), "zeta/a?b")] == ["a*b", "a/b", "aXb"]
    assert paths(r"zeta/u(a\(b)") == [r"/zeta/u(a\(b)"]


def test_the_working_directory_is_no_pattern() -> None:
    assert paths(".", ("zeta", "a*b")) == ["/zeta/a*b"]
    assert paths(".", ("zeta", "..")) == ["/zeta/.."]


# --- patterns -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "matches", "others"),
    [
        ("*", ["", "a", "a.b", "a\nb"], []),
        ("a?c", ["abc", "a\U0001f980c"], ["ac", "abbc"]),
        ("a.c*", ["a.c", "a.cd"], ["abc"]),
        ("{alpha,beta}x", ["alphax", "betax"], ["alpha", "x"]),
        ("a,b*", ["a,bc"], ["a"]),
        (r"\**", ["*", "*x"], ["x*"]),
        ("[ab]*", ["[ab]"], ["a"]),
        ("{a*,b}", ["a", "ax", "b"], ["bx"]),
        ("a}*", ["a}"], ["a"]),
    ],
)
def test_a_pattern_matches(pattern: str, matches: list[str], others: list[str]) -> None:
    expression = pattern_of(pattern)
    assert expression is not None
    assert all(expression.fullmatch(name) for name in matches)
    assert not any(expression.fullmatch(name) for name in others)


def as_expression(pattern: str) -> re.Pattern[str]:
    """The same pattern in the notation of an engine that tries one way after the other."""
    return re.compile(
        pattern.translate({ord("*"): ".*", ord("?"): ".", ord("{"): "(?:", ord("}"): ")",
                           ord(","): "|"}),
        re.DOTALL,
    )  # fmt: skip


@given(
    st.lists(
        st.text("ab*?", max_size=4)
        | st.lists(st.text("ab*?", max_size=2), min_size=1, max_size=3).map(
            lambda members: f"{{{','.join(members)}}}"
        ),
        max_size=4,
    ).map("".join),
    st.lists(st.text("abc\n", max_size=8), min_size=1, max_size=20),
)
def test_patterns_match_as_expressions_do(pattern: str, names: list[str]) -> None:
    matcher = pattern_of(pattern)
    expression = as_expression(pattern)
    assert (matcher is None) == (not set(pattern) & set("*?{"))
    if matcher is None:
        return
    for name in names:
        assert matcher.fullmatch(name) == (expression.fullmatch(name) is not None)


@pytest.mark.parametrize(
    "pattern", ["*" * 40 + "x*y", "*a" * 40 + "b", "{a*,*a,a}" * 20 + "b", "{a,aa}" * 40 + "b"]
)
def test_a_pattern_that_could_fit_in_many_ways_does_not_take_for_ever(pattern: str) -> None:
    matcher = pattern_of(pattern)
    assert matcher is not None
    assert not matcher.fullmatch("a" * 2000)
    assert not matcher.fullmatch("ax" * 500)


def test_a_pattern_forgets_what_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glob, "_MOST_SEEN", 3)
    matcher = pattern_of("*a{b,c?}*d?*e")
    assert matcher is not None
    assert matcher.fullmatch("xxabyydze")
    assert matcher.fullmatch("xaczydze")
    assert not matcher.fullmatch("xaczydz")
    assert matcher.fullmatch("xxabyydze")


@pytest.mark.parametrize("text", ["plain", "{open", "{a,{b}}", r"\*", "a,b}", "[a-z]", "a\\"])
def test_what_is_malformed_or_has_no_pattern_is_literal(text: str) -> None:
    assert pattern_of(text) is None


@pytest.mark.parametrize(
    "name", ["plain", "a*b", "{x}", "a?\\b", r"u(a\(b)", r"u(a\(*)", "\\", "a\x1b\u202e\\(b"]
)
def test_a_quoted_name_is_found_by_itself(name: str) -> None:
    root = of({name: "it", "axb": "another"})
    assert [entry.name for entry in find(root, (), quoted(name))] == [name]


def test_a_quoted_name_has_nothing_that_acts_on_a_terminal() -> None:
    assert quoted("a\x1b[31m\u202e\nb\U0001f980*") == "a?[31m??b\U0001f980\\*"


def test_a_backslash_before_anything_is_taken_off() -> None:
    assert unquoted(r"a\*b\\c") == r"a*b\c"
    assert unquoted("end\\") == "end\\"


# --- completion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("", ["alpha/", "file", "zeta/"]),
        ("f", ["file"]),
        ("/al", ["/alpha/"]),
        ("alpha/", ["alpha/beta/", "alpha/gamma/", "alpha/theta/"]),
        ("alpha/b", ["alpha/beta/"]),
        ("./alpha/../fi", ["./alpha/../file"]),
        ("alpha/beta/t", ["alpha/beta/two"]),
        ("..", ["../"]),
        ("x", []),
        ("file/", []),
        ("zeta/a", [r"zeta/a\*b", "zeta/aXb"]),
    ],
)
def test_a_path_is_completed_and_a_directory_ends_with_a_slash(
    text: str, candidates: list[str]
) -> None:
    assert complete(ROOT, (), text) == candidates


def test_completion_follows_the_working_directory_and_may_leave_files_out() -> None:
    assert complete(ROOT, ("alpha",), "b") == ["beta/"]
    assert complete(ROOT, (), "", directories_only=True) == ["alpha/", "zeta/"]


# --- layout ---------------------------------------------------------------------------------------


def test_tree_indents_each_level_by_two() -> None:
    lines = list(tree_lines(of({"b": {"c": "1"}, "a": "2", "e": {}})))
    assert lines == ["a:", "  2", "b:", "  c:", "    1", "e:"]
    assert list(tree_lines(leaf("x"))) == ["x"]


def test_find_begins_with_the_path_as_it_was_given() -> None:
    node = of({"b": {"c": "1"}, "a": "2"})
    assert list(find_lines(node, "x/.")) == ["x/.", "x/./a", "x/./b", "x/./b/c"]
    assert list(find_lines(node, "/")) == ["/", "/a", "/b", "/b/c"]


def listing(*texts: str, width: int | None = None) -> list[str]:
    entries = [entry for text in texts for entry in find(ROOT, (), text)]
    return list(list_lines(entries, width))


def test_ls_lists_files_first_and_gives_headings_where_there_are_several() -> None:
    assert listing("alpha") == ["beta", "gamma", "theta"]
    assert listing("file") == ["file"]
    assert listing("alpha/theta", "file") == ["file", "", "theta:", "three"]
    both = ["beta:", "one", "two", "", "theta:", "three"]
    assert listing("alpha/beta", "alpha/theta") == both
    assert listing("alpha/gamma") == []
    # An empty directory has no heading, as in Kafka's.
    assert listing("alpha/*") == ["beta:", "one", "two", "", "theta:", "three"]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (None, ["a", "bb", "ccc", "dddd", "e"]),
        (4, ["a", "bb", "ccc", "dddd", "e"]),
        (12, ["a    dddd", "bb   e", "ccc"]),
        (20, ["a   ccc   e", "bb  dddd"]),
        (80, ["a  bb  ccc  dddd  e"]),
    ],
)
def test_columns_fit_the_width_and_are_read_downwards(width: int | None, lines: list[str]) -> None:
    assert list(columns(["a", "bb", "ccc", "dddd", "e"], width)) == lines


def test_a_name_that_does_not_fit_still_stands_in_one_column() -> None:
    assert list(columns(["x" * 50, "y"], 20)) == ["x" * 50, "y"]
    assert list(columns([], 80)) == []


def test_columns_go_by_the_measure_of_the_terminal() -> None:
    wide = ["\u6570", "b", "c", "d"]
    assert list(columns(wide, 8, len)) == ["\u6570  c", "b  d"]
    assert list(columns(wide, 8, lambda name: 2 if ord(name) > 255 else 1)) == [
        "\u6570  c",
        "b   d",
    ]


def test_names_are_in_javas_order() -> None:
    assert in_order(["b", "B", "10", "9", "a"]) == ["10", "9", "B", "a", "b"]
    assert in_order(["\uffee", "\U0001f980"]) == ["\U0001f980", "\uffee"]


def test_the_children_of_a_directory_are_made_when_they_are_asked_for() -> None:
    made: list[str] = []

    def child(name: str) -> Leaf:
        made.append(name)
        return leaf(name)

    root = Directory(lambda: map(str, range(1_000_000)), child)
    assert [entry.name for entry in find(root, (), "77")] == ["77"]
    assert next(iter(find(root, (), "77777?"))).name == "777770"
    assert made == ["77", "777770"]
