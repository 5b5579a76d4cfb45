"""The colour of a verdict is that of the worst finding, on directories of real Kafka."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
GREEN, YELLOW, DIM, RED = "32", "33", "2", "1;31"
_STYLED = re.compile(r"\x1b\[([\d;]+)m([^\x1b]*)")
QUORUM = "kafka-4.3.0/dynamic-quorum"


def pieces(line: str) -> list[tuple[str, str]]:
    """Return the styled words of a line, each with its style."""
    return [(style, words.strip()) for style, words in _STYLED.findall(line) if words.strip()]


def style_of(line: str, words: str) -> str:
    """Return the style of the piece that has these words."""
    styles = [style for style, text in pieces(line) if words in text]
    assert len(styles) == 1, (words, line)
    return styles[0]


def coloured(kraftool: Run, *arguments: object) -> tuple[Any, list[str]]:
    command, *rest = arguments
    ran = kraftool(command, "--color", "always", *rest)
    return ran, ran.text.splitlines()


def test_a_dump_is_not_green_where_doctor_has_an_error(kraftool: Run, fixtures_dir: Path) -> None:
    path = fixtures_dir / QUORUM / "node-2/data"
    ran, lines = coloured(kraftool, "doctor", path)
    assert ran.code == 1
    (head,) = (line for line in lines if "node 2" in line and "error" in line)
    assert style_of(head, "error") == RED
    ran, lines = coloured(kraftool, "dump", path)
    assert ran.code == 0
    assert style_of(lines[0], "13 files readable") == DIM
    assert GREEN not in [style for line in lines for style, _ in pieces(line)]
    assert f"kraftool doctor {path}" in "".join(lines[1:4])


def test_doctor_with_notes_only_is_neutral(kraftool: Run, fixtures_dir: Path) -> None:
    ran, lines = coloured(
        kraftool, "doctor", fixtures_dir / "kafka-4.3.0/static-single/node-1/data"
    )
    assert ran.code == 0
    heads = [line for line in lines if "no problems found" in line]
    assert len(heads) == 2, "the directory's line and the verdict"
    for line in heads:
        assert style_of(line, "no problems found") == DIM
        assert style_of(line, "3 notes") == DIM


def test_doctor_is_green_without_any_finding(kraftool: Run, fixtures_dir: Path) -> None:
    path = fixtures_dir / "kafka-4.3.0/slow-follower/node-1/data"
    ran, lines = coloured(kraftool, "doctor", path)
    assert ran.code == 0
    assert [line for line in lines if "no problems found" in line]
    own, verdict = (line for line in lines if "no problems found" in line)
    assert style_of(own, "no problems found") == GREEN
    assert style_of(verdict, "no problems found") == DIM, "voter 2 was not given"


def test_what_doctor_could_not_look_at_is_not_green(kraftool: Run, fixtures_dir: Path) -> None:
    ran, lines = coloured(
        kraftool, "doctor", fixtures_dir / "kafka-4.3.0/slow-follower/node-1/data",
        "--ignore", "KT-SIG-BROKER-FENCED",
    )  # fmt: skip
    assert ran.code == 0
    (head,) = (line for line in lines if "node 1" in line and "no problems found" in line)
    assert style_of(head, "no problems found") == GREEN, "there was nothing to ignore"
    log = fixtures_dir / "kafka-4.3.0/slow-follower/node-1/data/__cluster_metadata-0"
    ran, lines = coloured(kraftool, "doctor", next(log.glob("*.log")))
    verdicts = [line for line in lines if "no problems found in what was looked at" in line]
    assert verdicts
    assert style_of(verdicts[-1], "no problems found in what was looked at") == DIM


@pytest.mark.parametrize(
    ("down", "style", "mark"), [((), GREEN, "✓"), ((2,), YELLOW, "▲"), ((2, 3), RED, "✖")]
)
def test_an_election_is_as_bad_as_what_the_quorum_tolerates(
    kraftool: Run, fixtures_dir: Path, down: tuple[int, ...], style: str, mark: str
) -> None:
    voters = [fixtures_dir / QUORUM / f"node-{node}/data" for node in (2, 3, 4)]
    options = [word for node in down for word in ("--down", node)]
    _ran, lines = coloured(kraftool, "simulate-election", "--runs", 6, *options, *voters)
    looks = [look.replace("1;", "") for look, _ in pieces(lines[0])]
    assert lines[0].partition("m")[2].startswith(mark)
    assert set(looks) == {style.replace("1;", "")}
    arrows = [line for line in lines if line.partition("m")[2].startswith("→")]
    assert arrows
    for line in arrows:
        assert style_of(line, "→") == style
