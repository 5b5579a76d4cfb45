"""Plans as files, the schema of the documents, and commands that are cut short, for the tests of
`recover`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from kraftool.repair.plan import Plan
from kraftool.repair.plan_yaml import plan_to_yaml
from tests.commands.conftest import ROOT, Ran

_DEADLY = """
import os, sys
from kraftool.storage.repair_journal import Journal
note, left, number = Journal.note, [int(sys.argv[1])], int(sys.argv[2])
def deadly(self, kind, **facts):
    note(self, kind, **facts)
    left[0] -= 1
    if left[0] == -1: os.kill(os.getpid(), number)
Journal.note = deadly
sys.argv = ['kraftool', *sys.argv[3:]]
from kraftool.commands import main
main()
"""


def written(plan: Plan, folder: Path) -> Path:
    path = folder / "night.yaml"
    path.write_bytes(plan_to_yaml(plan))
    return path


@cache
def _schema() -> Draft202012Validator:
    found = json.loads((ROOT / "docs/schemas/recover.json").read_text())
    Draft202012Validator.check_schema(found)
    return Draft202012Validator(found)


def fitting(text: str) -> Any:
    """A document, which the schema in docs/ has."""
    document = json.loads(text)
    _schema().validate(document)
    return document


def signalled(words: Sequence[object], after: int, number: signal.Signals) -> Ran:
    """kraftool, which gets a signal right after so many entries of a journal, and one more, became
    durable."""
    done = subprocess.run(
        [sys.executable, "-c", _DEADLY, str(after), str(int(number)), *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())
