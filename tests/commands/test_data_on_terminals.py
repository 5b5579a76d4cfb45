"""No byte of data acts on a terminal: control characters of names and logs are shown as escapes."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.commands.secret_nodes import LOG, NODE, Run
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

# --- terminals ------------------------------------------------------------------------------------

# What real Kafka was given for names (tests/interop/operations.py) is in these logs.
ODD_LOG = b"\x1b[31mred\x1b[0m tab\t\x7f\xe2\x80\xae<script>"
COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
ACTING = re.compile(
    # C0 and DEL but for the line breaks of a terminal; C1, as text and as a lone byte after ESC;
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]"
    # marks, separators, embeddings and overrides, isolates, the byte order mark.
    rb"|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf"
)


def on_a_terminal(*arguments: object) -> bytes:
    """All that kraftool, its stdout and stderr a terminal of 100 columns, makes it show."""
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (40, 100))
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "kraftool", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=its,
        stderr=its,
        env=environment,
    )
    os.close(its)
    shown = bytearray()
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # Linux's way to say that the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    process.wait(60)
    return bytes(shown)


@pytest.fixture(scope="module")
def odd_node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory below a folder whose own name acts on a terminal."""
    assert ODD_LOG in LOG.read_bytes()
    folder = tmp_path_factory.mktemp("odd") / "a\x1b[31m\u202eb\n[bold]c\x07"
    shutil.copytree(NODE / "data" / "__cluster_metadata-0", folder / "__cluster_metadata-0")
    shutil.copy(NODE / "data" / "meta.properties", folder)
    torn = folder / "__cluster_metadata-0" / LOG.name
    torn.write_bytes(torn.read_bytes()[:-3])
    return folder


ON_TERMINALS: tuple[tuple[str, ...], ...] = (
    *(("dump-log", "-o", form) for form in ("table", "json", "jsonl", "csv", "kafka")),
    ("dump-log", "-o", "table", "--wide", "--show-secrets"),
    ("dump-log", "--grep", "(", "--tz", "\x1b[31m"),
    ("dump",),
    ("dump", "-o", "json"),
    ("dump", "--records"),
    ("timeline", "--topics"),
    ("timeline", "-o", "csv"),
    ("shell", "--show-secrets", "-c", "tree /; find; ls image/*; ls image/*/*; ls \x1b"),
    ("state",),
    ("state", "-s", "acls", "-s", "configs", "-s", "quotas", "-s", "scram", "-s", "tokens"),
    ("state", "-o", "tree"),
    ("state", "-o", "json"),
    ("diff-state", "--at", "0", "--limit", "0"),
)


@pytest.mark.parametrize("color", ["auto", "never"])
@pytest.mark.parametrize("command", ON_TERMINALS, ids=lambda words: " ".join(map(repr, words)))
def test_no_byte_of_data_acts_on_a_terminal(
    command: tuple[str, ...], color: str, odd_node: Path
) -> None:
    coloring = () if command[0] == "shell" else ("--color", color)
    shown = on_a_terminal(*command, *coloring, odd_node)
    assert shown
    if color == "auto":
        shown = COLOURS.sub(b"", shown)
    match = ACTING.search(shown)
    assert match is None, shown[max(match.start() - 80, 0) : match.end() + 20]


@pytest.mark.parametrize("color", ["auto", "never"])
def test_no_byte_of_a_log_acts_on_a_terminal_by_explain(color: str, odd_node: Path) -> None:
    log = odd_node / "__cluster_metadata-0" / LOG.name
    for arguments in (("--show-secrets", log), (log,), ("-o", "json", log), (odd_node / "x\x1b",)):
        shown = on_a_terminal("explain", "--batches", 0, "--color", color, *arguments)
        assert shown
        if color == "auto":
            shown = COLOURS.sub(b"", shown)
        match = ACTING.search(shown)
        assert match is None, shown[max(match.start() - 80, 0) : match.end() + 20]


def test_colours_are_only_ours_and_markup_of_data_is_text(odd_node: Path) -> None:
    shown = on_a_terminal("dump-log", "--wide", odd_node)
    assert COLOURS.search(shown)
    assert b"\x1b[31m" not in shown.replace(b"\x1b[1;31m", b"")
    assert b"[bold]" in shown
    assert b"\\u001b[31mred" in shown
    assert b"\\u202e" in shown


def test_what_is_no_terminal_gets_the_data_as_it_is(kraftool: Run) -> None:
    ran = kraftool("dump-log", "-o", "jsonl", LOG)
    assert b"\x1b" not in ran.out  # JSON escapes it by itself
    assert "\u202e".encode() in ran.out
