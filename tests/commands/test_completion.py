"""What a shell offers while somebody types: the same as typer would, and the values of options.

The answer comes from a table that is made of the commands, so that no command is imported; the
table has to be fresh.
"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from kraftool.commands.app import app
from kraftool.commands.command_tree import CommandNode, walk
from kraftool.commands.completion import answer, offers
from tests.support.places import ROOT
from tools.completion import VALUES, table

Run = Callable[..., Any]
NODES = list(walk(get_command(app)))
SHELLS = ("bash", "zsh", "fish", "powershell")


def _variables(shell: str, line: str) -> dict[str, str]:
    """What the script of the shell sets when Tab is pressed behind this line."""
    words = line.split(" ")
    return {
        "_KRAFTOOL_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_WORD_TO_COMPLETE": words[-1],
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }


def _words(line: str) -> list[str]:
    *before, begun = line.split(" ")
    return [offer.word for offer in offers(before, begun)]


def test_the_table_is_fresh() -> None:
    assert (ROOT / "commands/generated/completion_table.py").read_text(encoding="utf-8") == table()


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.invocation)
def test_options_and_commands_are_those_that_typer_offers(node: CommandNode) -> None:
    typers = {item.value for item in node.command.shell_complete(node.context, "-")}
    assert {offer.word for offer in offers(node.words, "-")} == typers
    below = [item.value for item in node.command.shell_complete(node.context, "")]
    assert [offer.word for offer in offers(node.words, "") if offer.word != "help"] == below


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "line",
    [
        "kraftool du",
        "kraftool recover ",
        "kraftool dump-log --out",
        "kraftool dump-log -o ",
        "kraftool dump-log -o j",
        "kraftool dump-log -o json --col",
        "kraftool dump-log -o json --outp",
        "kraftool dump /var",
        "kraftool recover apply --c",
    ],
)
def test_each_shell_reads_what_typer_would_write(
    shell: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = _variables(shell, line)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    out = io.StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit):
        app([], prog_name="kraftool")
    completion = answer(variables)
    assert completion is not None
    assert completion.text == out.getvalue().removesuffix("\n")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("dump-log --type PartitionC", ["PartitionChangeRecord"]),
        ("dump-log --type = PartitionC", ["PartitionChangeRecord"]),
        ("dump-log --type=PartitionC", ["--type=PartitionChangeRecord"]),
        ("dump-log --transactions ", ["mark", "hide"]),
        ("doctor --explain KT-LOG-C", ["KT-LOG-CRC"]),
        ("doctor --explain li", ["list"]),
        ("features --to 4.3", ["4.3", "4.3-IV0"]),
        ("watch --view s", ["state"]),
        ("dump --as quo", ["quorum-state"]),
        ("timeline --only ele", ["elections"]),
        ("state -s to", ["topics", "tokens"]),
        ("recover apply --accept ", []),
        ("hel", ["help"]),
        ("help recover pl", ["plan"]),
        ("help dump ", []),
        ("no-such-command ", []),
        ("dump -- --", []),
        ("dump-log --head 3 --tai", ["--tail"]),
        ("dump-log --tail 3 --tai", []),
        ("dump-log --type A --typ", ["--type"]),
        ("quorum --he", ["--help"]),
    ],
)
def test_values_are_offered(line: str, words: list[str]) -> None:
    assert _words(line) == words


@pytest.mark.parametrize("place", VALUES, ids=" ".join)
def test_each_list_of_values_is_of_an_option_that_there_is(place: tuple[str, str]) -> None:
    options = {
        (parameter.names()[0][-1], parameter.value_name())
        for node in NODES
        for parameter in node.command.get_params(node.context)
        if parameter.param_type_name == "option"
    }
    assert place in options


def test_an_open_quote_is_part_of_the_word() -> None:
    completion = answer(_variables("zsh", 'kraftool dump-log --type "PartitionC'))
    assert completion is not None
    assert "PartitionChangeRecord" in completion.text


@pytest.mark.parametrize(("line", "code"), [("kraftool du", 0), ("kraftool dump /v", 1)])
def test_fish_learns_from_the_exit_code_if_there_is_anything(line: str, code: int) -> None:
    variables = _variables("fish", line) | {"_TYPER_COMPLETE_FISH_ACTION": "is-args"}
    completion = answer(variables)
    assert completion is not None
    assert (completion.text, completion.code) == ("", code)


def test_what_a_shell_installs_comes_from_typer(
    kraftool: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_KRAFTOOL_COMPLETE", "source_zsh")
    assert "#compdef kraftool" in kraftool().text


def test_bash_completes_a_value(tmp_path: Path) -> None:
    """As bash does it: with typer's script, and an array of words that is split at an `=`."""
    program = tmp_path / "kraftool"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m kraftool "$@"\n')
    program.chmod(0o755)
    lines = f"""
export PATH="{tmp_path}:$PATH" PYTHONPATH="{ROOT}"
eval "$(_KRAFTOOL_COMPLETE=source_bash kraftool)"
COMP_WORDS=(kraftool features --to = 4.3); COMP_CWORD=4
_kraftool_completion kraftool
echo "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", lines], capture_output=True, text=True, check=False)
    assert done.stdout == "4.3 4.3-IV0\n", done.stderr
