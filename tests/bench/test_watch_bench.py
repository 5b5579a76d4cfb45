"""The bench of the dashboard measures what it says."""

from __future__ import annotations

import asyncio

from kraftool.client.target import target_of
from tests.bench import watch


def test_the_quorum_that_it_watches_answers_as_one_does() -> None:
    with watch.quorum() as bootstrap:
        view = asyncio.run(target_of(bootstrap, (), "", 5.0).survey())
    assert view.leader is not None
    assert (view.leader.node_id, view.epoch) == (1, 7)
    assert [node.node_id for node in view.nodes] == [1, 2, 3, 4, 5]
    assert [node.problem for node in view.nodes] == [""] * 5
    assert len(view.observers) == 100
    assert view.agrees


def test_an_hour_is_as_many_pictures_as_it_says() -> None:
    early, late = watch.hour(12)
    assert 0 < early <= late * 2
