"""kraftool's commands against a real quorum, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support import command_server
from tests.support.json_contract import hold_document
from tests.support.places import ROOT


def kraftool(*arguments: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    done = command_server.run(*arguments, cwd=cwd)
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def document(*arguments: object, code: int = 0) -> Any:
    """What a command says as JSON, as its schema has it."""
    done = kraftool(*arguments, "-o", "json")
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    parsed = json.loads(done.stdout)
    hold_document(str(arguments[0]), parsed)
    return parsed
