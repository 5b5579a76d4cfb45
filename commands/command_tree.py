"""All commands as a tree, for what goes through all of them: man pages, completion, tests.

It imports every command, so that no command imports it. Typer carries its own click: commands and
parameters are met here by what they have and not by their class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kraftool.commands.help_text import PROGRAM


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandNode:
    """A command with the words that reach it (`quorum`, `describe`)."""

    words: tuple[str, ...]
    command: Any
    context: Any

    @property
    def page(self) -> str:
        return "-".join((PROGRAM, *self.words))

    @property
    def invocation(self) -> str:
        return " ".join((PROGRAM, *self.words))


def walk(command: Any, words: tuple[str, ...] = (), parent: Any = None) -> Iterator[CommandNode]:
    """The command and all below it that are not hidden, in the order of the help."""
    name = words[-1] if words else PROGRAM
    settings = command.context_settings
    context = command.context_class(command, info_name=name, parent=parent, **settings)
    yield CommandNode(words=words, command=command, context=context)
    for below in command.list_commands(context) if hasattr(command, "list_commands") else ():
        child = command.get_command(context, below)
        if not child.hidden:
            yield from walk(child, (*words, below), context)
