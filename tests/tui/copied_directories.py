"""Copies of real directories for screens that show the age of files, and damaged ones.

Owns that a picture of them is the same on every machine: names below the working directory, times
that do not move, no lock file that another test may have left.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from kraftool.watching.task import Task
from tests.support.places import FIXTURES
from tests.tui.dashboards import AT_MS

T = TypeVar("T")
LOG = "__cluster_metadata-0/00000000000000000000.log"
_QUORUM = FIXTURES / "kafka-4.3.0" / "dynamic-quorum"


def copied(into: Path, *nodes: int) -> list[str]:
    """Controllers' directories as node-1, node-2 … below a folder; their names."""
    for node in nodes:
        ignored = shutil.ignore_patterns(".lock")
        shutil.copytree(_QUORUM / f"node-{node}" / "data", into / f"node-{node}", ignore=ignored)
    stand_still(into)
    return [f"node-{node}" for node in nodes]


def damaged(into: Path) -> str:
    """A controller's directory with a bit of its log flipped, and a quorum-state that is cut."""
    (name,) = copied(into, 2)
    log = into / name / LOG
    data = bytearray(log.read_bytes())
    data[9000] ^= 4
    log.write_bytes(data)
    (into / name / "__cluster_metadata-0" / "quorum-state").write_text('{"leaderId":')
    stand_still(into)
    return name


def stand_still(folder: Path) -> None:
    """Every file is an hour old."""
    for path in folder.rglob("*"):
        os.utime(path, ns=((AT_MS - 3_600_000) * 1_000_000,) * 2)


def here(function: Callable[..., T], *arguments: object, task: Task) -> T:
    """In place of `apart`, whose processes take a second to begin: the same in this one."""
    return function(*arguments, task)
