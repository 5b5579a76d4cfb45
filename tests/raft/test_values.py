"""Events and messages are values: mypy refuses to change one, and equal ones are one in a set."""

from __future__ import annotations

from pathlib import Path

from mypy import api

from kraftool.raft.events import Resign

CHANGED = """
from kraftool.raft.events import ResponseReceived
from kraftool.raft.messages import VoteResponse

def change(answer: VoteResponse, event: ResponseReceived) -> None:
    answer.vote_granted = True
    event.response = answer
"""


def test_mypy_refuses_to_change_a_message_or_an_event(tmp_path: Path) -> None:
    module = tmp_path / "changes.py"
    module.write_text(CHANGED)
    output, problems, code = api.run([str(module), "--no-incremental", "--follow-imports=silent"])
    assert not problems
    assert code == 1
    assert [line.split(": error: ")[1] for line in output.splitlines() if ": error: " in line] == [
        'Property "vote_granted" defined in "VoteResponse" is read-only  [misc]',
        'Property "response" defined in "ResponseReceived" is read-only  [misc]',
    ]


def test_equal_events_are_one_in_a_set() -> None:
    assert len({Resign(epoch=3), Resign(epoch=3), Resign(epoch=4)}) == 2
