"""What kraftool says that Kafka does at its start, against a Kafka that started.

The main rows are compared with recorded starts of 4.3.0. `make soak` shows the variants too, on
each version, with a process for each start.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftool.reports.findings.kinds import KINDS
from tests.interop.recorded_starts import RecordedStarts, recording_of_starts
from tests.interop.start_claims import Claim
from tests.interop.start_claims_none import NO_START
from tests.interop.start_claims_quorum import CLAIMS
from tests.interop.start_damages_quorum import make_voters, peer
from tests.interop.starts import DYNAMIC, Started, Starts, server

pytestmark = pytest.mark.slow

REPORTS = Path(__file__).parents[2] / "kraftool/reports"


MAIN = {str(claim): claim for claim in CLAIMS if "4.3.0" in claim.versions and not claim.is_variant}
RECORDING = recording_of_starts(
    "starts", "4.3.0", lambda starts, claim: run(starts, MAIN[claim]), tuple(MAIN)
)


def run(starts: Starts, claim: Claim) -> list[Started]:
    """Damage directories as a claim has it, and start Kafka on them."""
    node = server(starts.copy(claim.base), dynamic=claim.base == DYNAMIC)
    peers = [peer(node, number) for number in range(2, 2 + len(claim.peers))]
    make_voters(node, *peers)
    for damage, damaged in zip((claim.damage, *claim.peers), (node, *peers), strict=True):
        damage(damaged)
    return starts.start(
        node, *peers, repair=claim.repair, seconds=claim.seconds, writes=claim.writes
    )


def prove(starts: Starts, claim: Claim) -> None:
    nodes = run(starts, claim)
    [started, *_] = nodes
    for check in claim.shows:
        check(started)
    for check_all in claim.together:
        check_all(nodes)
    words = claim.says.format(**facts(started))
    reported = [finding for finding in started.findings if finding.code == claim.code]
    texts = [f"{finding.text}. {finding.advice}" for finding in reported]
    assert reported, {finding.code for finding in started.findings}
    kind = KINDS[claim.code]
    assert any(words in text for text in (*texts, f"{kind.meaning} {kind.advice}")), (words, texts)


def facts(started: Started) -> dict[str, object]:
    """What words of a claim may hold: the offsets that Kafka came to."""
    end, start = started.end, started.start
    return {
        "end": end,
        "start": start,
        "old_end": started.old_end,
        "lost": started.old_end - (end or 0),
        "after": started.old_end - (start or 0),
        "cut": started.first_hole,
    }


@pytest.mark.parametrize("claim", MAIN.values(), ids=str)
def test_kafka_does_what_kraftool_says(tmp_path: Path, claim: Claim) -> None:
    starts = RecordedStarts(RECORDING, tmp_path)
    starts.question = str(claim)
    prove(starts, claim)


@pytest.mark.interop
@pytest.mark.soak
@pytest.mark.parametrize(
    ("version", "claim"),
    [
        pytest.param(version, claim, id=f"{version}-{claim}")
        for claim in CLAIMS
        for version in claim.versions
    ],
)
def test_each_version_does_it_in_a_process_of_its_own(
    tmp_path: Path, claim: Claim, version: str
) -> None:
    # Nodes of one quorum start together, which needs one JVM.
    with Starts(version, tmp_path, own_process=not claim.peers) as starts:
        prove(starts, claim)


SENTENCE = re.compile(r"(?<=[.;:])\s+")
ACTS = re.compile(
    r"\b(Kafka|it|controllers?|nodes?|brokers?|them|[Ww]ho|start|snapshot|that [^.;:]*)"
    r" (?:\w+ ){0,2}?(refuses|starts|cuts|wipes|dies|exits|ends|stops|makes|rewrites|raises|loads|"
    r"keeps|skips|removes|deletes|believes|takes|ignores|goes|reads|leaves|empties|compares|says|"
    r"aborts|loses|opens|truncates|knows|know|can (?:read|load))\b"
)
ADVICE = re.compile(
    r"\b[Bb]efore (\S+ ){1,4}starts?\b|running Kafka never|no Kafka writes|no Kafka version|"
    r"no resolver|Kafka never|reads may begin|as Kafka|Kafka also drops"
)
"""What to do before a start, and what Kafka never writes."""
AREAS = ("KT-LOG", "KT-SNAP", "KT-DIR", "KT-SIG")
ADVISING = ("log_cut", "log_findings", "snapshot_advice", "file_names", "severity_in_context")
"""The modules of reports that put the case's offsets into such sentences."""


def sentences() -> Iterator[tuple[str, str]]:
    """The code, or the module, and each of its sentences that says what Kafka does."""
    for kind in KINDS.values():
        if kind.code.startswith(AREAS):
            for sentence in SENTENCE.split(f"{kind.meaning} {kind.advice}"):
                if ACTS.search(sentence) and not ADVICE.search(sentence):
                    yield kind.code, sentence
    for name in ADVISING:
        (module,) = REPORTS.rglob(f"{name}.py")
        tree = ast.parse(module.read_text())
        docs = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docs:
                for sentence in SENTENCE.split(node.value):
                    if ACTS.search(sentence) and not ADVICE.search(sentence):
                        yield name, sentence


def proves(claim: Claim, source: str, sentence: str) -> bool:
    """True if the words of a claim are in a sentence, or the sentence is in them."""
    if claim.code != source and source not in ADVISING:
        return False
    pieces = [piece for piece in re.split(r"\{\w+\}", claim.says) if len(piece.strip(" ,.")) > 11]
    if source not in ADVISING:
        kind = KINDS[source]
        text = f"{kind.meaning} {kind.advice}"
        at, begin = text.find(claim.says), text.find(sentence)
        return at >= 0 and at < begin + len(sentence) and begin < at + len(claim.says)
    return any(piece.strip() in sentence or sentence.strip() in piece for piece in pieces)


def test_each_sentence_about_kafka_is_shown_by_a_start_or_has_a_reason() -> None:
    open_sentences = {
        (source, sentence)
        for source, sentence in sentences()
        if not any(proves(claim, source, sentence) for claim in CLAIMS)
    }
    excused = {
        (source, sentence)
        for source, sentence in open_sentences
        if any(words in sentence for words in NO_START.get(source, {}))
    }
    assert open_sentences == excused, sorted(open_sentences - excused)
    unused = [
        (source, words)
        for source, reasons in NO_START.items()
        for words in reasons
        if not any(source == code and words in sentence for code, sentence in open_sentences)
    ]
    assert not unused, "a reason that no sentence needs"
