"""Write decoders/schema/topic_configs.py: the configs of topics, as Kafka's ConfigDefs have them.

    python tools/topic_configs.py            regenerate
    python tools/topic_configs.py --check    say whether the committed file is what this writes

The newest release says what there is (`TopicConfigs.java`; needs Java, and Maven where a release is
not in the cache yet); the release before it says which of them are new.
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
SOURCE = ROOT / "tests" / "interop" / "java" / "TopicConfigs.java"
TARGET = ROOT / "decoders" / "schema" / "topic_configs.py"

HEADER = '''\
"""The configs of topics: their types, defaults, checks, and the broker's configs behind them.

Written by tools/topic_configs.py from Kafka {versions}.
"""

from __future__ import annotations

from typing import NamedTuple


class TopicConfig(NamedTuple):
    """One config of a topic, as Kafka's ConfigDef has it."""

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
    synonyms: tuple[tuple[str, int], ...] = ()
    """Broker configs that it takes its default from, each with how many of its units one is."""
    is_internal: bool = False
    """Not shown unless it was set."""
    since: str = ""
    """The release that brought it, where the one before lacks it."""


TOPIC_CONFIGS: dict[str, TopicConfig] = {{
'''

_RANGE = re.compile(r"\[(-?\d+),\.\.\.(?:,(-?\d+))?\](?: or (-?\d+))?")
_WORDS = re.compile(r"\[([A-Za-z0-9, ]+)\]")
_REPLICAS = re.compile(r"\[partitionId\]:\[brokerId\].*")


def check(text: str) -> dict[str, Any]:
    """What a validator says of itself, as fields of TopicConfig."""
    if not text:
        return {}
    if found := _RANGE.fullmatch(text):
        low, high, also = (part or "" for part in found.groups())
        return {"low": low, "high": high, "also": also}
    if found := _WORDS.fullmatch(text):
        return {"words": tuple(word.strip() for word in found[1].split(","))}
    if _REPLICAS.fullmatch(text):
        return {"is_replica_list": True}
    raise SystemExit(f"topic configs: a validator of a new kind: {text}")


def read(kafka: ModuleType, version: str) -> dict[str, dict[str, Any]]:
    done = kafka.run_source(version, SOURCE, check=True)
    lines = (json.loads(line) for line in done.stdout.decode().splitlines())
    return {line["name"]: line for line in lines}


def entry(line: dict[str, Any], since: str) -> str:
    fields = {
        **check(line["check"]),
        "synonyms": tuple(line["synonyms"].items()),
        "is_internal": line["internal"],
        "since": since,
    }
    shown = "".join(f", {name}={value!r}" for name, value in fields.items() if value)
    return f"    {line['name']!r}: TopicConfig({line['type']!r}, {line['default']!r}{shown}),\n"


def render(kafka: ModuleType) -> str:
    before, newest = kafka.VERSIONS[-2:]
    known = read(kafka, before)
    release = ".".join(newest.split(".")[:2])
    parts = [HEADER.format(versions=newest)]
    for name, line in read(kafka, newest).items():
        parts.append(entry(line, "" if name in known else release))
    text = "".join(parts) + "}\n"
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description="Write decoders/schema/topic_configs.py.")
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
            f"{TARGET.relative_to(ROOT)} is not fresh; run: python tools/topic_configs.py",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
