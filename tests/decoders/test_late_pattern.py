"""A late pattern finds what a compiled one finds, and is compiled when it is first used."""

from __future__ import annotations

import copy
import re
from operator import attrgetter

import pytest

from kraftool.decoders.late_pattern import late_pattern


def test_a_late_pattern_finds_what_a_compiled_one_finds() -> None:
    late, compiled = late_pattern(r"(a)|\d+", re.IGNORECASE), re.compile(r"(a)|\d+", re.IGNORECASE)
    for _ in range(2):
        for text in ("xA1", "", "22"):
            assert late.sub("-", text) == compiled.sub("-", text)
            assert late.findall(text) == compiled.findall(text)
            assert bool(late.match(text)) == bool(compiled.match(text))
        assert (late.pattern, late.flags) == (compiled.pattern, compiled.flags)
    assert late_pattern(rb"\d").split(b"a1b") == [b"a", b"b"]
    assert copy.copy(late).fullmatch("12")


def test_a_pattern_is_compiled_at_its_first_use_and_never_before() -> None:
    wrong = late_pattern("(")
    with pytest.raises(re.error):
        wrong.match("")
    with pytest.raises(AttributeError):
        attrgetter("nothing")(late_pattern("a"))
