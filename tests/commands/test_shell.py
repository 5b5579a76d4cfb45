"""`kraftool shell`: its lines and words, sessions, scripts, completion, and how it ends.

What the commands answer is compared with the real shell in tests/interop/test_shell.py.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tarfile
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftool.commands.shell_session import ShellSession
from kraftool.commands.shell_words import BadCommand, quoted_word, read_command, split_line
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.reports.state.shell.nodes import Directory, fixed, leaf
from tests.support.places import ROOT

Run = Callable[..., Any]
NODE = ROOT / "fixtures/kafka-4.3.0/dynamic-quorum/node-2"
DATA = NODE / "data"
SNAPSHOT = DATA / "__cluster_metadata-0" / "00000000000000000203-0000000003.checkpoint"
LOG = DATA / "__cluster_metadata-0" / f"{0:020}.log"
PROVENANCE = "image/provenance"


def tree() -> Directory:
    topics = fixed({"orders": lambda: leaf("1"), "my topic;x": lambda: leaf("2")})
    star = fixed(
        {"a*b": lambda: leaf("3"), "it's": lambda: leaf("4"), r"u(\(x)": lambda: leaf("5")}
    )
    return fixed({"topics": lambda: topics, "odd": lambda: star, "name": lambda: leaf("n")})


class Recorded:
    """A session with what it showed and complained of."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.complaints: list[str] = []
        self.session = ShellSession(
            root=tree(), show=self.shown.extend, complain=self.complaints.append
        )

    def run(self, line: str) -> list[str]:
        self.shown.clear()
        self.session.run(line)
        return list(self.shown)


# --- lines ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("", [[]]),
        ("  ls   a\tb ", [["ls", "a", "b"]]),
        ("ls 'a b' \"c d\"", [["ls", "a b", "c d"]]),
        (r"ls a\ b \\ \'", [["ls", "a b", "\\", "'"]]),
        (r"""ls "a\"b" 'c\'d' """, [["ls", 'a"b', "c'd"]]),
        ("ls x'y z'w", [["ls", "xy zw"]]),
        ("ls ''", [["ls", ""]]),
        ("cd a; ls;pwd ;", [["cd", "a"], ["ls"], ["pwd"], []]),
        ("ls 'a;b' c\\;d", [["ls", "a;b", "c;d"]]),
        ("cat 'open end", [["cat", "open end"]]),
    ],
)
def test_a_line_comes_apart_into_commands_and_words(line: str, commands: list[list[str]]) -> None:
    assert [[word.text for word in words] for words in split_line(line)] == commands


@pytest.mark.parametrize("text", ["plain", "a b", "it's", 'a"b', "a\\b", "a;b", "a*b", "tab\t"])
def test_a_quoted_word_reads_back(text: str) -> None:
    ((word,),) = split_line(quoted_word(text))
    assert word.text == text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nosuch"], "invalid choice: 'nosuch' (choose from 'cat', 'cd', 'exit', "),
        (["exi"], "invalid choice: 'exi': did you mean 'exit'?"),
        (["h"], "ambiguous command: h could match help, history"),
        (["cat"], "too few arguments"),
        (["pwd", "x", "y"], "unrecognized arguments: 'x y'"),
        (["ls", "-l"], "unrecognized arguments: '-l'"),
        (["history", "x"], "argument numEntriesToShow: could not convert 'x' to Integer"),
    ],
)
def test_words_that_fit_no_command_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(BadCommand, match=re.escape(message)):
        read_command(words)


def test_blank_lines_are_no_command() -> None:
    assert read_command([]) is None
    assert read_command(["", ""]) is None


# --- sessions -------------------------------------------------------------------------------------


def test_a_session_keeps_its_working_directory() -> None:
    recorded = Recorded()
    assert recorded.run("cd topics; pwd; ls; cat orders; cd; pwd") == [
        "/topics",
        "my topic;x",
        "orders",
        "1",
        "/",
    ]
    assert recorded.run("cd o*; pwd") == ["/odd"]
    assert recorded.complaints == []


def test_what_is_missing_is_complained_of_and_the_rest_of_the_line_runs() -> None:
    recorded = Recorded()
    assert recorded.run("cat x name; nosuch; cd name; cat topics; tree y; ls z; find w; pwd") == [
        "n",
        "/",
    ]
    assert recorded.complaints[0] == "cat: x: No such file or directory."
    assert recorded.complaints[1].startswith("invalid choice: 'nosuch'")
    assert recorded.complaints[2:] == [
        "cd: name: not a directory.",
        "cat: topics: Is a directory",
        "tree: y: No such file or directory.",
        "ls: z: no such file or directory.",
        "find: w: no such file or directory.",
    ]


def test_history_is_numbered_and_has_no_blanks_and_no_repeats() -> None:
    recorded = Recorded()
    for line in ("pwd", "pwd", "", " ls", "nosuch"):
        recorded.run(line)
    assert recorded.run("history") == ["    0  pwd", "    1  nosuch", "    2  history"]
    assert recorded.run("history 1") == ["    3  history 1"]
    assert recorded.run("history -5") == []


def test_each_command_has_a_manual_and_help_lists_them_all() -> None:
    recorded = Recorded()
    listed = [line.split()[0] for line in recorded.run("help") if line.startswith("  ")]
    assert listed == ["cat", "cd", "exit", "find", "help", "history", "ls", "man", "pwd", "tree"]
    for name in listed:
        lines = recorded.run(f"man {name}")
        assert lines[0].startswith(f"{name}: ")
        assert lines[2].startswith(f"usage: {name}")
        assert recorded.run(f"{name} -h") == lines
    recorded.run("man nosuch")
    assert recorded.complaints == [
        "man: unknown command nosuch. Type help to get a list of commands."
    ]


def test_exit_ends_the_session_at_once() -> None:
    recorded = Recorded()
    assert recorded.run("pwd; exit; pwd") == ["/"]
    assert recorded.session.is_over


# --- completion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        (
            "",
            ["cat ", "cd ", "exit ", "find ", "help ", "history ", "ls ", "man ", "pwd ", "tree "],
        ),
        ("h", ["help ", "history "]),
        ("ls; p", ["ls; pwd "]),
        ("ls t", ["ls topics/"]),
        ("cat topics/o", ["cat topics/orders "]),
        ("cat topics/m", [r"cat topics/my\ topic\;x "]),
        (r"cat topics/my\ t", [r"cat topics/my\ topic\;x "]),
        ("cat 'topics/my t", [r"cat topics/my\ topic\;x "]),
        ("cat odd/a", [r"cat odd/a\\*b "]),
        ("cat odd/i", [r"cat odd/it\'s "]),
        ("cat odd/u", [r"cat odd/u(\\(x) "]),
        ("cd ", ["cd odd/", "cd topics/"]),
        ("ls name ", ["ls name name ", "ls name odd/", "ls name topics/"]),
        ("man l", ["man ls "]),
        ("pwd ", []),
        ("nosuch x", []),
        ("ls nowhere/", []),
    ],
)
def test_a_line_is_completed(line: str, completed: list[str]) -> None:
    assert Recorded().session.completions(line) == completed


def test_what_is_completed_leads_to_one_file() -> None:
    recorded = Recorded()
    for typed, text in (("topics/m", "2"), ("odd/a", "3"), ("odd/i", "4"), ("odd/u", "5")):
        (line,) = recorded.session.completions(f"cat {typed}")
        assert recorded.run(line) == [text]


# --- scripts --------------------------------------------------------------------------------------


def test_a_script_is_one_session(kraftool: Run) -> None:
    ran = kraftool("shell", DATA, "-c", "cd image/topics; pwd", "-c", "ls", "-c", "pwd")
    assert ran.text == "/image/topics\nbyId\nbyName\n/image/topics\n"
    assert ran.code == 0
    assert "the state at offset " in ran.err


def test_a_command_that_fails_makes_the_exit_code_1(kraftool: Run) -> None:
    ran = kraftool("shell", DATA, "-c", "ls nosuch; ls", "-c", "nosuch")
    assert ran.code == 1
    assert ran.text == "image\nlocal\n"
    assert "ls: nosuch: no such file or directory." in ran.err
    assert kraftool("shell", DATA, "-c", "exit; nosuch").code == 0


def test_without_commands_they_are_read_from_stdin(kraftool: Run) -> None:
    ran = kraftool("shell", DATA, stdin=b"cd image\npwd\n\nexit\nls\n")
    assert (ran.code, ran.text) == (0, "/image\n")


def test_a_directory_is_its_snapshot_and_its_log(kraftool: Run) -> None:
    whole = kraftool("shell", DATA, "-c", f"cat {PROVENANCE}")
    assert "snapshot 00000000000000000203-0000000003 and log offsets 203 to " in whole.err
    again = kraftool("shell", LOG, "-c", f"cat {PROVENANCE}")
    assert whole.text == again.text
    named = kraftool("shell", NODE / "data" / "__cluster_metadata-0", "-c", f"cat {PROVENANCE}")
    assert named.text == whole.text


def test_a_checkpoint_by_itself_counts_as_kafkas_shell_does(kraftool: Run) -> None:
    ran = kraftool("shell", SNAPSHOT, "-c", f"cat {PROVENANCE}")
    assert ran.text.startswith("offset 79, epoch 3, time 2026-")
    assert "the state at offset 203 (snapshot 00000000000000000203-0000000003)" in ran.err


@pytest.mark.parametrize("at", [100, 150, 203, 204])
def test_at_takes_the_state_before_an_offset(at: int, kraftool: Run) -> None:
    ran = kraftool("shell", DATA, "--at", at, "-c", f"cat {PROVENANCE}")
    assert ran.code == 0, ran.err
    assert ran.text.startswith(f"offset {at - 1}, ")


def test_a_tar_is_read_like_the_directory(kraftool: Run, tmp_path: Path) -> None:
    archive = tmp_path / "data.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(DATA, "data")
    expected = kraftool("shell", DATA, "-c", "tree image")
    for ran in (
        kraftool("shell", archive, "-c", "tree image"),
        subprocess.run(
            [sys.executable, "-m", "kraftool", "shell", "-", "-c", "tree image"],
            input=archive.read_bytes(),
            capture_output=True,
            cwd=ROOT,
            timeout=60,
            check=True,
        ),
    ):
        assert (ran.out if hasattr(ran, "out") else ran.stdout) == expected.out


def test_an_archive_on_stdin_leaves_no_stdin_for_commands(kraftool: Run) -> None:
    ran = kraftool("shell", "-")
    assert ran.code == 2
    assert "-c" in ran.err


def test_an_open_transaction_is_hidden_and_said(kraftool: Run, tmp_path: Path) -> None:
    records: list[tuple[str, dict[str, Any]]] = [
        ("FeatureLevelRecord", {"name": "metadata.version", "featureLevel": 30}),
        ("TopicRecord", {"name": "seen", "topicId": "3FTLKdJCRwqNMkl3-Vr8mQ"}),
        ("BeginTransactionRecord", {"name": "big"}),
        ("TopicRecord", {"name": "hidden", "topicId": "KWiRmMHrku1KXke3QcBn_Q"}),
    ]
    framed = [(None, encode_record(name, 0, value)) for name, value in records]
    log = tmp_path / f"{0:020}.log"
    log.write_bytes(encode_batch(framed, base_offset=0, epoch=1, timestamp=5))
    ran = kraftool("shell", log, "-c", "ls image/topics/byName; cat image/provenance")
    assert ran.text == "seen\noffset 1, epoch 1, time 1970-01-01T00:00:00.005Z[UTC]\n"
    assert "a transaction 'big' that began at offset 2 has no end; its 1 records" in ran.err


def test_what_cannot_be_read_ends_with_3(kraftool: Run, tmp_path: Path) -> None:
    assert kraftool("shell", tmp_path / "nowhere", "-c", "ls").code == 3
    assert kraftool("shell", DATA / "meta.properties", "-c", "ls").code == 3
    damaged = ROOT / "fixtures/damaged/zero-filled-middle" / LOG.name
    ran = kraftool("shell", damaged, "-c", "ls")
    assert ran.code == 3
    assert ran.text == "image\nlocal\n"
    assert "position" in ran.err


def test_what_a_crash_left_at_the_end_is_said_and_nothing_is_missing(kraftool: Run) -> None:
    for name in ("torn-tail", "zero-filled-tail"):
        ran = kraftool("shell", ROOT / "fixtures/damaged" / name / LOG.name, "-c", "ls")
        assert (ran.code, ran.text) == (1, "image\nlocal\n")
        assert "warning: " in ran.err


def test_a_line_break_in_a_path_is_shown_as_an_escape(kraftool: Run, tmp_path: Path) -> None:
    path = tmp_path / "one\ntwo\x1b[2J"
    shutil.copytree(DATA, path)
    with (path / "__cluster_metadata-0" / LOG.name).open("ab") as log:
        log.write(bytes(9))
    ran = kraftool("shell", path, "-c", "ls")
    assert ran.code == 1
    assert "\ntwo" not in ran.err
    assert ran.err.count("one\\u000atwo\\u001b[2J") == 2


# --- terminals ------------------------------------------------------------------------------------


class Terminal:
    """kraftool shell on a terminal of 80 columns."""

    def __init__(self, *arguments: object) -> None:
        self._shown = b""
        self._ours, its = pty.openpty()
        termios.tcsetwinsize(its, (40, 80))
        environment = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kraftool", "shell", *map(str, arguments)],
            stdin=its,
            stdout=its,
            stderr=its,
            env=environment | {"LC_ALL": "C.UTF-8", "INPUTRC": "/dev/null"},
            start_new_session=True,
            preexec_fn=_take_terminal,
        )
        os.close(its)

    def until(self, text: str, *, again: str = "") -> str:
        """What it shows, up to and with some text; `again` is typed while nothing comes."""
        for _ in range(100):
            if text.encode() in self._shown:
                break
            ready, _, _ = select.select([self._ours], [], [], 1 if again else 30)
            if again and not ready:
                self.type(again)
                continue
            assert ready, f"waited for {text!r} in vain, got {self._shown!r}"
            try:
                piece = os.read(self._ours, 1 << 16)
            except OSError:
                piece = b""
            assert piece, f"it ended before {text!r}: {self._shown!r}"
            self._shown += piece
        end = self._shown.index(text.encode()) + len(text.encode())
        shown, self._shown = self._shown[:end], self._shown[end:]
        return shown.decode()

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def end(self) -> int:
        try:
            while os.read(self._ours, 1 << 16):
                pass
        except OSError:  # Linux's way to say that the other end is closed
            pass
        return self.process.wait(30)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(30)
        os.close(self._ours)


def _take_terminal() -> None:
    import fcntl

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    opened = Terminal(DATA)
    try:
        yield opened
    finally:
        opened.close()


def test_on_a_terminal_it_asks_and_ctrl_d_leaves(terminal: Terminal) -> None:
    assert "the state at offset" in terminal.until(">> ")
    terminal.type("ls image\n")
    shown = terminal.until(">> ")
    assert "acls          cluster  delegationToken  producerIds  scram" in shown
    terminal.type("cat nosuch\n")
    assert "cat: nosuch: No such file or directory." in terminal.until(">> ")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_tab_completes_commands_and_paths(terminal: Terminal) -> None:
    terminal.until(">> ")
    terminal.type("ca\tim\tprov\t\n")
    shown = terminal.until("Z[UTC]")
    assert "cat image/provenance" in shown
    terminal.until(">> ")
    terminal.type("ls image/topics/by\t\t")
    assert "byId/" in terminal.until("byName/")
    terminal.type("N\t\n")
    terminal.until("odd.Names_1-2")
    terminal.type("exit\n")
    assert terminal.end() == 0


def test_ctrl_c_drops_the_line_and_asks_again(terminal: Terminal) -> None:
    terminal.until(">> ")
    terminal.type("half a li")
    terminal.until("half a li")
    # Python's readline misses the signal where it comes right before it waits for a key.
    terminal.type("\x03")
    terminal.until(">> ", again="\x03")
    terminal.type("pwd\n")
    assert "\n/\r\n" in terminal.until(">> ")
    terminal.type("exit\n")
    assert terminal.end() == 0


def test_a_pipe_that_nobody_reads_ends_it_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "kraftool", "shell", "-q", str(DATA), "-c", "tree image"],
        stdout=writing,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
