"""Transcripts: text files of what a raft node is told, and what it then does.

Owns the form of the files. A file opens with its purpose in lines of `#`. A case is `case` and a
sentence, and then blocks: commands, a line `----` that may cite the scenarios it proves
(`---- # 21 22`), the effects in their order with the state after them, and an empty line. An
expectation is written from the protocol first, and compared then.

The commands, in brief (`transcript_words.py` has the short forms, as `2@x` and `10@4`):

- until `start`: node, voters … at OFFSET, static, state, log, snapshots, listeners, bootstrap,
  timing, broker, auto-join, witness, hands-over (`transcript_setup.py`);
- time and chance: `at 1000`, `after 25`, `time` (a step without an event), `timeout fetch` (or
  election, update, check-quorum, begin-quorum: goes to that timer's end), `random 0 2`;
- requests that come in: `vote from 2 epoch 6 end 10@3`, and so on, by `transcript_messages.py`;
- answers to what was sent: `answer 2 granted`, `answer 3 #4 error 74 epoch 7 leader 2`;
- the node itself: append, flushed, consumed, snapshot-written, snapshot-installed, log-cleaned,
  resign, shutdown, upgrade; `show voters`, `show kraft.version`, `show in-memory voters`,
  `show snapshot 8@3` (whether one may be written; `mid-batch` if no batch ends there);
- short ways whose effects are not shown: `become prospective`, `candidate`, `leader`, `resigned`,
  `follower of 2 epoch 5`; `commit` (everyone fetches at the end of the log).

`KRAFTOOL_REWRITE=1 pytest tests/raft` writes what the core does into the files, to be read in
review like any change of code. Where CI is set, it refuses.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.raft.transcript_node import Node
from tests.raft.transcript_words import TranscriptError

_RULE = re.compile(r"----(?: # ([\d ]+))?")


@dataclass(slots=True)
class Block:
    """Commands and what they give."""

    line: int
    """Of its first command, from 1."""
    commands: list[str] = field(default_factory=list)
    scenarios: tuple[int, ...] = ()
    rule: int = 0
    """The line of its `----`, from 1."""
    expected: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Case:
    """One node from its set-up on."""

    title: str
    blocks: list[Block] = field(default_factory=list)

    def run(self) -> Iterator[tuple[Block, list[str]]]:
        """Every block with what the core does."""
        node = Node()
        for block in self.blocks:
            try:
                yield block, node.block(block.commands)
            except (TranscriptError, ValueError, IndexError, KeyError) as error:
                raise TranscriptError(f"line {block.line}: {error!r}") from error


def parse(text: str) -> list[Case]:
    """The cases of a file."""
    lines = text.splitlines()
    if not lines or not lines[0].startswith("# "):
        raise TranscriptError("a transcript opens with its purpose")
    cases: list[Case] = []
    block: Block | None = None
    for number, line in enumerate(lines, 1):
        if block is not None and block.rule:
            if line:
                block.expected.append(line)
                continue
            block = None
        rule = _RULE.fullmatch(line)
        if rule is not None:
            if block is None:
                raise TranscriptError(f"line {number}: nothing is done before ----")
            block.rule = number
            block.scenarios = tuple(map(int, (rule[1] or "").split()))
        elif line.startswith("case "):
            if block is not None:
                raise TranscriptError(f"line {number}: the block before has no ----")
            cases.append(Case(line.removeprefix("case ")))
        elif line and not line.startswith("#"):
            if not cases:
                raise TranscriptError(f"line {number}: no case has begun")
            if block is None:
                block = Block(number)
                cases[-1].blocks.append(block)
            block.commands.append(line)
    if block is not None and not block.rule:
        raise TranscriptError(f"line {block.line}: the block has no ----")
    return cases


def rewritten(text: str) -> str:
    """The file with what the core does in place of what was expected."""
    lines = text.splitlines()
    shown_blocks = [pair for case in parse(text) for pair in case.run()]
    for block, shown in reversed(shown_blocks):
        lines[block.rule : block.rule + len(block.expected)] = shown
    return "\n".join(lines) + "\n"


def wants_rewrite() -> bool:
    """Whether the files are to be written; never where CI checks them."""
    if os.environ.get("KRAFTOOL_REWRITE") != "1":
        return False
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        raise TranscriptError("KRAFTOOL_REWRITE is set, and CI too: nothing is rewritten there")
    return True


def rewrite(path: Path) -> None:
    path.write_text(rewritten(path.read_text()))
