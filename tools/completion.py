"""Writes commands/generated/completion_table.py from the commands: what completion offers.

Owns the form of the table, and which values an option takes where its type does not say so.

    python -m tools.completion            write the table
    python -m tools.completion --check    exit 1 and say how to mend it when it is not fresh
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from typer.main import get_command

from kraftool.commands.app import app
from kraftool.commands.command_tree import CommandNode, walk

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "commands" / "generated" / "completion_table.py"
MEND = "make man"

HEAD = '''"""What completion offers: commands, their options, and the values of these.

Written by tools/completion.py: make man.
"""

'''


def _releases() -> tuple[str, ...]:
    from kraftool.image.metadata_version import (
        LATEST_LEVEL,
        OLDEST_KRAFT_LEVEL,
        level_name,
        release_of,
    )

    levels = range(LATEST_LEVEL, OLDEST_KRAFT_LEVEL - 1, -1)
    return tuple(
        dict.fromkeys(name for level in levels for name in (release_of(level), level_name(level)))
    )


def _record_types() -> tuple[str, ...]:
    from kraftool.decoders import schema
    from kraftool.decoders.control import ControlRecordType

    return (*schema.names("metadata"), *(kind.label for kind in ControlRecordType))


def _codes() -> tuple[str, ...]:
    from kraftool.reports.doctor.explain import codes

    return tuple(sorted(codes()))


def _views() -> tuple[str, ...]:
    from kraftool.tui.views import VIEWS

    return tuple(view.name for view in VIEWS)


def _file_kinds() -> tuple[str, ...]:
    from kraftool.decoders.kinds import FileKind

    return tuple(kind.value for kind in FileKind if kind is not FileKind.UNKNOWN)


def _events() -> tuple[str, ...]:
    from kraftool.reports.timeline.events import Category

    return tuple(category.value for category in Category)


VALUES = {
    ("--type", "T"): _record_types,
    ("--explain", "CODE"): lambda: ("list", *_codes()),
    ("--ignore", "CODE,…"): _codes,
    ("--view", "NAME"): _views,
    ("--to", "RELEASE"): _releases,
    ("--release-version", "RELEASE"): _releases,
    ("--assume-nodes", "RELEASE"): _releases,
    ("--to", "SINK"): lambda: ("console", "parquet:", "kafka:"),
    ("--as", "KIND"): _file_kinds,
    ("--only", "KIND,…"): _events,
}
"""By an option's name and what its help calls the value."""


def values_of(option: Any) -> tuple[str, ...] | None:
    """Return the words that an option takes: None for a flag, and none where it takes any word."""
    if not option.value_name():
        return None
    if option.choices():
        return tuple(option.choices())
    listed = VALUES.get((option.names()[0][-1], option.value_name()))
    if listed is not None:
        return tuple(listed())
    words = option.value_name().split("|")
    return tuple(words) if len(words) > 1 and all(map(str.islower, words)) else ()


def table() -> str:
    """Return the module's text."""
    nodes = list(walk(get_command(app)))
    lists: dict[tuple[str, ...], str] = {}
    body = [*_commands(nodes, lists)]
    named = [f"{name} = {values!r}\n" for values, name in lists.items()]
    return "".join([HEAD, *named, "\nCOMMANDS = {\n", *body, "}\n"])


def _commands(nodes: Sequence[CommandNode], lists: dict[tuple[str, ...], str]) -> Iterator[str]:
    for node in nodes:
        yield f"    {' '.join(node.words)!r}: (\n"
        for option in node.command.get_params(node.context):
            if option.param_type_name == "option" and not option.hidden:
                values = values_of(option)
                where = repr(values) if not values else lists.setdefault(values, f"_{len(lists)}")
                names = tuple(name for names in option.names() for name in names)
                said = " ".join((option.help or "").split())
                yield f"        ({names!r}, {said!r}, {where}, {option.multiple!r}),\n"
        yield "    ),\n"


def main(arguments: Sequence[str]) -> int:
    wanted = table()
    fresh = TABLE.exists() and TABLE.read_text(encoding="utf-8") == wanted
    if "--check" in arguments:
        if not fresh:
            print(f"completion: not fresh; mend it with: {MEND}", file=sys.stderr)
        return 0 if fresh else 1
    if not fresh:
        TABLE.write_text(wanted, encoding="utf-8")
        print(f"commands/generated/{TABLE.name}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
