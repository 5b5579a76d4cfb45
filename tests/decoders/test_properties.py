r"""Java's .properties syntax.

What Java makes of the nasty cases was taken from java.util.Properties of OpenJDK 17 (200,000 random
files agreed as well).
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import properties
from kraftool.decoders.errors import KraftoolError

NASTY = (
    b"# comment with a trailing backslash \\\n"
    b"! another\n"
    b"\n"
    b"plain=1\n"
    b"  indented : 2\n"
    b"blank 3\n"
    b"empty\n"
    b"empty.value=\n"
    b"continued=a,\\\n"
    b"    b,\\\r\n"
    b"\t#c\n"
    b"even=back\\\\\n"
    b"odd\\=key\\ with\\:all=v\n"
    b"tabs\\tand\\nlines=\\r\\f\\q\n"
    b"unicode=\\u00e9\\u20ac\\ud83d\\ude00\n"
    b"latin=\xe9\n"
    b"spaces=trailing stays  \n"
    b"twice==\n"
    b"ends\r"
    b"mac=yes\\\r"
    b"!no comment\r"
    b"last=\\"
)


def test_a_nasty_file_reads_as_java_reads_it() -> None:
    loaded, findings = properties.decode(NASTY)
    assert loaded.as_dict() == {
        "plain": "1",
        "indented": "2",
        "blank": "3",
        "empty": "",
        "empty.value": "",
        "continued": "a,b,#c",
        "even": "back\\",
        "odd=key with:all": "v",
        "tabs\tand\nlines": "\r\fq",
        "unicode": "é€😀",
        "latin": "é",
        "spaces": "trailing stays  ",
        "twice": "=",
        "ends": "",
        "mac": "yes!no comment",
        "last": "",
    }
    assert findings == ()
    assert loaded.comments == (" comment with a trailing backslash \\", " another")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\\", {"": ""}),
        (b"\\\n", {"": ""}),
        (b"\\\r\n", {}),
        (b"\\\n\n", {}),
        (b"\\\n  #b", {}),
        (b"\\\n  a", {"a": ""}),
        (b"a\\\n\nb", {"a": "", "b": ""}),
        (b"a\\\n\\\n  b", {"ab": ""}),
        (b"=v", {"": "v"}),
        (b"a \t= \f b", {"a": "b"}),
        (b"a = = b", {"a": "= b"}),
        (b"a\x0bb", {"a\x0bb": ""}),
        (b"a\\", {"a": ""}),
        (b"a=b\\", {"a": "b"}),
    ],
)
def test_corners_read_as_java_reads_them(data: bytes, expected: dict[str, str]) -> None:
    loaded, _ = properties.decode(data)
    assert loaded.as_dict() == expected


@pytest.mark.parametrize("escape", [b"\\u", b"\\u12", b"\\u12g4", b"\\uu0041", b"\\u 041"])
def test_a_broken_unicode_escape_is_refused_and_the_rest_is_still_read(escape: bytes) -> None:
    loaded, findings = properties.decode(b"a=1\nb=" + escape + b"\nc=3\n")
    assert not loaded.accepted
    assert (loaded.get("a"), loaded.get("c")) == ("1", "3")
    assert (findings[0].position, findings[0].path) == (4, "line 2")


def test_duplicates_are_reported_and_the_last_one_counts() -> None:
    loaded, findings = properties.decode(b"node.id=1\nx=0\nnode.id=2\n")
    assert loaded.get("node.id") == "2"
    assert [entry.value for entry in loaded.entries] == ["1", "0", "2"]
    assert [(finding.path, finding.position) for finding in findings] == [("node.id", 14)]
    assert loaded.accepted


def test_an_entry_knows_the_line_where_it_starts() -> None:
    loaded, _ = properties.decode(b"#\n\na=1,\\\n 2\nb=3\n")
    assert [(entry.key, entry.line, entry.position) for entry in loaded.entries] == [
        ("a", 3, 3),
        ("b", 5, 12),
    ]


def test_a_huge_file_is_read_up_to_a_bound() -> None:
    loaded, findings = properties.decode(b"a=1\n" + b"#" * (2 << 20))
    assert not loaded.accepted
    assert loaded.get("a") == "1"
    assert findings[0].position == properties.MAX_BYTES


def test_long_runs_of_backslashes_take_no_more_than_linear_time() -> None:
    # A backtracking search would need minutes for this.
    loaded, _ = properties.decode(b"\\" * 500_000 + b"a")
    assert list(loaded.as_dict()) == ["\\" * 250_000 + "a"]


def test_zeros_read_as_a_key_are_reported() -> None:
    loaded, findings = properties.decode(bytes(100))
    assert loaded.accepted
    assert "control characters" in findings[0].reason


def test_half_a_surrogate_pair_can_be_printed() -> None:
    loaded, _ = properties.decode(b"a=\\ud83d!\n")
    assert loaded.get("a") == "\ufffd!"


def test_writing_escapes_as_java_does() -> None:
    # What Properties.store of OpenJDK 17 wrote for the same key and value.
    written = properties.encode([(" a b=:#!\\", "  x y=:#!\\\t\n\r\f")], comments=["c"])
    assert written == b"#c\n\\ a\\ b\\=\\:\\#\\!\\\\=\\  x y\\=\\:\\#\\!\\\\\\t\\n\\r\\f\n"


def test_what_would_come_back_different_is_not_written() -> None:
    with pytest.raises(KraftoolError):
        properties.encode([("a", "é")])


ascii_text = st.text(st.characters(max_codepoint=127), max_size=10)


@given(st.dictionaries(ascii_text, ascii_text, max_size=5))
def test_what_is_written_comes_back(values: dict[str, str]) -> None:
    loaded, _ = properties.decode(properties.encode(values.items(), comments=["x"]))
    assert loaded.accepted
    assert loaded.as_dict() == values


@given(st.binary(max_size=100))
def test_random_bytes_never_raise(data: bytes) -> None:
    loaded, findings = properties.decode(data)
    assert loaded.accepted or findings
    "".join(loaded.as_dict()).encode("utf-8")
