"""The one judgement of a quorum, against quorums whose past is known."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace

import pytest

from kraftool.decoders.checkpoint_files import EpochEntry
from kraftool.raft.names import OffsetAndEpoch
from kraftool.reports.election.assessment import (
    Assessment,
    LossBound,
    NextStep,
    QuorumSafety,
    assess,
)
from kraftool.reports.election.assessment_words import sentences
from kraftool.reports.election.case import ElectionCase, Obstacle
from kraftool.reports.election.common_point import at_one_moment
from kraftool.reports.election.losses import (
    CommitEvidence,
    CommitStatus,
    losses,
    may_have_unseen_by_doubt,
)
from kraftool.reports.election.scenario import parse_scenario
from tests.reports.quorum_histories import OLD_COPY, History, hurt

pytestmark = pytest.mark.slow

MANY = 150
"""Histories for each size of a quorum."""


def judged(text: str) -> Assessment:
    return assess(parse_scenario(text.encode(), "test").case)


@pytest.mark.parametrize("voters", [3, 5])
def test_the_verdict_is_never_better_than_the_truth(voters: int) -> None:
    # Of every old copy something may be impossible to know: no other directory shows the records.
    counts: Counter[str] = Counter()
    for seed in range(MANY):
        history = History.played(seed, voters)
        incidents = hurt(history, seed)
        disks = history.after(incidents)
        has_records = any(disk.log for disk in disks.values())
        if not disks or (set(history.ids) <= disks.keys() and not has_records):
            continue  # no directory, or the same as a quorum that was formatted and never started
        assessment = assess(history.case(disks))
        is_plain = OLD_COPY not in incidents.values()
        loses = history.can_lose(disks, is_shown=not is_plain)
        says_safe = assessment.state is QuorumSafety.SAFE
        assert not (loses and says_safe), (seed, incidents, assessment)
        assert says_safe == (assessment.loss is LossBound.NONE and bool(assessment.can_lead)), seed
        if is_plain and assessment.may_be_committed_to is not None:
            assert assessment.may_be_committed_to >= len(history.committed), (
                seed,
                incidents,
                assessment,
            )
        first = assessment.start_first
        if first:
            assert not history.can_lose(disks, is_shown=not is_plain, among=first), (
                seed,
                assessment,
            )
        verdict = "safe" if says_safe else "safe in an order" if first else "at risk"
        counts[f"{verdict}, {'loses' if loses else 'loses nothing'}"] += 1
    print(voters, counts)
    assert counts["safe, loses nothing"] + counts["safe in an order, loses nothing"] > 10
    assert counts["safe in an order, loses"] > 5
    assert counts["at risk, loses"] > 10


def at_rest(ends: dict[int, int], *, leader: int, running: tuple[int, ...] = ()) -> ElectionCase:
    """Voters 1 to 3 and broker 4 with parts of one log of epoch 1, a record each 100 ms."""
    nodes = ", ".join(f"{node}: {{end: {end}, epoch: 1}}" for node, end in ends.items())
    text = f"voters: [1, 2, 3]\nkraftVersion: 0\nnodes: {{{nodes}}}"
    case = parse_scenario(text.encode(), "test").case
    for node in case.nodes:
        log = replace(
            node.log, leaders=((1, leader),), last_timestamp_ms=1_000_000 + 100 * node.log.end
        )
        case = case.with_node(replace(node, log=log, is_running=node.id in running))
    return case


@pytest.mark.parametrize("running", [(), (4,)])
def test_a_running_broker_is_evidence_against_a_stopped_leader(running: tuple[int, ...]) -> None:
    """The leader wrote what the broker has, and lacks it: its directory is an old copy."""
    assessment = assess(at_rest({1: 90, 2: 80, 3: 80, 4: 100}, leader=2, running=running))
    assert [(voter.id, voter.is_doubt) for voter in assessment.forgetful] == [
        (1, True),
        (2, False),
        (3, True),
    ]
    assert assessment.loss is LossBound.UNBOUNDED
    assert not assessment.start_first


def test_what_no_directory_shows_begins_where_the_best_log_ends() -> None:
    """Voter 1 ends at 183, voter 3 at its damage at 594, and voter 2 was not given."""
    case = at_rest({1: 183, 3: 600}, leader=3)
    node = case.by_id[3]
    log = replace(node.log, end=594, behind=OffsetAndEpoch(600, 1))
    assessment = assess(case.with_node(replace(node, log=log)))
    assert (assessment.lost_range, assessment.unseen_from) == ((183, None), 594)
    (sentence,) = (sentence for sentence in sentences(assessment) if "may exist" in sentence)
    assert "If node 1 is elected, offsets 183 to 593 can be lost" in sentence, "node 3 has them"
    assert "from offset 594 on may exist that no directory shows: they are lost if node 1 or" in (
        sentence
    )
    assert "from offset 594 on may exist that no directory shows" in sentence


def test_an_offset_that_its_neighbours_contradict_makes_no_log_the_best() -> None:
    """Voter 3 has a batch at 594 that claims offset 990, and voter 2 was not given."""
    case = at_rest({1: 183, 3: 991}, leader=3)
    node = case.by_id[3]
    assessment = assess(case.with_node(replace(node, log=replace(node.log, odd=594))))
    assert (assessment.lost_range, assessment.unseen_from) == ((183, None), 594)


@pytest.mark.parametrize(
    ("behind", "is_end_known", "lost_range"),
    [
        (OffsetAndEpoch(100, 1), True, (40, 100)),  # all of it is in the log of voter 1
        (OffsetAndEpoch(120, 1), True, (40, 120)),
        (OffsetAndEpoch(60, 2), True, (40, 100)),  # a later leader's, from the damage on
        (OffsetAndEpoch(100, 1), False, (40, None)),
    ],
)
def test_a_damaged_log_had_no_more_than_its_sound_end_shows(
    behind: OffsetAndEpoch, is_end_known: bool, lost_range: tuple[int, int | None]
) -> None:
    """Voter 2 lost its log, and voter 3 has damage at 40 and sound batches behind it."""
    case = at_rest({1: 100, 2: 0, 3: 40}, leader=2)
    node = case.by_id[3]
    log = replace(node.log, behind=behind, is_end_known=is_end_known)
    assessment = assess(case.with_node(replace(node, log=log)))
    assert assessment.state is QuorumSafety.AT_RISK, "voters 2 and 3 can elect 3"
    assert assessment.lost_range == lost_range
    ends_later = behind.rank > (1, 100)
    assert (1 in assessment.harmful) is (ends_later or not is_end_known)


@pytest.mark.parametrize(("reaches", "forgetful"), [(90, {2, 3}), (100, {1, 2, 3})])
def test_batches_behind_damage_are_evidence_against_their_leader(
    reaches: int, forgetful: set[int]
) -> None:
    """The leader's log was cut inside a batch at 90. A follower is damaged at its first batch, and
    its sound batches behind that show how much the leader wrote."""
    case = at_rest({1: 90, 2: 80, 3: 100}, leader=1)
    node = case.by_id[3]
    damaged = replace(node.log, end=0, epochs=(), voter_sets=(), behind=OffsetAndEpoch(reaches, 1))
    assessment = assess(case.with_node(replace(node, log=damaged)))
    assert {voter.id for voter in assessment.forgetful} == forgetful
    assert (assessment.loss is LossBound.UNBOUNDED) is (1 in forgetful)


def test_the_log_of_a_running_leader_may_have_grown() -> None:
    assessment = assess(at_rest({1: 100, 2: 90, 3: 90, 4: 100}, leader=2, running=(2,)))
    assert all(voter.is_doubt for voter in assessment.forgetful)
    assert 2 not in {voter.id for voter in assessment.forgetful}


def test_followers_that_lag_behind_their_leader_start_after_it() -> None:
    """Old copies of a second ago look the same, so that the leader's records may be committed."""
    assessment = assess(at_rest({1: 100, 2: 90, 3: 90, 4: 90}, leader=1))
    assert assessment.state is QuorumSafety.AT_RISK
    assert assessment.lost_range == (90, 100)
    assert 1 in assessment.start_first
    assert [voter.is_doubt for voter in assessment.forgetful] == [True, True]
    one_behind = assess(at_rest({1: 100, 2: 100, 3: 90, 4: 90}, leader=1))
    assert one_behind.state is QuorumSafety.SAFE, "a majority has all of it"


@pytest.mark.parametrize(
    ("others", "is_open"),
    [((100, 94), False), ((94, 94), True), ((30, 94), True), ((30, 30), True)],
)
def test_only_a_majority_that_ends_together_leaves_no_doubt(
    others: tuple[int, int], is_open: bool
) -> None:
    """A leader that was cut off leaves two shorter logs, and so does a cut of both at one batch."""
    case = at_rest({1: 100, 2: others[0], 3: others[1]}, leader=1)
    assert may_have_unseen_by_doubt(CommitEvidence.of(case)) is is_open
    text = "Nothing was committed from offset 100 on"
    clause = ", unless a directory is an old copy or lost its end" if is_open else ""
    assert f"{text}{clause}." in sentences(assess(case))


def test_a_record_that_a_later_leader_was_elected_without_was_never_committed() -> None:
    """Voter 2 has the record at 162 of epoch 13. Epoch 14 begins at 162 in the log of voter 1."""
    case = at_rest({1: 172, 2: 163}, leader=1)
    one, two = case.by_id[1], case.by_id[2]
    epochs = (EpochEntry(13, 0), EpochEntry(14, 162))
    case = case.with_node(replace(one, log=replace(one.log, epochs=epochs)))
    case = case.with_node(replace(two, log=replace(two.log, epochs=epochs[:1])))
    (cut,) = losses(case, case.by_id[1])
    assert (cut.first_offset, cut.end, cut.commit_status) == (162, 163, CommitStatus.NOT)
    assessment = assess(case)
    assert (assessment.harmful, assessment.lost_range) == ((2,), (162, 172))
    assert assessment.start_first == (1, 2)
    shorter = replace(one, log=replace(one.log, epochs=epochs[:1], end=162))
    with_record = losses(case.with_node(shorter), shorter)
    assert [loss.commit_status for loss in with_record] == [CommitStatus.POSSIBLE], (
        "no later leader"
    )


def test_what_only_a_snapshot_has_is_cut_off_too() -> None:
    """Voter 1 has a snapshot at 33 and no record behind it. Voters 2 and 3 can elect each other,
    and one of them has lost what it had confirmed: without that, there would be no snapshot."""
    case = at_rest({1: 40, 2: 6, 3: 1}, leader=1)
    node = case.by_id[1]
    log = replace(node.log, start=33, end=33, epochs=(), snapshots=(OffsetAndEpoch(33, 1),))
    assessment = assess(case.with_node(replace(node, log=log)))
    assert 2 in assessment.can_lead
    assert assessment.state is QuorumSafety.AT_RISK
    assert assessment.lost_range == (6, 33)
    assert [(voter.id, voter.first_offset, voter.is_doubt) for voter in assessment.forgetful] == [
        (2, 6, False),
        (3, 1, False),
    ]
    (cut,) = losses(case.with_node(replace(node, log=log)), case.by_id[2])
    assert (cut.first_offset, cut.end, cut.commit_status) == (6, 33, CommitStatus.COMMITTED)


def test_a_snapshot_without_any_log_has_its_records() -> None:
    """It is all that is left of voter 1: no segment says where its log began."""
    case = at_rest({1: 33, 2: 6, 3: 1}, leader=1)
    node = case.by_id[1]
    alone = replace(node.log, end=0, epochs=(), snapshots=(OffsetAndEpoch(33, 1),))
    case = case.with_node(replace(node, log=alone))
    (cut,) = losses(case, case.by_id[2])
    assert (cut.first_offset, cut.end, cut.holders) == (6, 33, (1,))
    assert cut.commit_status is CommitStatus.COMMITTED
    assert 2 in assess(case).harmful


def test_logs_of_running_voters_are_read_moments_apart() -> None:
    """Voter 2 was stopped long ago. 1 was read two records before 3, in the same epoch."""
    case = at_one_moment(at_rest({1: 95, 2: 20, 3: 97, 4: 97}, leader=3, running=(1, 3)))
    assessment = assess(case)
    assert (assessment.state, assessment.loss, assessment.harmful) == (
        QuorumSafety.SAFE,
        LossBound.NONE,
        (),
    )
    assert [lagging.id for lagging in assessment.lagging] == [2], "1 does not lag"
    assert (assessment.running_voters.running, assessment.running_voters.read_apart) == (
        (1, 3),
        (1,),
    )
    text = " ".join(sentences(assessment))
    assert "Voters 1 and 3 are running, which is a majority" in text
    assert "takes the log of voter 1 as long as the longest of a running voter" in text
    assert "Leave voters 1 and 3 running, and ask them with kraftool quorum health." in text
    assert text.endswith("Start 2.")
    assert "lost" not in text
    assert "committed from" not in text, "they write while they are read"


def test_the_order_of_reading_explains_nothing_about_a_stopped_voter() -> None:
    """As above, but 1 does not run: its log is judged as it is."""
    case = at_rest({1: 95, 2: 20, 3: 97, 4: 97}, leader=3, running=(3,))
    assert at_one_moment(case) == case
    assert assess(case).state is QuorumSafety.AT_RISK


@pytest.mark.parametrize("change", ["another epoch", "damage", "other records"])
def test_the_order_of_reading_explains_no_other_difference(change: str) -> None:
    case = at_rest({1: 95, 2: 20, 3: 97, 4: 20}, leader=3, running=(1, 3))
    one, three = case.by_id[1], case.by_id[3]
    began = EpochEntry(1, 0)
    if change == "another epoch":
        changed = replace(three, log=replace(three.log, epochs=(began, EpochEntry(2, 96))))
    elif change == "damage":
        changed = replace(one, log=replace(one.log, behind=OffsetAndEpoch(97, 1)))
    else:
        case = case.with_node(
            replace(three, log=replace(three.log, epochs=(began, EpochEntry(3, 80))))
        )
        middle = (began, EpochEntry(2, 70), EpochEntry(3, 80))
        changed = replace(one, log=replace(one.log, epochs=middle))
    case = case.with_node(changed)
    assert at_one_moment(case) == case


def test_one_running_voter_needs_one_more() -> None:
    """1 led; 3 stopped 0.2 s before its last record, and 2 0.4 s."""
    assessment = assess(at_rest({1: 100, 2: 96, 3: 98, 4: 98}, leader=1, running=(1,)))
    text = " ".join(sentences(assessment))
    assert "Voter 1 is running and needs 1 more voter for a majority. Start 3 (best) or 2." in text
    assert "Only a minority of the voters has" in text
    assert "first, wait until" not in text, "nothing is said of an order of starts"


@pytest.mark.parametrize(
    ("others", "standing"),
    [((94, 94), CommitStatus.MINORITY), ((30, 94), CommitStatus.MINORITY),
     ((30, 30), CommitStatus.POSSIBLE)],
)  # fmt: skip
def test_records_of_a_minority_are_uncommitted_unless_a_disk_lost_its_end(
    others: tuple[int, int], standing: CommitStatus
) -> None:
    """As in `test_no_leader_writes_alone_for_long`: a longer time is evidence for an old copy."""
    case = at_rest({1: 100, 2: others[0], 3: others[1]}, leader=1)
    assert losses(case, case.by_id[3])[-1].commit_status is standing
    assessment = assess(case)
    assert assessment.state is QuorumSafety.AT_RISK, "the judgement is no better for it"
    assert assessment.is_on_minority is (standing is CommitStatus.MINORITY)


def test_with_a_torn_tail_or_a_missing_voter_records_may_be_committed() -> None:
    case = at_rest({1: 100, 2: 94, 3: 94}, leader=1)
    node = case.by_id[2]
    torn = case.with_node(replace(node, log=replace(node.log, is_torn=True)))
    assert losses(torn, torn.by_id[3])[-1].commit_status is CommitStatus.POSSIBLE
    without = replace(case, nodes=tuple(node for node in case.nodes if node.id != 2))
    assert losses(without, without.by_id[3])[-1].commit_status is CommitStatus.POSSIBLE


@pytest.mark.parametrize("voters", [5, 7])
def test_a_judgement_takes_no_two_seconds(voters: int) -> None:
    """By the processor's time: every set of voters, every leader, and then a second leader."""
    longest = 0.0
    for seed in range(30):
        history = History.played(seed, voters)
        disks = history.after(hurt(history, seed) if seed % 2 else {})
        if not seed % 2:  # equal logs but for one: every set is tried, and a second leader
            best = max(disks.values(), key=lambda disk: disk.rank)
            disks = {
                voter_id: disks[voter_id] if voter_id == 1 else best for voter_id in history.ids
            }
        case = history.case(disks)
        begun = time.process_time()
        assess(case)
        longest = max(longest, time.process_time() - begun)
    assert longest < 2
    print(voters, f"{longest:.3f} s")


DAMAGED = Obstacle(code="KT-SNAP-DAMAGE", text="the newest snapshot is damaged")


def without_a_start(case: ElectionCase, *ids: int) -> ElectionCase:
    for node_id in ids:
        case = case.with_node(replace(case.by_id[node_id], obstacle=DAMAGED))
    return case


def test_no_node_is_elected_if_kafka_exits_on_a_majority() -> None:
    """Of a real 4.3.1 with the newest snapshot damaged on 2 and 3, both exit, and 1 waits."""
    assessment = assess(without_a_start(at_rest({1: 90, 2: 90, 3: 90}, leader=1), 2, 3))
    assert (assessment.state, assessment.can_lead) == (QuorumSafety.NO_LEADER, ())
    assert (assessment.to_repair, assessment.next_step) == ((2, 3), NextStep.RECOVER)
    assert "Kafka exits when it starts on nodes 2 and 3." in list(sentences(assessment))


def test_a_node_on_which_kafka_exits_is_repaired_before_it_starts() -> None:
    assessment = assess(without_a_start(at_rest({1: 90, 2: 90, 3: 90}, leader=1), 2))
    assert (assessment.state, assessment.can_lead) == (QuorumSafety.SAFE, (1, 3))
    words = "Start 1 and 3 in any order. Repair node 2 before you start it."
    assert list(sentences(assessment))[-1] == words


def test_no_advice_names_a_node_to_start_first_on_which_kafka_exits() -> None:
    """Node 2 leads with 1 or with 3, and then no other node harms."""
    case = at_rest({1: 80, 2: 100, 3: 90}, leader=2)
    case = case.with_node(replace(case.by_id[1], unseen="has a snapshot at 80 and no log"))
    assert assess(case).start_first == (1, 2)
    assert assess(without_a_start(case, 1)).start_first == (2, 3)
    assert assess(without_a_start(case, 2)).start_first == ()
