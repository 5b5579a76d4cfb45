"""The codec and the reference description are equal: on values, on bytes, and on damaged bytes.

Two readings of the catalogue, by different means, have to agree for every message, in the versions
that strategies.py samples (in `make soak`: in every version).
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kraftool.decoders import codec, schema, spec
from kraftool.decoders.errors import DecodeError
from kraftool.decoders.schema import Field
from kraftool.decoders.wire import JAVA_REPLACE
from tests.decoders.strategies import damaged, forms, sampled_versions, values, versions_to_try

pytestmark = pytest.mark.slow

NAMES = schema.names()
# A hundredth of what a profile gives a single property: there are 680 messages and versions.
EXAMPLES = max(settings().max_examples // 50, 3)
Value = dict[str, Any]


def for_the_versions(name: str, check: Callable[[int, st.DataObject], None]) -> None:
    for version in versions_to_try(name):
        _run(check, version)


def _run(check: Callable[[int, st.DataObject], None], version: int) -> None:
    @settings(
        max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None, deadline=None
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        check(version, data)

    run()


def outcome(
    read: Callable[[str, int, bytes], object], name: str, version: int, raw: bytes
) -> object:
    """What reading came to: a value and its end, or why, where and in which field it failed."""
    try:
        return read(name, version, raw)
    except DecodeError as error:
        return error.reason, error.position, error.path, error.expected, error.found


def test_the_sample_has_the_oldest_the_newest_and_each_form_of_a_field() -> None:
    for name in NAMES:
        versions = list(schema.message(name).versions)
        sample = sampled_versions(name)
        assert {*versions[:1], *versions[-1:]} <= set(sample) <= set(versions), name
        in_all = {form for version in versions for form in forms(name, version)}
        assert {form for version in sample for form in forms(name, version)} == in_all, name


def test_a_soak_tries_every_version_and_other_runs_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    for is_soak in (False, True):
        monkeypatch.setattr("tests.decoders.strategies._SOAK", is_soak)
        tried.append(sum(len(versions_to_try(name)) for name in NAMES))
    known = sum(len(list(schema.message(name).versions)) for name in NAMES)
    assert tried[0] < tried[1] == known


@pytest.mark.parametrize("name", NAMES)
def test_both_agree_on_values_and_on_damaged_bytes(name: str) -> None:
    def check(version: int, data: st.DataObject) -> None:
        value = data.draw(values(name, version))
        raw = codec.encode(name, version, value)
        assert spec.build(name, version, value) == raw
        assert codec.decode(name, version, raw) == (value, len(raw))
        assert spec.parse(name, version, raw) == (value, len(raw))
        annotation = spec.annotate(name, version, raw)
        assert annotation.value == value
        leaves = [leaf for span in annotation.spans for leaf in span.leaves()]
        assert b"".join(raw[leaf.start : leaf.end] for leaf in leaves) == raw
        assert codec.json_decoder(name, version)(raw, 0) == (
            json_form(schema.message(name).fields, version, value),
            len(raw),
        )
        for _ in range(3):
            broken = data.draw(damaged(name, version, raw))
            ours = outcome(codec.decode, name, version, broken)
            assert same(ours, outcome(spec.parse, name, version, broken))
            annotation = spec.annotate(name, version, broken)
            leaves = [leaf for span in annotation.spans for leaf in span.leaves()]
            read = b"".join(broken[leaf.start : leaf.end] for leaf in leaves)
            assert read == broken[: annotation.end]

    for_the_versions(name, check)


def same(ours: object, theirs: object) -> bool:
    """Equality under which NaN, which damage can make of a double, equals itself."""
    return ours == theirs or repr(ours) == repr(theirs)


def json_form(fields: tuple[Field, ...], version: int, value: Value) -> Value:
    """Kafka's JSON form of a value: bytes in base64, tagged fields where they say something."""
    form = {}
    for field in fields:
        if version not in field.versions:
            continue
        field_value = value[field.name]
        if field.is_tagged(version) and field_value == default(field, version):
            continue
        form[field.name] = json_value(field, version, field_value)
    return form


def json_value(field: Field, version: int, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return [json_value(field, version, item) for item in value]
    if isinstance(value, dict):
        return json_form(field.fields, version, value)
    if field.type == "records":
        return ""  # Kafka's converters leave batches out
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", JAVA_REPLACE)
    return value


def default(field: Field, version: int) -> Any:
    """A third reading of the defaults, from the catalogue's words."""
    if field.default == "null":
        return None
    if field.is_array:
        return []
    if field.is_struct:
        return {
            part.name: default(part, version) for part in field.fields if version in part.versions
        }
    zero: dict[str, Any] = {"string": "", "bytes": b"", "uuid": "A" * 22, "bool": False}
    if not field.default:
        return zero.get(field.type, 0)
    return field.default == "true" if field.type == "bool" else int(field.default, 0)


@pytest.mark.parametrize("name", NAMES)
def test_fields_that_are_left_out_take_their_defaults(name: str) -> None:
    message = schema.message(name)
    for version in message.versions:
        whole = {
            field.name: default(field, version)
            for field in message.fields
            if version in field.versions
        }
        whole = {key: 0.0 if value == 0.0 else value for key, value in whole.items()}
        refused = False
        try:
            raw = codec.encode(name, version, {})
        except codec.EncodeError:
            refused = True
            with pytest.raises(spec.SpecEncodeError):
                spec.build(name, version, {})
        if not refused:
            assert spec.build(name, version, {}) == raw
            assert codec.decode(name, version, raw)[0] == whole


@pytest.mark.parametrize("length", [0, 1, 31, 32, 64, 65, 126, 127, 128, 5_000])
def test_both_agree_on_lists_of_any_length(length: int) -> None:
    """Also where the bytes of a length or of a tagged field's size get one more."""
    ids, uuids = list(range(length)), ["_" * 21 + "w"] * length
    for name, value in (
        ("PartitionRecord", {"replicas": ids, "directories": uuids}),
        ("PartitionChangeRecord", {"replicas": ids, "directories": uuids}),
        ("AssignReplicasToDirsRequest", {"directories": [{"topics": [{}]}] * length}),
    ):
        version = schema.message(name).versions.high
        raw = codec.encode(name, version, value)
        assert spec.build(name, version, value) == raw
        decoded = codec.decode(name, version, raw)
        assert decoded == spec.parse(name, version, raw)
        assert codec.encode(name, version, decoded[0]) == raw
        broken = raw[:-1]
        cut = outcome(codec.decode, name, version, broken)
        assert cut == outcome(spec.parse, name, version, broken)


def test_unknown_tagged_fields_are_kept_in_their_order() -> None:
    value: codec.Value = {"brokerId": 1, "brokerEpoch": 2, "fenced": 1, "inControlledShutdown": 0}
    value |= {"logDirs": [], "unknownTaggedFields": [[3, b""], [99, b"\x01\x02"]]}
    raw = codec.encode("BrokerRegistrationChangeRecord", 2, value)
    assert raw.hex() == "00000001" + "0000000000000002" + "03" + "000101" + "0300" + "63020102"
    assert spec.build("BrokerRegistrationChangeRecord", 2, value) == raw
    assert codec.decode("BrokerRegistrationChangeRecord", 2, raw)[0] == value


@pytest.mark.parametrize(
    ("name", "version", "data", "reason", "position", "path"),
    [
        # topicId begins behind the string; half of it is there.
        ("TopicRecord", 0, "0261" + "00" * 8, "end", 2, "topicId"),
        ("TopicRecord", 0, "00", "null", 0, "name"),
        ("TopicRecord", 0, "0561", "end", 0, "name"),
        ("TopicRecord", 0, "ffffffffff01", "varint", 0, "name"),
        ("TopicRecord", 0, "0161" + "00" * 15, "end", 17, "taggedFields"),
        ("TopicRecord", 0, "01" + "00" * 16 + "01" + "05", "end", 18, "taggedFields"),
        ("TopicRecord", 0, "01" + "00" * 16 + "01" + "0502ff", "end", 18, "taggedFields"),
        ("FenceBrokerRecord", 0, "00000001" + "00" * 7, "end", 4, "epoch"),
        # fenced is one byte; the tag says two.
        ("BrokerRegistrationChangeRecord", 0, "00" * 12 + "0100020101", "size", 15, "fenced"),
        (
            "VotersRecord",
            0,
            "0000" + "02" + "00" * 20 + "02" + "0261" + "7f" + "00" * 9,
            "end",
            26,
            "voters[0].endpoints[0].host",
        ),
        ("VotersRecord", 0, "0000" + "7f" + "00" * 20, "end", 2, "voters"),
        ("FetchRequest", 4, "00" * 17 + "fffffffe", "negative", 17, "topics"),
        ("FetchRequest", 4, "00" * 17 + "ffffffff", "null", 17, "topics"),
    ],
)
def test_both_name_the_place_and_the_reason(
    name: str, version: int, data: str, reason: str, position: int, path: str
) -> None:
    raw = bytes.fromhex(data)
    for read in (codec.decode, spec.parse):
        with pytest.raises(DecodeError) as caught:
            read(name, version, raw)
        assert reason in caught.value.reason
        assert (caught.value.position, caught.value.path) == (position, path)


def test_a_message_is_read_from_any_position() -> None:
    raw = codec.encode("TopicRecord", 0, {"name": "orders"})
    value, end = spec.parse("TopicRecord", 0, b"junk" + raw, 4)
    assert (value, end) == codec.decode("TopicRecord", 0, b"junk" + raw, 4)
    assert value["name"] == "orders"
    assert end == 4 + len(raw)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"name": "a", "nmae": "b"}, "no such field"),
        ({"name": None}, "null"),
        ({"name": "a", "topicId": "short"}, "uuid"),
    ],
)
def test_both_refuse_a_value_that_does_not_fit(value: Value, why: str) -> None:
    with pytest.raises(codec.EncodeError):
        codec.encode("TopicRecord", 0, value)
    with pytest.raises(spec.SpecEncodeError, match=why):
        spec.build("TopicRecord", 0, value)


def test_both_refuse_a_field_that_the_version_would_lose() -> None:
    value = {"isr": [1], "directories": ["A" * 21 + "Q"]}
    for encode in (codec.encode, spec.build):
        encode("PartitionChangeRecord", 1, value)
        with pytest.raises((codec.EncodeError, spec.SpecEncodeError), match="directories"):
            encode("PartitionChangeRecord", 0, value)


def test_groups_of_an_annotation_are_tiled_by_their_parts() -> None:
    value = {"voters": [{"voterId": 1, "endpoints": [{"name": "C", "host": "h", "port": 1}]}] * 2}
    annotation = spec.annotate("VotersRecord", 0, codec.encode("VotersRecord", 0, value))
    waiting = list(annotation.spans)
    groups = 0
    while waiting:
        span = waiting.pop()
        if span.parts:
            groups += 1
            edges = [part.start for part in span.parts[1:]]
            assert edges == [part.end for part in span.parts[:-1]]
            assert (span.start, span.end) == (span.parts[0].start, span.parts[-1].end)
            waiting += span.parts
    assert groups == 6, "two voters, an endpoint and a feature range in each"


def test_an_annotation_ends_where_the_damage_begins() -> None:
    raw = codec.encode("TopicRecord", 0, {"name": "orders"})
    annotation = spec.annotate("TopicRecord", 0, raw[:-3])
    assert annotation.error is not None
    assert (annotation.error.path, annotation.end) == ("topicId", 7)
    assert [(span.path, span.type, span.value) for span in annotation.spans] == [
        ("name", "length (uvarint)", 6),
        ("name", "string", "orders"),
    ]


def test_doubles_keep_their_bits() -> None:
    for number in (0.0, -0.0, 1.5, math.inf, -math.inf, 5e-324):
        value = {"entity": [], "key": "k", "value": number, "remove": False}
        raw = codec.encode("ClientQuotaRecord", 0, value)
        assert raw == spec.build("ClientQuotaRecord", 0, value)
        assert str(codec.decode("ClientQuotaRecord", 0, raw)[0]["value"]) == str(number)
