"""Every message and version against Kafka's own Java classes.

`java/Messages.java` writes each message in each version with random values, as bytes and as the
JSON of Kafka's converter. Ours must read those bytes to their end, write the same bytes again and
print the same JSON. Seed 1 is always run; KRAFTOOL_SEED names another (by default one a day), and
a failure says with which seed and sample it is seen again.
"""

import json
import os
import re
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders import codec, schema, wire
from tests.interop import kafka

pytestmark = pytest.mark.interop

HERE = Path(__file__).resolve().parent
SAMPLES = 20
NO_VERSIONS = "no valid versions"
SHORTEST_DOUBLES_SINCE = 19
"""The JDK from which Double.toString prints no more digits than needed (JDK-4511638)."""


def _daily_seed() -> int:
    return int(os.environ.get("KRAFTOOL_SEED") or time.time() // 86_400)


@cache
def _written_by_kafka(
    version: str, seed: int, samples: int, names: str = ".*"
) -> tuple[int, list[dict[str, Any]]]:
    """Return the JDK that ran and what it wrote."""
    if problem := kafka.available(version):
        pytest.skip(problem)
    source = HERE / "java" / "Messages.java"
    done = kafka.run_source(version, source, str(seed), str(samples), names, check=True)
    # Not splitlines(): the JSON holds line separators of Unicode, unescaped.
    head, *lines = map(json.loads, done.stdout.decode().strip("\n").split("\n"))
    assert head["kafka"] == version
    return int(head["java"].split(".")[0]), lines


def _like_newer_java(text: str) -> str:
    """Rewrite the doubles that JDK 17 prints with more digits than needed, and only those."""

    def shortened(match: re.Match[str]) -> str:
        value, needed = float(match[1]), repr(float(match[1]))
        superfluous = len(_digits(match[1])) > max(2, len(_digits(needed)))
        return f":{wire.java_double(value)}" if superfluous else match[0]

    return re.sub(r":(-?\d+\.\d+(?:E-?\d+)?)(?=[,}])", shortened, text)


def _digits(number: str) -> str:
    return re.sub(r"[eE].*|[-.]", "", number).strip("0")


def _without_records(fields: tuple[schema.Field, ...], value: dict[str, Any]) -> None:
    """Kafka's converter prints an empty text for records that are not null; ours prints them."""
    for field in fields:
        inner = value.get(field.name)
        if field.element == "records" and inner is not None:
            value[field.name] = ""
        elif field.is_struct and inner is not None:
            for item in inner if field.is_array else [inner]:
                _without_records(field.fields, item)


def _mistakes(sample: dict[str, Any], jdk: int, *, json_too: bool = True) -> Iterator[str]:
    name, version, data = sample["name"], sample["version"], bytes.fromhex(sample["hex"])
    value, end = codec.decode(name, version, data)
    if end != len(data):
        yield f"decode stopped at {end} of {len(data)}: {data.hex()}"
    written = codec.encode(name, version, value)
    if written != data:
        yield f"encode wrote\n    {written.hex()}\n  where Kafka wrote\n    {data.hex()}"
    if not json_too:
        return
    json_value, end = codec.json_decoder(name, version)(data, 0)
    if end != len(data):
        yield f"json_decoder stopped at {end} of {len(data)}: {data.hex()}"
    _without_records(schema.message(name).fields, json_value)
    doubles = codec.has_doubles(name)
    text = codec.json_text(json_value, doubles=doubles).decode()
    expected = sample["text"]
    if doubles and jdk < SHORTEST_DOUBLES_SINCE:
        expected = _like_newer_java(expected)
    if text != expected:
        yield f"JSON is\n    {text}\n  where Kafka prints\n    {expected}\n  for {data.hex()}"


def _check(version: str, seed: int, samples: int) -> list[dict[str, Any]]:
    jdk, lines = _written_by_kafka(version, seed, samples)
    problems = []
    for sample in lines:
        if "hex" not in sample:
            continue
        where = f"{sample['name']} v{sample['version']} sample {sample['sample']}"
        try:
            # Fields of RPCs get new names now and then, which only their JSON shows.
            json_too = version == kafka.NEWEST or sample["kind"] in ("metadata", "data")
            mistakes = _mistakes(sample, jdk, json_too=json_too)
            problems += [f"{where}: {mistake}" for mistake in mistakes]
        except Exception as error:
            problems.append(f"{where}: {error!r} for {sample['hex']}")
    shown = "\n".join(problems[:10])
    assert not problems, f"{len(problems)} mistakes with Kafka {version}, seed {seed}:\n{shown}"
    return lines


def test_each_message_and_version_is_read_and_written_as_kafka_does() -> None:
    lines = _check(kafka.NEWEST, 1, SAMPLES)

    covered = {(line["name"], line["version"]) for line in lines if "hex" in line}
    catalogue = {(n, v) for n in schema.names() for v in schema.message(n).versions}
    assert covered == catalogue


def test_kafka_writes_all_samples_but_of_messages_without_versions() -> None:
    _, lines = _written_by_kafka(kafka.NEWEST, 1, SAMPLES)

    skipped = [line for line in lines if "skipped" in line]
    assert {line["skipped"] for line in skipped} == {NO_VERSIONS}
    assert not {line["name"] for line in skipped} & {
        name for name in schema.names() if schema.message(name).versions
    }


def _corners(fields: tuple[schema.Field, ...], value: dict[str, Any], path: str) -> Iterator[str]:
    """Name what of the fields' possibilities this value shows, as `PATH null` and so on."""
    if value.get("unknownTaggedFields"):
        yield f"{path} unknown tag"
    for field in fields:
        if field.name not in value:
            continue
        here, inner = f"{path}.{field.name}", value[field.name]
        yield f"{here} null" if inner is None else f"{here} set"
        if field.is_array and inner is not None:
            yield f"{here} elements" if inner else f"{here} empty"
        if field.is_struct and inner is not None:
            for item in inner if field.is_array else [inner]:
                yield from _corners(field.fields, item, here)


def _possible_corners(message: schema.MessageSchema) -> Iterator[str]:
    if message.flexible and message.versions.high in message.flexible:
        yield f"{message.name} unknown tag"
    fields = [(message.name, field) for field in message.fields]
    for path, field in fields:
        if not any(version in field.versions for version in message.versions):
            continue
        here = f"{path}.{field.name}"
        yield f"{here} set"
        if any(
            version in field.nullable and version in field.versions for version in message.versions
        ):
            yield f"{here} null"
        if field.is_array:
            yield from (f"{here} empty", f"{here} elements")
        fields += [(here, below) for below in field.fields]


def test_the_samples_reach_nulls_and_empty_arrays_and_unknown_tags_everywhere() -> None:
    _, lines = _written_by_kafka(kafka.NEWEST, 1, SAMPLES)

    reached: set[str] = set()
    for line in lines:
        if "hex" in line:
            name = line["name"]
            value, _ = codec.decode(name, line["version"], bytes.fromhex(line["hex"]))
            reached |= set(_corners(schema.message(name).fields, value, name))
    possible = {c for n in schema.names() for c in _possible_corners(schema.message(n))}
    assert sorted(possible - reached) == []


def test_other_values_each_day_are_read_and_written_as_kafka_does() -> None:
    seed = _daily_seed()
    print(f"KRAFTOOL_SEED={seed}")
    _check(kafka.NEWEST, seed, SAMPLES)


@pytest.mark.soak
def test_what_the_release_before_writes_is_read_and_written_the_same() -> None:
    _check("4.3.0", 1, 4)


def test_doubles_are_printed_as_java_does() -> None:
    jdk, lines = _written_by_kafka(kafka.NEWEST, 1, 1500, "ClientQuotaRecord")

    assert not [mistake for line in lines for mistake in _mistakes(line, jdk)]
