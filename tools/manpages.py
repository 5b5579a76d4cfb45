"""Writes man/*.1 from the commands' own help, so that neither can say what the other does not.

Owns the form of a man page; what it says comes from the typer app, the exit-code enum and the
parameters' help. It refuses to hold prose about a single command: that belongs into its help.

    python tools/manpages.py            write man/*.1, remove pages of commands that are gone
    python tools/manpages.py --check    exit 1 and say how to mend it when a page is not fresh

Typer carries its own click, so commands and parameters are met here by what they have and not
by their class.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kraftool.commands.command_tree import CommandNode, walk
from kraftool.commands.help_text import PROGRAM, keeps_its_lines, read_help

ROOT = Path(__file__).resolve().parent.parent
MAN = ROOT / "man"
MEND = "make man"

_ROFF = {
    "\\": r"\e",
    "-": r"\-",  # else a terminal shows a hyphen that a shell does not take for an option
    "'": r"\(aq",
    "`": r"\(ga",
    "^": r"\(ha",
    "~": r"\(ti",
}


def escape(text: str) -> str:
    """Text as roff prints it unchanged; a control character at a line's start is disarmed."""
    named = (char if char < "\x7f" else f"\\[u{ord(char):04X}]" for char in text)
    escaped = "".join(_ROFF.get(char, char) for char in named)
    return "\n".join("\\&" + line if line.startswith(".") else line for line in escaped.split("\n"))


def render(
    node: CommandNode, nodes: Sequence[CommandNode], codes: Sequence[tuple[int, str]]
) -> str:
    """One man page, in the man(7) macros that groff and mandoc share."""
    text = read_help(node.command.help or "")
    lines = [
        f'.\\" Written by tools/manpages.py from the help of `{node.invocation}`: {MEND}',
        f'.TH "{escape(node.page.upper())}" 1 "" "{PROGRAM}" "{PROGRAM} manual"',
        ".nh",
        ".ad l",
        ".SH NAME",
        f"{escape(node.page)} \\- {escape(_as_name(text.summary))}",
        ".SH SYNOPSIS",
        f"\\fB{escape(node.invocation)}\\fR {_usage(node)}".rstrip(),
        ".SH DESCRIPTION",
        escape(text.summary),
    ]
    for paragraph in text.paragraphs:
        lines += _paragraph(paragraph)
    parameters = [p for p in node.command.get_params(node.context) if not p.hidden]
    arguments = [p for p in parameters if p.param_type_name == "argument"]
    if arguments:
        lines += [".SH ARGUMENTS", *_terms(_argument(p) for p in arguments)]
    lines += [
        ".SH OPTIONS",
        *_terms(_option(p) for p in parameters if p.param_type_name == "option"),
    ]
    below = [n for n in nodes if n.words[:-1] == node.words and n.words]
    if below:
        lines += [".SH COMMANDS", *_terms((_bold(n.words[-1]), _help(n)) for n in below)]
    lines += [".SH EXIT STATUS", *_terms((_bold(str(code)), meaning) for code, meaning in codes)]
    if text.examples:
        lines.append(".SH EXAMPLES")
        for example in text.examples:
            lines += [".nf", escape(example), ".fi", ".PP"]
        del lines[-1]
    lines += [".SH ENVIRONMENT", *_terms(_environment(parameters))]
    near = {node.words, node.words[:-1]}
    around = {n.page for n in nodes if n.words in near or n.words[:-1] in near}
    others = sorted(around - {node.page})
    if others:
        lines += [".SH SEE ALSO", ",\n".join(f"\\fB{escape(page)}\\fR(1)" for page in others)]
    return "\n".join(lines) + "\n"


def pages(command: Any, codes: Sequence[tuple[int, str]]) -> dict[str, str]:
    """Every page by its file name."""
    nodes = list(walk(command))
    return {f"{node.page}.1": render(node, nodes, codes) for node in nodes}


def _as_name(summary: str) -> str:
    name = summary.removesuffix(".")
    return name[:1].lower() + name[1:]


def _help(node: CommandNode) -> str:
    return read_help(node.command.help or "").summary


def _bold(text: str) -> str:
    return f"\\fB{escape(text)}\\fR"


def _paragraph(paragraph: str) -> list[str]:
    if keeps_its_lines(paragraph):
        return [".PP", ".nf", escape(paragraph), ".fi"]
    return [".PP", escape(paragraph)]


def _terms(terms: Iterable[tuple[str, str]]) -> Iterator[str]:
    for head, body in terms:
        yield ".TP"
        yield head
        yield escape(" ".join(body.split()))


def _usage(node: CommandNode) -> str:
    arguments = [p for p in node.command.params if p.param_type_name == "argument"]
    pieces = [
        "[OPTIONS]",
        *(piece for p in arguments for piece in p.get_usage_pieces(node.context)),
    ]
    if hasattr(node.command, "list_commands"):
        pieces.append("COMMAND")
    return " ".join(f"\\fI{escape(piece)}\\fR" for piece in pieces)


def _argument(parameter: Any) -> tuple[str, str]:
    return f"\\fI{escape(parameter.place())}\\fR", parameter.help or ""


def _option(parameter: Any) -> tuple[str, str]:
    names = " | ".join(", ".join(map(_bold, names)) for names in parameter.names() if names)
    value = parameter.value_name()
    if value:
        names += f" \\fI{escape(value)}\\fR"
    help_text = (parameter.help or "").strip()
    if parameter.multiple and "repeat" not in help_text.lower():
        help_text += " May be given more than once."
    if parameter.limits():
        help_text += f" {parameter.limits().capitalize()}."
    default = "" if parameter.is_flag else parameter.default_words()
    return names, f"{help_text} Default: {default}." if default else help_text


def _environment(parameters: Iterable[Any]) -> Iterator[tuple[str, str]]:
    yield (
        _bold("NO_COLOR"),
        "If set and not empty, kraftool uses colours only with --color always.",
    )
    yield (
        _bold("FORCE_COLOR"),
        "If set and not 0, kraftool uses colours even if the output is not a terminal.",
    )
    for parameter in parameters:
        names = [parameter.envvar] if isinstance(parameter.envvar, str) else parameter.envvar or ()
        for name in names:
            yield _bold(name), f"The default of {parameter.opts[-1]}."


def _wanted() -> dict[str, str]:
    from typer.main import get_command

    from kraftool.commands.app import app
    from kraftool.commands.exit_code import ExitCode

    codes = [(code.value, code.meaning) for code in ExitCode]
    return pages(get_command(app), codes)


def main(arguments: Sequence[str]) -> int:
    wanted = _wanted()
    written_pages = {path.name: path.read_text(encoding="utf-8") for path in MAN.glob("*.1")}
    names = sorted(wanted.keys() | written_pages.keys())
    stale = [name for name in names if wanted.get(name) != written_pages.get(name)]
    if "--check" in arguments:
        if stale:
            print(f"man: not fresh: {', '.join(stale)}; mend it with: {MEND}", file=sys.stderr)
        return 1 if stale else 0
    MAN.mkdir(exist_ok=True)
    for name in stale:
        if name in wanted:
            (MAN / name).write_text(wanted[name], encoding="utf-8")
        else:
            (MAN / name).unlink()
        print(f"man/{name}: {'written' if name in wanted else 'removed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
