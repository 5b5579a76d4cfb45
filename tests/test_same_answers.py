"""The comparison of two revisions' answers (tools/same_answers.py) sees what it has to see."""

from __future__ import annotations

import json
from pathlib import Path

from tools.same_answers import Answer, _difference, questions


def _differs(then: Answer, now: Answer) -> list[str]:
    return [*_difference(then, now)]


def test_a_changed_word_an_exit_code_and_a_missing_finding_are_differences() -> None:
    then = Answer(0, "· node 2\n✖ 1 error\n", "")
    assert _differs(then, then) == []
    assert _differs(then, then._replace(code=1)) == ["exit code 0, now 1"]
    assert _differs(then, then._replace(out="· node 2\n")) == ["-✖ 1 error"]
    assert _differs(then, then._replace(err="kraftool: no")) == ["+kraftool: no"]
    one = json.dumps({"findings": [{"code": "KT-LOG-CRC", "position": 4}]})
    other = json.dumps({"findings": [{"code": "KT-LOG-CRC", "position": 5}]})
    assert _differs(Answer(1, one, ""), Answer(1, other, "")) == [
        '-   "position": 4', '+   "position": 5',
    ]  # fmt: skip


def test_the_time_and_the_id_of_a_plan_are_none() -> None:
    plans = [f"PLAN {a * 12}   lost majority\ncreatedMs: 179594154{a}\n" for a in "12"]
    assert _differs(Answer(0, plans[0], ""), Answer(0, plans[1], "")) == []
    documents = [json.dumps({"planId": a * 64, "createdMs": 17}) for a in "ab"]
    assert _differs(Answer(0, documents[0], ""), Answer(0, documents[1], "")) == []


def test_every_command_that_reads_is_asked(tmp_path: Path) -> None:
    asked = {question.command for question in questions(tmp_path, seed=1, incidents=0, clusters=0)}
    assert asked == {
        "dump", "dump-log", "explain", "doctor", "verify-log", "verify-snapshot", "state",
        "diff-state", "diff-voters", "features", "timeline", "simulate-election",
        "recover plan", "pipeline audit, without Spark",
    }  # fmt: skip
