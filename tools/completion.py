"""Writes commands/generated/completion_table.py from the commands: what completion offers.

Owns the form of the table, and which values an option takes where its type does not say so.

    python -m tools.completion            write the table
    python -m tools.completion --check    exit 1 and say how to renew it if it is not fresh
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from typer.main import get_command

from kraftool.commands.app import app
from kraftool.commands.command_tree import CommandNode, walk

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "commands" / "generated" / "completion_table.py"
RENEW = "make man"

HEAD = '''"""The words that completion offers: commands, their options, and the values of these.

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
    """Return the module's text, which has each list of values and each shared option once."""
    lists: dict[tuple[str, ...], str] = {}
    options = {" ".join(node.words): _options(node, lists) for node in walk(get_command(app))}
    counts = Counter(chain.from_iterable(options.values()))
    names = _names([option for option, count in counts.items() if count > 1])
    return "".join(
        [
            HEAD,
            *(f"{name} = {values!r}\n" for values, name in lists.items()),
            *(f"{name} = {option}\n" for option, name in names.items()),
            "\nCOMMANDS = {\n",
            *(line for words, of_one in options.items() for line in _command(words, of_one, names)),
            "}\n",
        ]
    )


def _options(node: CommandNode, lists: dict[tuple[str, ...], str]) -> list[str]:
    """Return each option of a command as it is in the table."""
    options = []
    for option in node.command.get_params(node.context):
        if option.param_type_name == "option" and not option.hidden:
            values = values_of(option)
            where = repr(values) if not values else lists.setdefault(values, f"_{len(lists)}")
            names = tuple(name for names in option.names() for name in names)
            words = " ".join((option.help or "").split())
            options.append(f"({names!r}, {words!r}, {where}, {option.multiple!r})")
    return options


def _names(options: Iterable[str]) -> dict[str, str]:
    """Return a name for each option: `_color`, and `_color_2` for another of that name."""
    names: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for option in options:
        typed = option.partition(")")[0]
        name = "_" + re.findall(r"--?([a-zA-Z-]+)", typed)[-1].replace("-", "_")
        taken[name] += 1
        names[option] = name if taken[name] == 1 else f"{name}_{taken[name]}"
    return names


def _command(words: str, options: Iterable[str], names: Mapping[str, str]) -> Iterator[str]:
    yield f"    {words!r}: (\n"
    for is_named, group in groupby(options, names.__contains__):
        if is_named:
            yield f"        {', '.join(names[option] for option in group)},\n"
        else:
            yield from (f"        {option},\n" for option in group)
    yield "    ),\n"


def main(arguments: Sequence[str]) -> int:
    wanted = table()
    fresh = TABLE.exists() and TABLE.read_text(encoding="utf-8") == wanted
    if "--check" in arguments:
        if not fresh:
            print(f"completion: not fresh; renew it with: {RENEW}", file=sys.stderr)
        return 0 if fresh else 1
    if not fresh:
        TABLE.write_text(wanted, encoding="utf-8")
        print(f"commands/generated/{TABLE.name}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
