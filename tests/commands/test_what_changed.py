"""The commands of docs/what-changed.md show what the page says.

Only the places are others: fixtures for the directories, and a leader that serves a fixture. That
every command of the page runs is for test_documented_commands.py and
tests/interop/test_live_reports.py.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.client.scripted_leader import ScriptedLeader
from tests.client.test_earlier_log import FOLDER, WHOLE, whole_leader
from tests.commands.conftest import Run
from tests.commands.live_leader import live_leader
from tests.support.places import ROOT

TEXT = (ROOT / "docs/what-changed.md").read_text()


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A directory of today, a copy of yesterday, and a leader."""
    copy = tmp_path / "data" / FOLDER
    copy.mkdir(parents=True)
    name = f"{59:020}-{1:010}.checkpoint"
    (copy / name).write_bytes((WHOLE / FOLDER / name).read_bytes())
    leader: ScriptedLeader = whole_leader()
    with live_leader(leader, monkeypatch):
        yield {"/var/lib/kafka/data": str(WHOLE), "/backup/data": str(tmp_path / "data")}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("kraftool diff-state /backup/data --bootstrap-controller ctl-1:9093", "differences"),
        ("kraftool diff-state /backup/data /var/lib/kafka/data --at-end", "differences"),
        ("kraftool timeline /var/lib/kafka/data --only configs,acls,users", "ACL added"),
    ],
)
def test_what_a_command_is_for_is_in_its_answer(
    kraftool: Run, places: dict[str, str], line: str, shown: str
) -> None:
    assert line in TEXT
    words = [places.get(word, word) for word in shlex.split(line)[1:]]
    assert shown in kraftool(*words).text


# --- two documents of state -----------------------------------------------------------------------


def _left(document: dict[str, Any]) -> dict[str, Any]:
    """Without what the page's jq leaves out."""
    (names,) = set(re.findall(r"del\(([^)]*)\)", TEXT))
    left_out = {name.strip().removeprefix(".") for name in names.split(",")}
    assert left_out <= document.keys()
    return {name: value for name, value in document.items() if name not in left_out}


def test_equal_states_are_equal_documents_without_what_varies(kraftool: Run) -> None:
    """One is read from a snapshot, the other from the log; even the order is the same."""
    checkpoint = WHOLE / FOLDER / f"{125:020}-{2:010}.checkpoint"
    one = kraftool("state", checkpoint, "-o", "json")
    log = WHOLE / FOLDER / f"{0:020}.log"
    other = kraftool("state", log, "--at", "125", "-o", "json")
    assert one.out != other.out
    assert json.dumps(_left(json.loads(one.out))) == json.dumps(_left(json.loads(other.out)))


def test_different_states_differ(kraftool: Run) -> None:
    one = kraftool("state", WHOLE, "--at", "59", "-o", "json")
    other = kraftool("state", WHOLE, "--at", "125", "-o", "json")
    assert _left(json.loads(one.out)) != _left(json.loads(other.out))
