"""Ask two revisions of kraftool the same questions, and print where the answers differ.

    make same-answers BASE=REV

Both are installed side by side, this working tree and REV, and every command that reads answers as
JSON and as text at 100 columns, about every fixture, damaged fixture, incident and fleet. Ends with
1 if an answer differs. Serves every change of structure: what differs is either wanted, and listed
in the commit, or a mistake.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1]))

from answers.revision import archived
from answers.subjects import ROOT, Question, subjects

_INCIDENTAL = (
    # What no revision answers twice in the same way, and nothing else.
    (re.compile(r'("createdMs": |"readMs": |createdMs: )\d+'), r"\1TIME"),
    (re.compile(r"(\bid: |\"(id|planId)\": \"|PLAN )[0-9a-f]{12,64}"), r"\1PLAN"),
)
"""The time at which a plan was made, and the id that follows from it."""


class Answer(NamedTuple):
    """What kraftool said and how it ended."""

    code: int
    out: str
    err: str


class Revision:
    """An installed kraftool that answers, with as many processes as work in parallel."""

    def __init__(self, tree: Path, jobs: int) -> None:
        program = [sys.executable, str(ROOT / "tools" / "answers" / "answering.py")]
        environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
        self._free: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        for _ in range(jobs):
            process = subprocess.Popen(
                program,
                env=environment,
                cwd=tree,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self._free.put(process)

    def answer(self, question: Question) -> Answer:
        process = self._free.get()
        assert process.stdin is not None, "a pipe"
        assert process.stdout is not None, "a pipe"
        process.stdin.write(json.dumps([str(question.folder), *question.words]) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise SystemExit(f"kraftool's process ended at {' '.join(question.words)}")
        self._free.put(process)
        return Answer(*json.loads(line))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("base", help="a revision that git knows")
    parser.add_argument("--seed", type=int, default=1, help="of incidents and fleets")
    parser.add_argument("--incidents", type=int, default=40)
    parser.add_argument("--clusters", type=int, default=12, help="of the fleet")
    parser.add_argument("--only", action="append", help="a command, or a subject's beginning")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--lines", type=int, default=12, help="of each difference that is printed")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="same-answers-") as folder:
        scratch = Path(folder)
        base = Revision(_installed(archived(chosen.base, scratch), scratch / "base"), chosen.jobs)
        ours = Revision(_installed(_copied(scratch), scratch / "ours"), chosen.jobs)
        asked = [
            question
            for question in questions(
                scratch, seed=chosen.seed, incidents=chosen.incidents, clusters=chosen.clusters
            )
            if not chosen.only or _is_chosen(question, chosen.only)
        ]
        return _compare(base, ours, asked, chosen.jobs, chosen.lines)


def questions(scratch: Path, *, seed: int, incidents: int, clusters: int) -> Iterator[Question]:
    """Yield every question; the directories that are made for them lie in the scratch folder."""
    for subject in subjects(scratch, seed=seed, incidents=incidents, clusters=clusters):
        yield from subject.questions()


def _is_chosen(question: Question, only: Sequence[str]) -> bool:
    return any(question.command == word or question.subject.startswith(word) for word in only)


# --- the two revisions ----------------------------------------------------------------------------


def _copied(scratch: Path) -> Path:
    """The files of this working tree, with what is not committed."""
    tree = scratch / "our-tree"
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        path = ROOT / name
        if path.is_symlink() or path.is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, tree / name, follow_symlinks=False)
    return tree


def _installed(tree: Path, target: Path) -> Path:
    """Install a tree as pip does, with its native module if Rust is there, whose parts are kept in
    the virtualenv: the first time takes a minute or two."""
    print(f"Installing {tree.name}", file=sys.stderr)
    install = ["install", "--quiet", "--no-deps", "--target", str(target), str(tree)]
    subprocess.run(
        [sys.executable, "-m", "pip", *install],
        env=os.environ | {"CARGO_TARGET_DIR": str(Path(sys.prefix) / "same-answers")},
        check=True,
    )
    return target


# --- the answers ----------------------------------------------------------------------------------


def _compare(
    base: Revision, ours: Revision, asked: Sequence[Question], jobs: int, most_lines: int
) -> int:
    """Ask both, print the differences by command and subject; the exit code."""

    def answers(question: Question) -> tuple[Question, Answer, Answer]:
        return question, base.answer(question), ours.answer(question)

    counts: Counter[str] = Counter()
    with ThreadPoolExecutor(jobs) as pool:
        for number, (question, then, now) in enumerate(pool.map(answers, asked), 1):
            if sys.stderr.isatty():
                print(f"\r{number} of {len(asked)} answers", end="", file=sys.stderr)
            lines = list(_difference(then, now))
            if lines:
                counts[question.command] += 1
                print(f"\n== {question.subject}: kraftool {' '.join(question.words)}")
                print("\n".join(islice(lines, most_lines)))
                if len(lines) > most_lines:
                    print(f"… {len(lines) - most_lines} more lines")
    print(f"\n{len(asked)} answers compared, {counts.total()} differ")
    for command, count in counts.most_common():
        print(f"  {count:5} {command}")
    return 1 if counts else 0


def _difference(then: Answer, now: Answer) -> Iterator[str]:
    """Yield what changed, line by line; nothing for the same answer."""
    if then.code != now.code:
        yield f"exit code {then.code}, now {now.code}"
    for one, other in ((then.out, now.out), (then.err, now.err)):
        yield from _changed_lines(_lines(one), _lines(other))


def _changed_lines(then: Iterable[str], now: Iterable[str]) -> Iterator[str]:
    for line in islice(difflib.unified_diff([*then], [*now], lineterm="", n=0), 2, None):
        if not line.startswith("@@"):
            yield line


def _lines(text: str) -> list[str]:
    """The lines of a text without what differs by itself; JSON is laid out first."""
    if text.startswith(("{", "[")):
        with suppress(ValueError):  # JSON Lines, or cut off: compared as it is
            text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    for pattern, replacement in _INCIDENTAL:
        text = pattern.sub(replacement, text)
    return text.splitlines()


if __name__ == "__main__":
    sys.exit(main())
