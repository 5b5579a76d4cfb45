"""Commands on a live quorum whose network breaks: what they say is never better than the truth.

Controllers of Kafka and of kraftool run in network namespaces, with a client that creates topics.
KRAFTOOL_RIG_STOPS and KRAFTOOL_RIG_POLLS say how many a quorum gets, KRAFTOOL_RIG_SEED which faults
come, and KRAFTOOL_RIG_REPORT names a folder for what each poll said.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import kafka, namespaces, rig_truth
from tests.interop.namespaces import HERE
from tests.interop.rig import FAULTS, Rig, amount, faults_in_turn, running

pytestmark = [pytest.mark.interop, pytest.mark.soak]
QUORUMS = [
    pytest.param("3.9.1", (), id="3.9.1"),
    pytest.param("4.3.0", (), id="4.3.0"),
    pytest.param(kafka.NEWEST, (3,), id="4.4.0 and ours"),
]
LEADER_WITHIN_S = 40.0
"""For an election on a busy machine, and the topic that shows that it is over."""


@pytest.fixture
def rig(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Rig]:
    version, ours = request.param
    if problem := kafka.available(version) or namespaces.problem():
        pytest.skip(problem)
    with running(version, tmp_path / "nodes", ours=ours) as made:
        yield made


def _chooser() -> random.Random:
    seed = int(os.environ.get("KRAFTOOL_RIG_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"KRAFTOOL_RIG_SEED={seed}")
    return random.Random(seed)


def _next_topic(rig: Rig) -> float | None:
    """The seconds until a topic is created; None if that takes too long."""
    began = time.monotonic()
    while time.monotonic() < began + LEADER_WITHIN_S:
        if rig.created and rig.created[-1] > began:
            return rig.created[-1] - began
        time.sleep(0.1)
    return None


def _report(rig: Rig, name: str, lines: list[str]) -> str:
    """Write down faults and polls by time; return where, or the lines that matter."""
    folder = os.environ.get("KRAFTOOL_RIG_REPORT")
    if folder:
        rows = [(at, f"-- {words}") for at, words in rig.faults]
        rows += [
            (p.began, f"{p.command}: {p.ended - p.began:.1f} s, exit {p.code}, spare {p.spare}")
            for p in rig.polls
        ]
        text = "".join(f"{at:10.1f} {words}\n" for at, words in sorted(rows))
        path = Path(folder) / f"{name}.txt"
        path.write_text(text + "\n" + "\n\n".join(lines) + "\n")
    return "\n".join(line[:1500] for line in lines)


@pytest.mark.parametrize(
    "rig",
    [pytest.param(quorum.values, id=quorum.id) for quorum in QUORUMS],
    indirect=True,
)
def test_a_stop_that_may_stop_allows_leaves_a_leader(rig: Rig) -> None:
    chooser = _chooser()
    stops = amount("KRAFTOOL_RIG_STOPS", 30 // len(QUORUMS))
    allowed, refused = 0, 0
    problems: list[str] = []
    others = ("a voter is killed", "a voter is paused", "a voter is slow", "kraftool is slow")
    while allowed < stops:
        fault = chooser.choice([*others, *[""] * len(others)])
        if fault:
            FAULTS[fault](rig, chooser)
        leader = rig.leader()
        voter = leader if chooser.random() < 0.5 else chooser.choice(sorted(rig.voters))
        if rig.may_stop(voter, *rig.metrics()):
            allowed += 1
            if rig.node(voter).process is not None and voter not in rig.paused:
                rig.stop(voter, clean=chooser.random() < 0.5)
            took = _next_topic(rig)
            who = "leader" if voter == leader else "voter"
            words = f"stop {allowed}: {who} {voter}, with {fault or 'no fault'}"
            print(f"{words}: {took and round(took, 1)} s without a topic")
            if took is None:
                problems.append(f"{words}: no leader within {LEADER_WITHIN_S:g} s")
        else:
            refused += 1
        rig.heal()
        rig.wait_healthy()
    print(f"{allowed} stops after a yes, {refused} answers no")
    assert not problems, _report(rig, "stops", problems)


@pytest.mark.parametrize(
    "rig",
    [pytest.param(quorum.values, id=quorum.id) for quorum in QUORUMS],
    indirect=True,
)
def test_no_poll_is_better_than_the_truth_and_none_worse_for_long(
    rig: Rig, request: pytest.FixtureRequest
) -> None:
    chooser = _chooser()
    polls = amount("KRAFTOOL_RIG_POLLS", 200)
    with rig.watched() as titles, rig.polled(polls) as has_enough:
        rig.wait_settled()
        for name, fault in faults_in_turn(chooser):
            rig.faults.append((time.monotonic(), name))
            fault(rig, chooser)
            rig.wait_noticed()
            rig.heal()
            rig.wait_healthy()
            rig.wait_settled()
            if has_enough.is_set():
                break
    wrong = [
        f"{poll.command} at {poll.began:.1f}: {why}\n{poll.text}"
        for poll in rig.polls
        if (why := rig_truth.wrong(poll, rig.moments, rig.created))
    ]
    wrong += [f"flicker: {words}" for words in rig_truth.flickers(titles, rig.moments)]
    print(f"{len(rig.polls)} polls, {len(titles)} titles, {len(wrong)} wrong,", end=" ")
    print(f"{len(rig.created)} topics")
    shown = _report(rig, f"polls-{request.node.callspec.id.replace(' ', '-')}", wrong)
    assert not wrong, f"{len(wrong)} polls or titles are wrong:\n{shown}"


@pytest.mark.parametrize("rig", [pytest.param(("4.3.0", ()), id="4.3.0")], indirect=True)
def test_a_dashboard_on_a_slow_path_has_no_false_event(rig: Rig) -> None:
    """0.9 s there and back for ten minutes, while topics are created."""
    seconds = 60.0 * amount("KRAFTOOL_RIG_MINUTES", 10)
    epoch = rig.cluster.leader_epoch()
    rig.slow(0.45, HERE)
    with rig.watched() as titles:
        kafka.wait_for(
            "the dashboard to run for so long",
            lambda: titles and titles[-1].at - titles[0].at > seconds,
            timeout=2 * seconds,
            every=1,
        )
    print(f"{len(titles)} titles, {sum(title.is_grey for title in titles)} of them grey")
    assert rig.cluster.leader_epoch() == epoch, "the machine is too busy for this test"
    assert [*map(str, rig.events)] == [f"watching begins: node {rig.leader()} leads epoch {epoch}"]
    first = next(number for number, title in enumerate(titles) if not title.is_grey)
    assert {t.words for t in titles[first:] if not t.is_grey} == {titles[first].words}


def test_voters_that_cannot_call_each_other_are_seen_by_their_metrics(tmp_path: Path) -> None:
    """kraftool reaches all three, so that only the voters themselves know of the cut."""
    if problem := kafka.available(kafka.NEWEST) or namespaces.problem():
        pytest.skip(problem)
    with running(kafka.NEWEST, tmp_path / "nodes", ours=(2, 3)) as rig:
        leader = rig.leader()
        one, other = sorted(rig.voters - {leader})
        kafka.wait_for("a yes", lambda: rig.may_stop(leader, *rig.metrics()), every=0.5)
        rig.cut((one, other), (other, one))
        kafka.wait_for("a no", lambda: not rig.may_stop(leader, *rig.metrics()), every=0.5)
        assert rig.may_stop(leader), "without the metrics it cannot know"
        rig.heal()
        kafka.wait_for("a yes again", lambda: rig.may_stop(leader, *rig.metrics()), every=0.5)
