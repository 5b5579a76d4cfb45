"""Every command tells in the same way what it does, how to run it, and what it leaves alone.

The order is fixed: an imperative sentence, a runnable example, what it never touches. The man
pages are made of the same text and have to be fresh.
"""

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from typer.main import get_command

from kraftool.commands import main
from kraftool.commands.app import app
from kraftool.commands.command_table import SECTIONS, SUBCOMMANDS, commands_below
from kraftool.commands.command_tree import CommandNode, walk
from kraftool.commands.help_text import read_help
from tests.support.backups import back_up
from tests.support.places import ROOT
from tools.manpages import escape, pages

NODES = list(walk(get_command(app)))
COMMANDS = [node for node in NODES if node.words]
EXAMPLES = {
    example: node for node in NODES for example in read_help(node.command.help or "").examples
}
OPERATORS = "/var/lib/kafka/data"
SERVER = "/etc/kafka/server.properties"
DATA_DIRECTORY = "kafka-4.3.0/dynamic-quorum/node-2/data"
NOT_IMPERATIVE = {"the", "a", "an", "this", "it", "everything", "all"}
NEVER = re.compile(r"\b(never|nothing|writes no|changes no)\b", re.IGNORECASE)


def _name(value: object) -> str:
    return value.invocation if isinstance(value, CommandNode) else str(value)


def _run(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """Run the command in this process, as a user would: its exit code and both streams."""
    monkeypatch.setattr(sys, "argv", ["kraftool", *arguments])
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    code: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as exit_:
            code = exit_.code
    streams = []
    for stream in (out, err):
        stream.flush()
        raw = stream.buffer
        assert isinstance(raw, io.BytesIO)
        streams.append(raw.getvalue().decode("utf-8"))
    return (code if isinstance(code, int) else 0), streams[0], streams[1]


def _run_apart(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    """The same in a process of its own."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-m", "kraftool", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def _server(folder: Path, log_dir: object) -> str:
    """The configuration of the controller that wrote the data directory."""
    path = folder / "server.properties"
    path.write_text(
        f"""process.roles=controller
node.id=2
controller.quorum.bootstrap.servers=127.0.0.1:9093
controller.listener.names=CONTROLLER
listeners=CONTROLLER://127.0.0.1:9093
log.dirs={log_dir}
"""
    )
    return str(path)


def _plan(folder: Path, directory: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A plan for the directory, the others being lost."""
    path = str(folder / "plan.yaml")
    words = ["recover", "plan", directory, "--set", "lost=3,4", "--out", path]
    code, _, err = _run(words, monkeypatch)
    assert code == 0, err
    return path


def _carried(folder: Path, name: str, fixtures: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The collect file of a node, by its name."""
    scenario, node = (fixtures / DATA_DIRECTORY).parents[1], name.removesuffix(".collect")
    directory = min((scenario / node).glob("data*"))
    words = ["recover", "collect", str(directory), "--out", str(folder / name)]
    code, _, err = _run(words, monkeypatch)
    assert code == 0, err
    return str(folder / name)


def _nodes_to_reach(folder: Path) -> str:
    """A PATH with an `ssh` and a `kubectl` that reach this machine as each host and pod."""
    pod = {"metadata": {"name": "kafka-0"}, "spec": {"containers": [{"name": "kafka"}]}}
    for name, lines in {
        "ssh": ["for each; do command=$each; done", 'exec sh -c "$command"'],
        "kubectl": [
            f"[ $1 = get ] && {{ echo '{json.dumps({'items': [pod]})}'; exit; }}",
            "[ $1 = logs ] && exit",
            'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
        ],
    }.items():
        program = folder / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        program.chmod(0o755)
    return f"{folder / 'bin'}:{os.environ['PATH']}"


def test_the_commands_of_this_release_are_there() -> None:
    assert {"dump", "dump-log", "explain"} <= {" ".join(node.words) for node in COMMANDS}


@pytest.mark.parametrize("node", NODES, ids=_name)
def test_help_begins_with_one_imperative_sentence(node: CommandNode) -> None:
    summary = read_help(node.command.help or "").summary
    first = summary.partition(" ")[0]
    assert summary.endswith("."), summary
    assert summary.count(". ") == 0, "one sentence"
    assert first[:1].isupper(), summary
    assert first.lower() not in NOT_IMPERATIVE, summary
    third_person = first.endswith("s") and not first.endswith("ss")
    assert not third_person, f"{first}: an imperative tells what to do"


@pytest.mark.parametrize("node", NODES, ids=_name)
def test_help_goes_on_with_an_example_and_says_what_it_never_touches(node: CommandNode) -> None:
    text = read_help(node.command.help or "")
    assert text.examples, "an example that can be run"
    assert any(example.startswith(node.invocation) for example in text.examples) or any(
        f"| {node.invocation}" in example for example in text.examples
    )
    assert any(NEVER.search(paragraph) for paragraph in text.paragraphs), text.paragraphs
    order = [node.command.help.index(part) for part in (text.summary[:20], text.examples[0])]
    assert order == sorted(order)


@pytest.mark.parametrize("node", NODES, ids=_name)
def test_every_parameter_has_help(node: CommandNode) -> None:
    silent = [
        parameter.name
        for parameter in node.command.params
        if not getattr(parameter, "hidden", False) and not (parameter.help or "").strip()
    ]
    assert not silent


@pytest.mark.parametrize("node", NODES, ids=_name)
def test_help_is_shown_without_anything_else_on_the_command_line(
    node: CommandNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = _run([*node.words, "--help"], monkeypatch)
    assert code == 0
    assert err == ""
    assert read_help(node.command.help or "").summary.split()[0] in out


def _needs(node: CommandNode) -> tuple[pytest.MarkDecorator, ...]:
    if "pipeline" in node.words:  # three starts of Spark; tests/spark runs these commands
        return (pytest.mark.spark, pytest.mark.soak)
    if "rehearse" in node.words:  # test_documented_commands.py runs rehearsals of the documents
        return (pytest.mark.slow, pytest.mark.soak)
    return ()


@pytest.mark.parametrize(
    ("example", "node"),
    [pytest.param(*invocation, marks=_needs(invocation[1])) for invocation in EXAMPLES.items()],
    ids=_name,
)
def test_the_examples_of_the_help_run(
    node: CommandNode,
    example: str,
    fixtures_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a directory that Kafka wrote in the place of the operator's."""
    assert "|" not in example, f"{node.invocation}: an example that runs by itself"
    ours = str(fixtures_dir / DATA_DIRECTORY)
    if node.words[-1] in ("apply", "undo"):  # these take its lock, and the file of it stays
        ours = str(shutil.copytree(ours, tmp_path / "copy"))
    words = [re.sub(f"{OPERATORS}|/backup/data", ours, word) for word in shlex.split(example)]
    if SERVER in words:
        # A format is of a directory that is not there yet.
        log_dir = tmp_path / "new" if "format" in words else ours
        words = [_server(tmp_path, log_dir) if word == SERVER else word for word in words]
    words = [word.replace("/data/tables", str(tmp_path / "tables")) for word in words]
    words = [word.replace("/tmp/quorum", str(tmp_path / "quorum")) for word in words]
    if node.words[:1] == ("backup",):
        back_up(tmp_path / "prod", ours)
        words = [re.sub("/backup/prod|s3://backups/prod", f"{tmp_path}/prod", w) for w in words]
        words = [word.replace("/tmp/unpacked", f"{tmp_path}/unpacked") for word in words]
    if "plan.yaml" in words and node.words[-1] != "plan":
        plan = _plan(tmp_path, ours, monkeypatch)
        words = [plan if word == "plan.yaml" else word for word in words]
    if node.words[0] == "recover":
        given = [word for word in words if word.endswith(".collect") and words[-1] != word]
        carried = {name: _carried(tmp_path, name, fixtures_dir, monkeypatch) for name in given}
        words = [carried.get(word, word) for word in words[:-1]] + words[-1:]
        if "--out" in words:
            words[-1] = str(tmp_path / f"new-{words[-1]}")
    words = [str(tmp_path / word) if word == "case.zip" else word for word in words]
    if {"--ssh", "--kubectl"} & {*words}:
        monkeypatch.setenv("PATH", _nodes_to_reach(tmp_path))
    if node.words == ("exporter",):  # it would serve until it is stopped
        words += ["--once", "--textfile", str(tmp_path / "kraftool.prom")]
        clusters = tmp_path / "clusters.yaml"
        clusters.write_text("clusters: [{name: a, bootstrap-controller: 127.0.0.1:1}]\n")
        words = [str(clusters) if word == clusters.name else word for word in words]
    is_live = "--bootstrap-controller" in words
    words = [re.sub(r"^(ctl-|c)\d:9093$", "127.0.0.1:1", word) for word in words]
    monkeypatch.chdir(fixtures_dir.parent)
    # In this process there may be a Spark session already.
    run = _run_apart if "pipeline" in node.words else _run
    code, out, err = run(words[1:], monkeypatch)
    # In this directory doctor finds replicas that were lost with a broker, which is so. An
    # election from one of three directories may lose records. Nobody is there to be asked.
    finding = node.words[-1] in ("doctor", "audit", "simulate-election")
    expected = 4 if is_live else int(finding)
    if node.words[-1] == "ready":
        expected = 1  # a probe has two answers
    if node.words[0] == "recover" and not is_live:
        # Nobody types the plan's id, and nothing was applied.
        undoes = node.words[-1] in ("apply", "undo") and "--dry-run" not in words
        expected = 5 if undoes else int(node.words[-1] == "verify")
    if node.words == ("exporter",):
        expected = 0  # its metrics say that nobody answers
        is_live = True
    if node.words[-1] == "guide" or (node.words[-1] == "watch" and "--once" not in words):
        expected = 2  # a terminal is required
    assert code == expected, err
    assert out or is_live or expected in (2, 5) or "--out" in words


@pytest.mark.parametrize("node", NODES, ids=_name)
@pytest.mark.parametrize("width", [80, 120])
def test_help_fits_the_terminal_and_breaks_no_example(
    node: CommandNode, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = _run([*node.words, "--help"], monkeypatch)
    examples = [f"  $ {example}" for example in read_help(node.command.help or "").examples]
    lines = out.splitlines()
    assert [line for line in lines if line.startswith("  $ ")] == examples
    assert [line for line in lines if len(line) > width and line not in examples] == []
    assert [line for line in lines if line.endswith("...") and "Usage: " not in line] == []


@pytest.mark.parametrize("node", NODES, ids=_name)
def test_help_names_no_type_of_python(node: CommandNode, monkeypatch: pytest.MonkeyPatch) -> None:
    _, out, _ = _run([*node.words, "--help"], monkeypatch)
    assert not re.search(r"<|list\[|\bint\b|\bfloat\b|x>=|x<=", out)


def test_the_commands_are_listed_in_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    _, out, _ = _run(["--help"], monkeypatch)
    sections = re.findall(r"^(\w+):$", out, re.MULTILINE)
    assert sections == ["Example", *SECTIONS, "Options"]
    assert {f"  {name} " for name in commands_below(())} == set(
        re.findall(r"^  [a-z][a-z-]+ (?= *[A-Z])", out, re.MULTILINE)
    )


@pytest.mark.parametrize(
    "summary",
    [
        summary
        for names in (*SECTIONS.values(), *SUBCOMMANDS.values())
        for summary in names.values()
    ],
)
def test_a_summary_is_short_and_an_imperative(summary: str) -> None:
    assert len(summary) <= 55
    assert not summary.endswith(".")
    assert summary[0].isupper()
    assert not summary.split()[0].endswith("s")


@pytest.mark.parametrize("words", [["dump"], ["recover", "plan"], ["quorum"], []])
def test_help_is_a_command_too(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert _run(["help", *words], monkeypatch) == _run([*words, "--help"], monkeypatch)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["log"], "no command 'log'\n  did you mean dump-log or verify-log?"),
        (["dmp", "x"], "no command 'dmp'\n  did you mean dump?"),
        (["help", "dmp"], "no command 'dmp'\n  did you mean dump?"),
        (["describe"], "no command 'describe'\n  did you mean quorum describe?"),
        (["recover", "aply"], "no command 'aply'\n  did you mean apply?"),
        (["no-such"], "no command 'no-such'\n  `kraftool --help` lists the commands"),
        (
            ["quorum", "zzz"],
            "no command 'zzz'\n  `kraftool quorum --help` lists the commands",
        ),
        (["dump"], "PATH is missing\n  `kraftool help dump` explains it"),
        (["node", "run"], "--config is missing\n  `kraftool help node run` explains it"),
        (["dump", "a", "b"], "unexpected argument b\n  `kraftool help dump` explains it"),
        (["dump", "a", "b", "c"], "unexpected arguments b c\n  `kraftool help dump` explains it"),
        (
            ["dump", "a", "--head", "x"],
            "--head must be a whole number, not 'x'\n  `kraftool help dump` explains it",
        ),
        (
            ["dump", "a", "--head", "-1"],
            "--head must be at least 0, not -1\n  `kraftool help dump` explains it",
        ),
        (
            ["dump", "a", "-o", "x"],
            "--output must be one of table, json, csv; not 'x'\n  `kraftool help dump` explains it",
        ),
        (["dump", "a", "--head"], "--head requires a value"),
        (["dump-log", "--offset", "3"], "no option --offset\n  did you mean --offsets?"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_explained_in_the_style_of_every_error(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _run(words, monkeypatch) == (2, "", f"kraftool: {message}\n")


def test_the_man_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "tools/manpages.py", "--check"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_each_command_has_a_page_with_all_sections() -> None:
    made = pages(get_command(app), [(0, "Fine.")])
    assert set(made) == {f"{node.page}.1" for node in NODES}
    for name, page in made.items():
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES"):
            assert f"\n.SH {section}\n" in page, f"{name}: {section}"


def test_man_pages_name_what_to_give_and_no_type_of_python() -> None:
    typed = {"int", "float", "str", "int range", "float range", "path"}
    odd = [
        (name, place)
        for name, page in pages(get_command(app), [(0, "Fine.")]).items()
        for place in re.findall(r"\\fI(.+?)\\fR", page)
        if place in typed or "[[" in place or "u2026]]" in place
    ]
    assert not odd


@pytest.mark.parametrize(
    ("text", "roff"),
    [
        ("--offsets A..B", r"\-\-offsets A..B"),
        (".lock", r"\&.lock"),
        ("a\n.b", "a\n\\&.b"),
        ("C:\\x", r"C:\ex"),
        ("it's", r"it\(aqs"),
        ("PATH…", r"PATH\[u2026]"),
    ],
)
def test_roff_prints_what_was_written(text: str, roff: str) -> None:
    assert escape(text) == roff


def test_a_help_text_comes_apart() -> None:
    text = read_help(
        """Decode a file.

        Example: kraftool dump fixtures/x

        \b
        Examples:
        $ cat x.tar | kraftool dump -

        Reads once.
        Never writes.
        """
    )
    assert text.summary == "Decode a file."
    assert text.examples == ("kraftool dump fixtures/x", "cat x.tar | kraftool dump -")
    assert text.paragraphs == ("Reads once.\nNever writes.",)


def test_hidden_commands_have_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    command = get_command(app)
    first = next(node for node in walk(command) if node.words)
    monkeypatch.setattr(first.command, "hidden", True)
    assert first.page not in {node.page for node in walk(command)}


def test_words_that_nobody_offers_are_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = _run(["no-such-command"], monkeypatch)
    assert code == 2
    assert out == ""
    assert "no-such-command" in err


def test_a_shortened_option_suggests_what_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, err = _run(["node", "run", "--rol", "voter"], monkeypatch)
    assert code == 2
    assert err == "kraftool: no option --rol\n  did you mean --role?\n", "and not --color"
