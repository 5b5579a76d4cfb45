"""What the old majority does when it is started again, by the methods that do not keep it off.

Each test is a cell of the table of methods in docs/recover.md, also where the cell says what goes
wrong. Those of the jump and of a new cluster id are in test_recover_cases.py, as they are promises.
All are for the soak; test_recover_cases.py shares its quorum.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from kraftool.repair.plan import Method
from tests.interop import kafka, recovering
from tests.interop.ondisk import partition
from tests.interop.recovering import OURS, SAID, THEIRS, Kept, kept, return_while_the_leader_dies

__all__ = ["kept"]
pytestmark = [pytest.mark.interop, pytest.mark.soak]
on_each = recovering.on("kept")


def appended(kept: Kept) -> None:
    """The survivor leads by a record at the end of its log, nobody being ahead."""
    kept.level()
    plan = kept.plan_lost(kept.others)
    assert plan.method is Method.APPEND
    assert kept.apply(plan) == {kept.survivor.id}
    kept.cluster.start(kept.survivor)
    kept.leads(kept.survivor)
    kept.say(kept.survivor, OURS)


@on_each
def test_after_an_append_old_voters_that_reach_the_leader_follow_it(kept: Kept) -> None:
    appended(kept)
    kept.cluster.start(*kept.others)
    kept.follow(kept.survivor, *kept.others)
    kept.cluster.start(kept.broker)
    kept.has_everything()
    kept.follow(kept.survivor, *kept.others, kept.broker)
    kept.assert_tree(kept.tree(kept.broker, "level") | {SAID: str(OURS)}, *kept.nodes)


@on_each
def test_after_an_append_old_voters_by_themselves_elect_and_commit(kept: Kept) -> None:
    appended(kept)
    kept.cluster.kill(kept.survivor)
    kept.cluster.start(*kept.others)
    kept.elected(*kept.others)
    kept.say(kept.others[0], THEIRS)
    kept.end()
    wanted = kept.tree(kept.broker, "level")
    kept.assert_tree(wanted | {SAID: str(OURS)}, kept.survivor)
    kept.assert_tree(wanted | {SAID: str(THEIRS)}, *kept.others)


# --- the leader dies meanwhile ------------------------------------------------------------------


@on_each
def test_the_leader_of_an_append_dies_while_old_voters_come_back_one_by_one(kept: Kept) -> None:
    appended(kept)
    return_while_the_leader_dies(kept)
    kept.assert_tree(kept.tree(kept.broker, "level") | {SAID: str(OURS)}, *kept.nodes)


# --- static voters ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def static(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kept]:
    """As `kept`, of a quorum whose voters are a setting."""
    yield from recovering.made(request.param, tmp_path_factory.mktemp("static"), dynamic=False)


on_each_static = recovering.on("static")


def set_static(static: Kept) -> None:
    """The survivor leads by the setting, which the broker has too."""
    plan = static.plan_lost(static.others)
    assert plan.method is Method.STATIC_PROPERTIES
    static.configure(plan)
    static.apply(plan)
    static.cluster.start(static.survivor)
    static.leads(static.survivor)
    static.say(static.survivor, OURS)


@on_each_static
def test_static_voters_come_back_emptied_and_one_at_a_time(static: Kept) -> None:
    """As the quarantine says: two of them at once would be a majority that has nothing."""
    static.put_back()
    set_static(static)
    static.cluster.start(static.broker)
    static.has_everything()
    quorum = [static.survivor]
    for other in static.others:
        static.end()
        quorum.append(other)
        shutil.rmtree(partition(other))
        voters = ",".join(f"{one.id}@{one.at('CONTROLLER')}" for one in quorum)
        for node in (*quorum, static.broker):
            node.settings["controller.quorum.voters"] = voters
            node.write_properties()
        static.cluster.start(*quorum, static.broker)
        static.cluster.wait_leader()
        static.cluster.wait_caught_up(*quorum)
    assert recovering.voters(static.cluster) == sorted(voter.id for voter in quorum)
    static.cluster.kill(static.survivor)
    assert static.elected(*static.others)
    wanted = static.tree(static.broker, "struck") | {SAID: str(OURS)}
    static.assert_tree(wanted, *static.nodes)


@on_each_static
def test_a_static_leader_dies_while_an_old_voter_comes_back_emptied(static: Kept) -> None:
    """Its new voter has nothing and cannot lead: both wait for one another."""
    static.put_back()
    set_static(static)
    static.end()
    [back, _] = static.others
    shutil.rmtree(partition(back))
    voters = ",".join(f"{one.id}@{one.at('CONTROLLER')}" for one in (static.survivor, back))
    for node in (static.survivor, back, static.broker):
        node.settings["controller.quorum.voters"] = voters
        node.write_properties()
    static.cluster.start(static.survivor, back)
    static.cluster.kill(static.survivor)
    static.cluster.start(static.survivor)
    static.cluster.wait_leader()
    static.cluster.wait_caught_up(static.survivor, back)
    static.cluster.start(static.broker)
    static.has_everything()
    wanted = static.tree(static.broker, "struck") | {SAID: str(OURS)}
    static.assert_tree(wanted, static.survivor, back)


@on_each_static
def test_a_controller_does_not_start_with_settings_that_do_not_name_it(static: Kept) -> None:
    """So that an old voter cannot come back as an observer."""
    static.put_back()
    [node, *_] = static.others
    static.configure(static.plan_lost(static.others))
    node.settings["controller.quorum.voters"] = static.survivor.settings["controller.quorum.voters"]
    node.write_properties()
    with pytest.raises(kafka.KafkaFailed, match="must be included in the set of voters"):
        static.cluster.start(node)


@on_each_static
def test_static_voters_with_old_settings_by_themselves_elect_and_commit(static: Kept) -> None:
    static.put_back()
    set_static(static)
    static.cluster.kill(static.survivor)
    static.cluster.start(*static.others)
    leader = static.elected(*static.others)
    static.say(leader, THEIRS)
    static.end()
    wanted = static.tree(static.broker, "struck")
    static.assert_tree(wanted | {SAID: str(OURS)}, static.survivor)
    static.assert_tree(static.tree(leader, "struck") | {SAID: str(THEIRS)}, *static.others)


@pytest.mark.parametrize("ahead", [True, False], ids=["ahead", "level"])
@on_each_static
def test_static_voters_with_old_settings_follow_until_they_elect_one_another(
    static: Kept, ahead: bool
) -> None:
    """They follow the leader that they reach, by its checkpoint or by its log, and are voters
    still: once it is gone they go on by themselves, and it dies of that when it is back."""
    if ahead:
        static.put_back()
    else:
        static.level()
    set_static(static)
    static.cluster.start(*static.others)
    static.follow(static.survivor, *static.others)
    static.cluster.kill(static.survivor)
    leader = static.elected(*static.others)
    static.say(leader, THEIRS)
    static.cluster.start(static.survivor)
    running = [static.survivor, *static.others]

    def somebody_died() -> list[int]:
        return [
            node.id for node in running if node.process is not None and not node.process.alive()
        ]

    assert kafka.wait_for("a node to die", somebody_died, timeout=90) == [static.survivor.id]
