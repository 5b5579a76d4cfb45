"""Java's reading of numbers, uuids, lines and dates."""

from datetime import UTC, datetime

import pytest

from kraftool.decoders import java_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("+7", 7),
        ("-2147483648", -(2**31)),
        ("2147483647", 2**31 - 1),
        ("0000000000000000000000000000012", 12),
        ("٣", 3),
        ("2147483648", None),
        ("", None),
        ("-", None),
        (" 1", None),
        ("1\n", None),
        ("1_0", None),
        ("0x1", None),
        ("1.0", None),
        ("9" * 10_000, None),
    ],
)
def test_whole_numbers_are_those_of_parse_int(text: str, expected: int | None) -> None:
    assert java_text.read_int32(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("J8aAPcfLQt2bqs1JT_rMgQ", "J8aAPcfLQt2bqs1JT_rMgQ"),
        ("J8aAPcfLQt2bqs1JT_rMgQ==", "J8aAPcfLQt2bqs1JT_rMgQ"),
        ("AAAAAAAAAAAAAAAAAAAAAB", "AAAAAAAAAAAAAAAAAAAAAA"),
        ("J8aAPcfLQt2bqs1JT_rMgQ=", None),
        ("J8aAPcfLQt2bqs1JT+rMgQ", None),
        ("J8aAPcfLQt2bqs1JT_rMg", None),
        ("J8aAPcfLQt2bqs1JT_rMgQ\n", None),
        ("", None),
    ],
)
def test_uuids_are_those_of_kafka_and_have_one_spelling(text: str, expected: str | None) -> None:
    assert java_text.read_uuid(text) == expected


def test_lines_end_as_buffered_reader_ends_them() -> None:
    lines = [
        (line.number, line.position, line.text) for line in java_text.read_lines(b"a\r\nb\r\rc")
    ]
    assert lines == [(1, 0, "a"), (2, 3, "b"), (3, 5, ""), (4, 6, "c")]
    assert list(java_text.read_lines(b"")) == []
    assert len(list(java_text.read_lines(b"a\n"))) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a b", ["a", "b"]), (" a", ["", "a"]), ("a ", ["a"]), ("", [""]), (" ", []), ("ab", ["ab"])],
)
def test_splitting_is_that_of_java(text: str, expected: list[str]) -> None:
    assert java_text.split_white_space(text) == expected


def test_a_date_is_written_as_java_writes_it() -> None:
    moment = datetime(2026, 3, 1, 4, 5, 6, tzinfo=UTC)
    assert java_text.write_date(moment) == "Sun Mar 01 04:05:06 UTC 2026"


def test_surrogate_pairs_are_joined_and_halves_replaced() -> None:
    assert java_text.without_lone_surrogates("\ud83d\ude00") == "😀"
    assert java_text.without_lone_surrogates("a\ud83d") == "a\ufffd"
