"""Who can win, why not, and how often: trials and runs over the core, from scenarios."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kraftool.reports.election.scenario import Scenario, parse_scenario
from kraftool.reports.election.what_if import wiped
from kraftool.reports.text.json_document import json_value
from kraftool.sim import chances as chances_module
from kraftool.sim import report as report_module
from kraftool.sim import run as run_module
from kraftool.sim.candidacy import Chance
from kraftool.sim.chances import Chances, Failures
from kraftool.sim.conditions import ConditionError, Conditions, CutLink, StartPace, partition
from kraftool.sim.document import simulate_election_document
from kraftool.sim.patience import horizon_ms, unhurried
from kraftool.sim.report import Report, VoterChangeAnswer, simulate
from kraftool.sim.run import ElectionRun
from kraftool.sim.verdict import verdict

pytestmark = pytest.mark.slow


def scenario(text: str) -> Scenario:
    return parse_scenario(text.encode(), "test")


def chances(text: str, cut: frozenset[CutLink] = frozenset()) -> dict[int, Chance]:
    parsed = scenario(text)
    conditions = Conditions(down=frozenset(parsed.down), cut=cut)
    return {chance.node: chance for chance in Chances(parsed.case).all(conditions)}


def report(
    text: str, *, runs: int = 20, cut: frozenset[CutLink] = frozenset(), delay_ms: int = 5
) -> Report:
    parsed = scenario(text)
    conditions = Conditions(down=frozenset(parsed.down), cut=cut, delay_ms=delay_ms)
    return simulate(parsed.case, conditions, seed=5, runs=runs)


def steps(result: Report) -> tuple[str, ...]:
    return tuple(next_step.advice for next_step in verdict(result).next_steps)


EQUAL = "nodes: {1: {end: 50}, 2: {end: 50}, 3: {end: 50}}"
LONGER = "nodes: {1: {end: 40}, 2: {end: 50}, 3: {end: 50, down: true}}"


def test_equal_logs_can_all_win() -> None:
    by_node = chances(EQUAL)
    assert all(chance.commits and not chance.refusals for chance in by_node.values())
    assert by_node[1].granted == (2, 3)


def test_a_longer_log_refuses_in_one_sentence() -> None:
    by_node = chances(LONGER)
    assert not by_node[1].wins
    assert by_node[2].commits
    assert [refusal.reason for refusal in by_node[1].refusals] == [
        "2 refuses 1: its log ends at 50 of epoch 1, beyond 1's 40 of epoch 1",
        "3 does not answer 1: it is down",
    ]


def test_a_later_epoch_beats_a_longer_log() -> None:
    nodes = "{1: {end: 90}, 2: {log: {1: 0, 2: 40}, end: 50}, 3: {end: 10, down: true}}"
    by_node = chances(f"nodes: {nodes}")
    assert by_node[2].commits
    assert by_node[1].refusals[0].reason == (
        "2 refuses 1: its log ends at 50 of epoch 2, beyond 1's 90 of epoch 1"
    )


def test_a_vote_that_was_given_holds_for_its_epoch_only() -> None:
    by_node = chances(
        "nodes: {1: {end: 5, epoch: 4, voted: 2}, 2: {end: 5}, 3: {end: 5, epoch: 9}}"
    )
    assert all(chance.commits for chance in by_node.values())


def test_another_directory_is_another_replica() -> None:
    parsed = scenario(EQUAL)
    case = wiped(parsed.case, 3)
    by_node = {chance.node: chance for chance in Chances(case).all(Conditions(down=frozenset([2])))}
    assert not by_node[1].wins
    kinds = {refusal.voter_id: refusal.kind for refusal in by_node[1].refusals}
    assert kinds == {2: "silent", 3: "replica"}
    assert by_node[3].why_not == "3 knows no voters: it waits until a leader reports them"


def test_static_voters_go_by_the_id_alone() -> None:
    case = wiped(scenario(f"kraftVersion: 0\n{EQUAL}").case, 3)
    by_node = {chance.node: chance for chance in Chances(case).all(Conditions(down=frozenset([2])))}
    assert by_node[1].commits, "an empty static voter grants its vote to anyone"
    assert not by_node[3].wins


def test_another_cluster_is_named() -> None:
    by_node = chances("nodes: {1: {end: 5}, 2: {end: 5, clusterId: other}, 3: {down: true}}")
    assert "2 refuses 1: it belongs to cluster other, not scenario" in [
        refusal.reason for refusal in by_node[1].refusals
    ]


def test_a_node_that_is_only_heard_can_be_elected_by_nobody() -> None:
    cut = partition("2,3>1", (1, 2, 3))
    by_node = chances(EQUAL, cut=cut)
    assert not by_node[1].wins, "it hears no answer"
    assert by_node[2].commits


def test_who_wins_in_runs_is_who_can_win() -> None:
    result = report(LONGER, runs=30)
    assert result.wins == {2: 30}
    assert result.leaders == (2,)
    assert result.failures == Failures(failures=0)
    even = report(EQUAL, runs=60)
    assert set(even.wins) == {1, 2, 3}, "nobody is preferred"
    assert even.failures == Failures(failures=1)
    assert all(restart.is_safe for restart in even.restarts)


def test_no_run_goes_without_a_leader_where_one_is_possible() -> None:
    for text in (EQUAL, LONGER):
        assert report(text).without_leader == 0


def test_an_even_split_has_no_leader_and_the_way_out_is_named() -> None:
    five = "nodes: {1: {end: 5}, 2: {end: 5}, 3: {end: 5}, 4: {end: 5}}"
    result = report(five, cut=partition("1,2|3,4", range(1, 5)))
    assert result.leaders == ()
    assert result.heals
    assert any("Repair the network" in step for step in steps(result))


def test_the_nodes_to_start_are_named_without_a_majority() -> None:
    result = report("nodes: {1: {end: 5, down: true}, 2: {end: 5, down: true}, 3: {end: 5}}")
    assert result.revivals == ((1,), (2,))
    words = verdict(result)
    assert not words.elected
    assert steps(result) == ("Start 1 or 2: with either a leader can be elected.",)


def test_failures_of_five_are_two() -> None:
    five = "nodes: {1: {end: 5}, 2: {end: 5}, 3: {end: 5}, 4: {end: 5}, 5: {end: 5}}"
    assert report(five, runs=1).failures == Failures(failures=2)


def test_a_loss_that_may_have_been_committed_is_told_first() -> None:
    result = report(
        "nodes: {1: {end: 60, down: true}, 2: {end: 50}, 3: {voters: []}}",
    )
    assert result.leaders == (2,)
    assert [(loss.first_offset, loss.end, loss.commit_status.value) for loss in result.grave] == [
        (50, 60, "possibly committed")
    ]
    words = verdict(result)
    assert words.details[0].startswith("DATA LOSS if 2 leads: offsets 50 to 59 (10 records) of 1")
    assert steps(result)[0] == "Do not start the nodes like this. Copy all directories first."
    assert steps(result)[1].startswith("Bring back 1 before any other node starts")
    assert steps(result)[2].startswith(
        "Then start 1 and 2 alone: each possible leader of these has all"
    )
    assert result.rescue == (1, 2), "2, which 1 refuses, votes for it"
    assert not result.is_fine


def test_a_restart_that_would_lose_records_is_not_safe() -> None:
    result = report("nodes: {1: {end: 60}, 2: {end: 50}, 3: {voters: []}}", runs=5)
    unsafe = {restart.node_id for restart in result.restarts if not restart.is_safe}
    assert 1 in unsafe, "without it 3's empty log elects 2"
    assert result.rescue == (1, 2)


def test_a_voter_without_its_log_ends_when_a_restarted_leader_says_goodbye() -> None:
    text = "nodes: {1: {end: 9, epoch: 1, leader: 1}, 2: {end: 9, epoch: 1, leader: 1}, 3: {NODE}}"
    result = report(text.replace("NODE", "voters: []"), runs=40)
    assert {(node, why) for node, why, _ in result.broken} == {
        (3, "leader 1 of epoch 1 has no endpoint of CONTROLLER")
    }
    assert result.without_leader == 0, "it is started again"
    assert "Start 3 last, once the others have a leader." in steps(result)
    # A later epoch in its quorum-state makes it deaf to the old leader.
    assert report(text.replace("NODE", "voters: [], epoch: 2"), runs=40).broken == ()


def test_a_candidate_of_an_epoch_that_another_node_won_ends() -> None:
    """As 4.3.0 does (test_simulate_election of the interop tests). 2 learns epoch 1 from an answer
    of 1, which names no leader."""
    text = "nodes: {1: {end: 9, NODE}, 2: {voters: []}, 3: {down: true}}"
    result = report(text.replace("NODE", "epoch: 1, leader: 3, voted: 1"), runs=40)
    assert {(node, why) for node, why, _ in result.broken} == {
        (1, "a request of this node was called invalid in its own epoch")
    }
    assert result.without_leader > 0
    words = " ".join(verdict(result).details)
    assert "1 voted for itself in epoch 1, but another node won that epoch." in words
    without_vote = report(text.replace("NODE", "epoch: 2"), runs=40)
    assert (without_vote.broken, without_vote.without_leader) == ((), 0)


def test_voters_are_changed_and_the_quorum_looked_at_again() -> None:
    parsed = scenario(
        "nodes: {1: {end: 5}, 2: {end: 5}, 3: {end: 5}, 4: {voters: []}}\nvoters: [1, 2, 3]"
    )
    conditions = Conditions(added_voters=(4,), removed_voters=(1,))
    result = simulate(parsed.case, conditions, seed=0, runs=5)
    assert [(change.node_id, change.kind, change.is_done) for change in result.changes] == [
        (1, "remove", True),
        (4, "add", True),
    ]
    assert result.voters_after == (2, 3, 4)
    assert result.failures_after == Failures(failures=1)


def test_static_voters_cannot_be_changed() -> None:
    parsed = scenario(f"kraftVersion: 0\n{EQUAL}")
    result = simulate(parsed.case, Conditions(removed_voters=(3,)), seed=0, runs=3)
    assert result.changes[0].answers == (
        VoterChangeAnswer(error_name="UNSUPPORTED_VERSION", runs=3),
    )


def test_the_same_seed_is_the_same_run() -> None:
    case = scenario(EQUAL).case
    first, again, other = (
        ElectionRun(case, Conditions(), seed, watched=True) for seed in (7, 7, 8)
    )
    assert first.go() == again.go()
    assert first.seen == again.seen
    other.go()
    assert other.seen != first.seen
    assert simulate_election_document(report(EQUAL, runs=5)) == simulate_election_document(
        report(EQUAL, runs=5)
    )


def test_longer_ways_take_longer() -> None:
    near, far = (report(EQUAL, runs=10, delay_ms=delay) for delay in (2, 300))
    assert (near.quantile_ms(0.5) or 0) < (far.quantile_ms(0.5) or 0)


# --- what is said and advised -----------------------------------------------------------------


def test_a_way_that_no_run_took_is_no_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_module, "_RUNS_TO_DOUBT", 2)
    late = report(EQUAL, runs=3, delay_ms=1950)
    assert (late.wins, late.runs) == ({}, 2), "more would be as vain"
    assert not verdict(late).elected
    assert "No leader could commit in 2 runs" in verdict(late).headline
    able = report(EQUAL, runs=1)
    result = replace(late, chances=able.chances)
    assert result.leaders == (1, 2, 3)
    words = verdict(result)
    assert not words.elected
    assert not result.is_fine
    assert words.headline.startswith("No leader was elected in 2 runs of ")
    (slow,) = words.details
    assert slow.startswith("A request and its answer take 1.9 s to 5.8 s together. After")
    assert steps(result) == ("Make messages faster, or the controller.quorum timeouts longer.",)


def test_answers_that_all_come_too_late_elect_nobody() -> None:
    result = report(EQUAL, runs=1, delay_ms=2000)
    assert result.leaders == ()
    assert "the answers come too late to count" in result.chances[0].why_not
    assert steps(result) == ("Make messages faster, or the controller.quorum timeouts longer.",)


def test_what_fails_and_restarts_knows_how_slow_messages_are() -> None:
    two = "nodes: {1: {end: 5}, 2: {end: 5}, 3: {end: 5, down: true}}"
    result = report(two, runs=1, delay_ms=4000)
    assert result.revivals == (), "a third node would be as slow"


def test_without_a_leader_nothing_is_advised_that_needs_one() -> None:
    case = wiped(wiped(scenario(EQUAL).case, 2), 3)
    result = simulate(case, Conditions(), seed=0, runs=3)
    assert "2 and 3 are newly formatted" in verdict(result).headline
    assert not any(next_step.commands for next_step in verdict(result).next_steps)
    assert steps(result)[-1].startswith("Find the old disk of 2 (directory-2) or 3 (directory-3)")


def test_a_replica_is_replaced_by_commands_that_can_be_copied() -> None:
    result = simulate(wiped(scenario(EQUAL).case, 3), Conditions(), seed=0, runs=3)
    first, second = verdict(result).next_steps
    assert first.advice.startswith("Do not restart voter 1 or 2 now")
    anywhere = "# replace host:port: kafka-metadata-quorum.sh --bootstrap-controller host:port"
    remove, wait, add = second.commands
    replica = "--controller-id 3 --controller-directory-id directory-3"
    assert remove == f"{anywhere} remove-controller {replica}"
    assert wait == f"{anywhere} describe --replication"
    assert add.endswith("--command-config server.properties --bootstrap-controller host:port"
                        " add-controller")  # fmt: skip


def test_restarts_are_advised_as_the_table_has_them() -> None:
    result = report(EQUAL, cut=partition("1>2", (1, 2, 3)))
    assert {restart.node_id: restart.is_safe for restart in result.restarts} == {
        1: True,
        2: True,
        3: False,
    }
    assert steps(result)[1:] == (
        "Do not restart 3 now: without it there is no leader.",
        "Restart 1 and 2 only one by one, each once the previous one has caught up.",
    )


def test_a_voter_that_is_down_is_to_come_back_first() -> None:
    five = "nodes: {1: {end: 5}, 2: {end: 5}, 3: {end: 5}, 4: {end: 5}, 5: {down: true}}"
    assert steps(report(five, runs=1)) == (
        "Bring node 5 back. Do not restart another voter before it has caught up.",
    )


def test_failures_that_were_not_all_tried_are_at_least_so_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(chances_module, "_MOST_TRIALS", 4)
    five = "nodes: {1: {end: 5}, 2: {end: 5}, 3: {end: 5}, 4: {end: 5}, 5: {end: 5}}"
    result = report(five, runs=1)
    assert result.failures == Failures(failures=0, is_exact=False)
    assert "The quorum tolerates at least 0 more failures." in verdict(result).details
    assert simulate_election_document(result).tolerated_failures == result.failures


TIMES = "; if all start together, within "


def test_a_likely_leader_is_named_and_no_share_of_the_runs_is() -> None:
    together, apart = StartPace.TOGETHER, StartPace.APART
    even = replace(
        report(EQUAL, runs=2), runs=100, wins={1: 33, 2: 33, 3: 34},
        wins_by_pace={together: {1: 17, 2: 16, 3: 17}, apart: {1: 16, 2: 17, 3: 17}},
    )  # fmt: skip
    assert verdict(even).headline.startswith(f"A leader is elected: 1, 2 or 3{TIMES}")
    often = replace(even, wins_by_pace={together: {1: 50}, apart: {1: 35, 2: 15}})
    assert f"1, 2 or 3, likely 1{TIMES}" in verdict(often).headline
    once = replace(even, wins_by_pace={together: {1: 50}, apart: {1: 24, 2: 26}})
    assert "likely" not in verdict(once).headline, "it depends on how the nodes start"
    coin = replace(even, wins_by_pace={together: {1: 26, 2: 24}, apart: {1: 27, 2: 23}})
    assert "likely" not in verdict(coin).headline, "two equal nodes differ by chance"
    assert "%)" not in verdict(often).headline
    assert {outlook.node: outlook.likelihood.value for outlook in often.outlooks} == {
        1: "likely", 2: "possible", 3: "possible",
    }  # fmt: skip


def test_a_leader_that_is_restarted_wins_runs_in_which_it_starts_first() -> None:
    restarted = "nodes: {1: {end: 9, leader: 1}, 2: {end: 9, leader: 1}, 3: {end: 9, leader: 1}}"
    result = report(restarted, runs=60)
    assert result.wins_by_pace[StartPace.APART].get(1, 0) > 3, (
        "it led 10 of 30 real starts at least"
    )
    nodes = {node["id"]: node for node in json_value(simulate_election_document(result).nodes)}
    assert nodes[1]["likelihood"] == "possible"
    assert [node["start"] for node in nodes[1]["shares"]] == ["together", "apart"]


def test_the_only_node_that_can_lead_has_no_share() -> None:
    result = report(LONGER, runs=4)
    assert {outlook.node: outlook.likelihood.value for outlook in result.outlooks} == {
        1: "no", 2: "only", 3: "no",
    }  # fmt: skip
    assert "2, the only one that can win; if" in verdict(result).headline


def test_a_voter_that_ended_with_an_error_is_not_just_silent() -> None:
    by_node = chances("nodes: {1: {end: 9, leader: 1}, 2: {end: 9, leader: 1}, 3: {voters: []}}")
    assert (
        "3 does not answer 1: it has stopped with an error (leader 1 of epoch 1 has no"
        " endpoint of CONTROLLER)" in [refusal.reason for refusal in by_node[1].refusals]
    )


def test_patient_timeouts_are_waited_for_without_asking_all_the_time() -> None:
    text = f"timing: {{electionTimeoutMs: 40000}}\n{EQUAL}"
    parsed = scenario(text)
    slow, plain = (
        horizon_ms(parsed.case, Conditions()),
        horizon_ms(scenario(EQUAL).case, Conditions()),
    )
    assert (plain, slow) == (60_000, 8000 + 10 * (2000 + 80_000 + 1000) + 20 * 8)
    run = ElectionRun(unhurried(parsed.case), Conditions(), 1)
    assert run.go().leader is not None
    assert run.outcome.events < 5000
    again = unhurried(scenario(EQUAL).case)
    assert again == scenario(EQUAL).case, "Kafka's defaults stay as they are"


def test_a_run_with_too_many_events_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "MOST_EVENTS", 5)
    result = report(EQUAL, runs=3)
    assert result.given_up == 3
    assert any("3 runs stopped early" in detail for detail in verdict(result).details)


def test_half_of_the_runs_means_of_those_that_had_a_leader() -> None:
    ten = report(EQUAL, runs=10)
    result = replace(ten, wins={1: 5}, wins_by_pace={}, times_ms=(10, 20, 30, 40, 50))
    assert verdict(result).headline == (
        "A leader is elected: 1, 2 or 3; in 5 of 10 runs, and then if all start together, within"
        " 30 ms in half of 5 runs, 50 ms in 95%."
    )


@pytest.mark.parametrize("text", ["1", "1|", "1|x", "1>2>3", "1|1", "1|9", "", "1,|2"])
def test_what_is_no_partition_is_refused(text: str) -> None:
    with pytest.raises(ConditionError):
        partition(text, (1, 2, 3))


def test_a_partition_names_pairs() -> None:
    assert partition("1|2,3", (1, 2, 3)) == {(1, 2), (2, 1), (1, 3), (3, 1)}
    assert partition("1>2", (1, 2, 3)) == {(1, 2)}
    assert len(partition("1|2|3", (1, 2, 3))) == 6
