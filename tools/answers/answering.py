"""Answers command lines with the kraftool that this process imports: one child for each of them.

    python tools/answers/answering.py        with PYTHONPATH at an installed revision

It reads a JSON list of words a line, and writes a line for each: the exit code, stdout and stderr.
A child begins with kraftool's modules loaded, so that a thousand answers take no thousand starts.
Only the standard library is imported here: the revision says what else there is.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import sys
import tempfile
import time
import traceback
from typing import IO, Any, NoReturn

LONGEST_S = 120
AUDIT = "pipeline audit, without Spark"
_NOT_LOADED = ("kraftool.spark", "kraftool.tui", "kraftool.commands.generated", "kraftool.node")


def main() -> None:
    _load()
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    time.tzset()
    for line in sys.stdin:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            pid = os.fork()
            if pid == 0:
                _answer(json.loads(line), out, err)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            told = [_text(out), _text(err)]
        print(json.dumps([code, *told]), flush=True)


def _load() -> None:
    packages = [importlib.import_module("kraftool")]
    while packages:
        package = packages.pop()
        for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if found.name.startswith(_NOT_LOADED) or found.name.endswith("__main__"):
                continue
            module = importlib.import_module(found.name)
            if found.ispkg:
                packages.append(module)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="backslashreplace")


def _answer(words: list[str], out: IO[bytes], err: IO[bytes]) -> NoReturn:
    """Be kraftool with these words, in the folder that comes first."""
    signal.alarm(LONGEST_S)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    folder, *words = words
    os.chdir(folder)
    sys.argv[1:] = words
    code: Any = 0
    try:
        if words[0] == AUDIT:
            _audit(words[1:])
        else:
            import runpy

            runpy.run_module("kraftool", run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        code = ending.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _audit(paths: list[str]) -> None:
    """Print what a task of the audit finds in each directory."""
    from kraftool.spark.audit.examine import examine
    from kraftool.spark.audit.roots import find

    found = find(paths)
    # Earlier revisions called the directories items, and then units.
    names = ("directories", "units", "items")
    for files in next(getattr(found, name) for name in names if hasattr(found, name)):
        audited = examine(files)
        print(audited.summary.name, audited.summary.finding_counts, audited.ignored)
        for finding in audited.findings:
            print(" ", finding)


if __name__ == "__main__":
    main()
