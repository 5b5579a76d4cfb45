"""Write decoders/schema/resource_configs.py: configs of topics, groups and brokers by ConfigDefs.

    python tools/resource_configs.py            regenerate
    python tools/resource_configs.py --check    say whether the committed file is what this writes

The newest release says what there is (`ResourceConfigs.java`; needs Java, and Maven where a
release is not in the cache yet); the release before it says which of them are new.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "tests" / "interop" / "java" / "ResourceConfigs.java"
TARGET = ROOT / "decoders" / "schema" / "resource_configs.py"

HEADER = '''\
"""The configs of topics and groups: types, defaults, checks, and the broker's configs behind them;
and the types and defaults of the configs of brokers and controllers.

Written by tools/resource_configs.py from Kafka {versions}.
"""

from __future__ import annotations

from typing import NamedTuple


class ResourceConfig(NamedTuple):
    """One config of a topic or of a group, as Kafka's ConfigDef has it."""

    type: str
    default: str | None
    low: str = ""
    """The least number; empty: any."""
    high: str = ""
    words: tuple[str, ...] = ()
    """All that it may be, or that may stand in a list."""
    also: str = ""
    """A number outside the range that is right, too."""
    is_replica_list: bool = False
    """A list of PARTITION:BROKER, or *."""
    may_be_duration: bool = False
    """One of the words, or by_duration: and a duration."""
    synonyms: tuple[tuple[str, int], ...] = ()
    """Broker configs that it takes its default from, each with how many of its units one is."""
    least: tuple[str, str] | None = None
    """The broker config that says the least number, and its default."""
    most: tuple[str, str] | None = None
    is_internal: bool = False
    """Not shown unless it was set."""
    since: str = ""
    """The release that brought it, where the one before lacks it."""


class ServerConfig(NamedTuple):
    """One config of brokers and controllers."""

    type: str
    default: str | None
    is_dynamic: bool = False
    """It can be changed while the node runs."""
    is_internal: bool = False
    """Not shown unless it was set."""


TOPIC_CONFIGS: dict[str, ResourceConfig] = {{
'''
GROUPS = "GROUP_CONFIGS: dict[str, ResourceConfig] = {\n"
NODES = "NODE_CONFIGS: dict[str, ServerConfig] = {\n"

_RANGE = re.compile(r"\[(-?\d+),\.\.\.(?:,(-?\d+))?\](?: or (-?\d+))?")
_WORDS = re.compile(r"\[([A-Za-z0-9_, ]+)\]")
_OR_DURATION = ", by_duration:PnDTnHnMn.nS]"
_REPLICAS = re.compile(r"\[partitionId\]:\[brokerId\].*")


def check(text: str) -> dict[str, Any]:
    """What a validator says of itself, as fields of ResourceConfig."""
    if not text:
        return {}
    if match := _RANGE.fullmatch(text):
        low, high, also = (part or "" for part in match.groups())
        return {"low": low, "high": high, "also": also}
    if text.endswith(_OR_DURATION):
        return check(text.replace(_OR_DURATION, "]")) | {"may_be_duration": True}
    if match := _WORDS.fullmatch(text):
        return {"words": tuple(word.strip() for word in match[1].split(","))}
    if _REPLICAS.fullmatch(text):
        return {"is_replica_list": True}
    raise SystemExit(f"topic configs: a validator of a new kind: {text}")


def read(kafka: ModuleType, version: str) -> dict[tuple[str, str], dict[str, Any]]:
    """By resource and name."""
    done = kafka.run_source(version, SOURCE, check=True)
    lines = (json.loads(line) for line in done.stdout.decode().splitlines())
    return {(line["resource"], line["name"]): line for line in lines}


def entry(line: dict[str, Any], since: str) -> str:
    fields = {
        **check(line["check"]),
        "synonyms": tuple(line["synonyms"].items()),
        "least": tuple(line.get("bounds", {}).get("min", ())),
        "most": tuple(line.get("bounds", {}).get("max", ())),
        "is_internal": line["internal"],
        "since": since,
    }
    shown = "".join(f", {name}={value!r}" for name, value in fields.items() if value)
    return f"    {line['name']!r}: ResourceConfig({line['type']!r}, {line['default']!r}{shown}),\n"


def node_entry(line: dict[str, Any]) -> str:
    fields = {"is_dynamic": line["dynamic"], "is_internal": line["internal"]}
    shown = "".join(f", {name}={value!r}" for name, value in fields.items() if value)
    return f"    {line['name']!r}: ServerConfig({line['type']!r}, {line['default']!r}{shown}),\n"


def render(kafka: ModuleType) -> str:
    before, newest = kafka.VERSIONS[-2:]
    known = read(kafka, before)
    release = ".".join(newest.split(".")[:2])
    parts = {"topic": [HEADER.format(versions=newest)], "group": [GROUPS]}
    nodes = [NODES]
    for (resource, name), line in read(kafka, newest).items():
        if resource in parts:
            parts[resource].append(entry(line, "" if (resource, name) in known else release))
        elif resource == "broker":
            nodes.append(node_entry(line))
    tables = (*parts.values(), nodes)
    text = "\n\n".join("".join(table) + "}\n" for table in tables)
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description="Write decoders/schema/resource_configs.py.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    is_check: bool = parser.parse_args().check
    sys.path.insert(0, str(ROOT))
    kafka = importlib.import_module("tests.interop.kafka")
    if problem := kafka.available(*kafka.VERSIONS[-2:]):
        print(f"topic configs: {problem}", file=sys.stderr)
        return 1
    text = render(kafka)
    if not is_check:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        print(
            f"{TARGET.relative_to(ROOT)} is not fresh; run: python tools/resource_configs.py",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
