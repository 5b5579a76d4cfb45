"""Groups and commands as typer runs them: found by name, imported when one is named, explained.

Owns the layout of every help text. Which commands there are is in `command_table.py`; what a
parameter is, in `parameters.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from textwrap import wrap
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command as build

from kraftool.commands.command_table import (
    SECTIONS,
    SUBCOMMANDS,
    commands_below,
    near_names,
    place_of,
)
from kraftool.commands.help_text import PROGRAM, HelpText, keeps_its_lines, read_help
from kraftool.commands.parameters import plain

Context = typer.Context
_NAMES = 30
"""Columns of names; a longer one has a line of its own."""
SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class UnknownCommandError(typer.BadParameter):
    """A word that is no command, with those that may be meant."""

    def __init__(self, word: str, near: list[str], ctx: Context) -> None:
        super().__init__(f"no command {word!r}", ctx=ctx)
        self.near = near


class _Explained:
    """The help of commands and groups: usage, summary, examples, more, and then the options."""

    help: str | None
    params: list[Any]

    def adopt(self) -> None:
        """Let every parameter be one of ours."""
        self.params = [plain(parameter) for parameter in self.params]

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        text = read_help(self.help or "")
        _write_paragraph(text.summary, formatter)
        _write_examples(text, formatter)
        for paragraph in text.paragraphs:
            _write_paragraph(paragraph, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for title, kind in (("Arguments", "argument"), ("Options", "option")):
            records = [
                parameter.get_help_record(ctx)
                for parameter in ctx.command.get_params(ctx)
                if parameter.param_type_name == kind
            ]
            if any(records):
                with formatter.section(title):
                    _write_rows([record for record in records if record], formatter)


def _write_paragraph(text: str, formatter: Any) -> None:
    formatter.write_paragraph()
    lines = text.split("\n") if keeps_its_lines(text) else _wrapped(text, formatter.width - 2)
    for line in lines:
        formatter.write(f"  {line}\n")


def _write_examples(text: HelpText, formatter: Any) -> None:
    """Write each on a line of its own, however long: it is copied as it stands."""
    if text.examples:
        with formatter.section("Examples" if len(text.examples) > 1 else "Example"):
            for example in text.examples:
                formatter.write(f"  $ {example}\n")


def _write_rows(rows: list[tuple[str, str]], formatter: Any) -> None:
    """Write names, and beside them or on the next line what is said of them."""
    widest = min(max(len(name) for name, _ in rows), _NAMES)
    for name, help_text in rows:
        lines = _wrapped(help_text, formatter.width - widest - 4)
        if len(name) > widest:
            formatter.write(f"  {name}\n")
        else:
            formatter.write(f"  {name:{widest}}  {lines.pop(0) if lines else ''}".rstrip() + "\n")
        for line in lines:
            formatter.write(f"{'':{widest + 4}}{line}\n")


def _wrapped(text: str, width: int) -> list[str]:
    """Return lines of at most this width; no command and no option is broken at a hyphen."""
    return wrap(" ".join(text.split()), width, break_on_hyphens=False, break_long_words=False)


_VALUES_OF_BARE = {"--explain": "list"}
"""What an option means that comes without its value."""


def _with_values(words: list[str]) -> Iterator[str]:
    for number, word in enumerate(words, 1):
        yield word
        if word in _VALUES_OF_BARE and (number == len(words) or words[number].startswith("-")):
            yield _VALUES_OF_BARE[word]


class ExplainedCommand(_Explained, TyperCommand):
    """A command of ours."""

    def __init__(self, *args: Any, **values: Any) -> None:
        super().__init__(*args, **values)
        self.adopt()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(_with_values(args)))

    def get_params(self, ctx: Any) -> list[Any]:
        return [plain(parameter) for parameter in super().get_params(ctx)]


class ExplainedGroup(_Explained, TyperGroup):
    """Commands that are imported one by one, as they are named."""

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.adopt()

    def get_params(self, ctx: Any) -> list[Any]:
        return [plain(parameter) for parameter in super().get_params(ctx)]

    @property
    def words(self) -> tuple[str, ...]:
        return () if self.name == PROGRAM or not self.name else (self.name,)

    def list_commands(self, ctx: Any) -> list[str]:
        return [*commands_below(self.words)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands and cmd_name in commands_below(self.words):
            self.commands[cmd_name] = load((*self.words, cmd_name))
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if self.get_command(ctx, word) is None and not ctx.resilient_parsing:
            raise UnknownCommandError(word, near_names(word, self.words), ctx)
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, which are looked for, before the options."""
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        sections = {"Commands": commands_below(self.words)} if self.words else SECTIONS
        widest = max(len(name) for names in sections.values() for name in names)
        for title, summaries in sections.items():
            with formatter.section(title):
                for name, summary in summaries.items():
                    formatter.write(f"{'':{formatter.current_indent}}{name:{widest}}  {summary}\n")
        formatter.write_paragraph()
        of = " ".join((PROGRAM, "help", *self.words))
        formatter.write(f"`{of} COMMAND` explains one of them.\n")


def group_app(name: str, **values: Any) -> typer.Typer:
    """Return the app of a group, for its callback; without a command it shows its help."""
    values = {"no_args_is_help": True, "add_completion": False} | values
    if values.get("invoke_without_command"):
        del values["no_args_is_help"]
    return typer.Typer(
        name=name,
        cls=ExplainedGroup,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        **values,
    )


def load(words: tuple[str, ...]) -> Any:
    """Import the command that these words name, and nothing of the others."""
    module, function = place_of(words)
    imported = import_module(f"kraftool.commands.{module}")
    if words[-1] in SUBCOMMANDS and len(words) == 1:
        command = build(imported.app)
    else:
        from kraftool.commands.options import grouped

        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(words[-1], cls=ExplainedCommand)(grouped(getattr(imported, function)))
        command = build(app)
    command.short_help = commands_below(words[:-1])[words[-1]]
    return command
