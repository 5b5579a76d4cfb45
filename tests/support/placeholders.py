"""The check that a printed command can be pasted: no word in it waits to be replaced."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kraftool.commands.command_table import SECTIONS

_PLACEHOLDER = re.compile(
    r"<[^<>]*>"  # <host>
    r"|(?<![\w./${-])(?!KT-|LOCALHOST:)[A-Z][A-Z_-]*[A-Z](?:_[a-z0-9]+|\.\.\.)?(?![\w./-]|://)"
)
_TOOL = re.compile(r"\s*\$ (?:sudo )?(?:kraftool|kafka-[a-z-]+|cp|mv|tar|rsync|scp) ")
_NAMES = "|".join(name for section in SECTIONS.values() for name in section)
_INLINE = re.compile(rf"\b(?:kraftool (?:{_NAMES}) |kafka-[a-z]+-?[a-z]* )[^,;.]*")


def placeholders(command: str) -> list[str]:
    """The placeholders in a command line. A comment may have them: no shell runs it."""
    return [] if command.lstrip().startswith("#") else _PLACEHOLDER.findall(command)


def assert_pasteable(commands: Iterable[str]) -> None:
    for command in commands:
        assert not placeholders(command), f"cannot be pasted as it is: {command}"


def assert_no_placeholder_printed(text: str) -> None:
    """Check the lines of an output that begin with `$`."""
    assert_pasteable(line for line in text.splitlines() if _TOOL.match(line))


def inline_placeholders(sentence: str) -> list[str]:
    """The placeholders of the commands that a sentence names."""
    return [word for match in _INLINE.finditer(sentence) for word in placeholders(match[0])]
