"""The primitives, against values worked out by hand and by Kafka."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.decoders import wire


@given(st.integers(-(2**31), 2**31 - 1))
def test_varints_read_back(value: int) -> None:
    data = wire.varint(value)
    assert wire.read_varint(data, 0) == (value, len(data))
    assert len(data) <= 5


@given(st.integers(-(2**63), 2**63 - 1))
def test_varlongs_read_back(value: int) -> None:
    data = wire.varlong(value)
    assert wire.read_varlong(data, 0) == (value, len(data))
    assert len(data) <= 10


@pytest.mark.parametrize(
    ("value", "data"),
    [(0, "00"), (1, "02"), (-1, "01"), (63, "7e"), (64, "8001"), (-65, "8101")],
)
def test_varints_are_zig_zag(value: int, data: str) -> None:
    assert wire.varint(value).hex() == data


def test_a_varint_of_six_bytes_is_refused() -> None:
    with pytest.raises(wire.Malformed) as caught:
        wire.read_unsigned_varint(b"\xff" * 5 + b"\x01", 0)
    assert caught.value.reason == wire.VARINT


def test_uuids_are_kafkas_base64() -> None:
    # The metadata topic's id, as Kafka prints it.
    raw = bytes(15) + b"\x01"
    assert wire.UUID_TEXT[raw] == "AAAAAAAAAAAAAAAAAAAAAQ"
    assert wire.UUID_BYTES["AAAAAAAAAAAAAAAAAAAAAQ"] == raw


@given(st.binary(min_size=16, max_size=16))
def test_uuids_read_back(raw: bytes) -> None:
    assert wire.UUID_BYTES[wire.UUID_TEXT[raw]] == raw


@pytest.mark.parametrize(
    ("value", "text"),
    # What JDK 19 and later print; see Double.toString's specification for the bounds.
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (100.0, "100.0"),
        (0.001, "0.001"),
        (9.99e-4, "9.99E-4"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (12345678.0, "1.2345678E7"),
        (1e16, "1.0E16"),
        (1.5e300, "1.5E300"),
        (-2.5e-10, "-2.5E-10"),
        (123456789012345680.0, "1.2345678901234568E17"),
    ],
)
def test_doubles_are_written_as_java_writes_them(value: float, text: str) -> None:
    assert wire.java_double(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_written_as_java_does_reads_back(value: float) -> None:
    assert float(wire.java_double(value)) == value


@pytest.mark.parametrize(
    ("raw", "characters"),
    # What OpenJDK 17's new String(bytes, UTF_8) made of them.
    [
        ("eda080", "fffd"),
        ("e08080", "fffd fffd fffd"),
        ("eda0", "fffd"),
        ("ed", "fffd"),
        ("61eda080eda08062", "0061 fffd fffd 0062"),
        ("c1bf", "fffd fffd"),
        ("e282", "fffd"),
        ("f4908080", "fffd fffd fffd fffd"),
        ("eda0c3a9", "fffd 00e9"),
        ("ed80", "fffd"),
        ("ed41", "fffd 0041"),
        ("edc3a9", "fffd 00e9"),
    ],
)
def test_invalid_utf8_is_replaced_as_java_replaces_it(raw: str, characters: str) -> None:
    text = bytes.fromhex(raw).decode("utf-8", wire.JAVA_REPLACE)
    assert " ".join(f"{ord(character):04x}" for character in text) == characters
