"""What the documents say of commands, options, codes and files is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from kraftool.commands.app import app
from kraftool.commands.command_tree import CommandNode, walk
from kraftool.reports.doctor.explain import codes
from tests.support.places import ROOT

DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
FAMILIES = {"-".join(code.split("-")[:2]) for code in codes()}
OF_KAFKA = {"--cluster-metadata-decoder", "--describe", "--metadata"}
_CODE = re.compile(r"KT-[A-Z0-9-]*[A-Z0-9]")
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_PATH = re.compile(r"`((?:tests|tools|docs|kraftool|decoders|commands|fixtures)/[\w./-]+)`")
_COMMAND = re.compile(r"kraftool ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?([^`|]*)")
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])", re.IGNORECASE)

named = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


def _options(node: CommandNode) -> set[str]:
    parameters = node.command.get_params(node.context)
    return {
        option
        for parameter in parameters
        for option in (*parameter.opts, *parameter.secondary_opts)
    }


OPTIONS = {" ".join(node.words): _options(node) for node in walk(get_command(app))}


@named
def test_every_code_is_one_that_explain_knows(document: Path) -> None:
    mentioned = set(_CODE.findall(document.read_text()))
    assert not mentioned - codes() - FAMILIES


@named
def test_every_file_that_is_named_is_there(document: Path) -> None:
    text = document.read_text()
    gone = [link for link in _LINK.findall(text) if not (document.parent / link).exists()]
    gone += [path for path in _PATH.findall(text) if not (ROOT / path).exists()]
    assert not gone


@named
def test_every_command_has_the_options_that_are_shown(document: Path) -> None:
    wrong = []
    for line in document.read_text().splitlines():
        for first, second, rest in _COMMAND.findall(line):
            name = f"{first} {second}" if f"{first} {second}" in OPTIONS else first
            if name in OPTIONS:
                given = {option for option in _OPTION.findall(rest) if option not in OF_KAFKA}
                wrong += [f"{name} {option}" for option in sorted(given - OPTIONS[name])]
    assert not wrong


@named
def test_every_option_in_the_text_is_some_commands(document: Path) -> None:
    known = set().union(*OPTIONS.values()) | OF_KAFKA
    assert not set(re.findall(r"`(--[a-z][a-z-]*)", document.read_text())) - known
