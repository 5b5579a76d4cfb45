"""One request in flight a connection, a pause after a failure, time-outs that free."""

import random

import pytest

from kraftool.raft.connections import Connections


class Drawn:
    """Chance that always draws the same."""

    def __init__(self, value: int) -> None:
        self.value = value

    def randrange(self, stop: int, /) -> int:
        assert self.value < stop
        return self.value


@pytest.fixture
def connections() -> Connections:
    return Connections(request_timeout_ms=2000, retry_backoff_ms=20)


def test_a_connection_is_busy_until_its_answer(connections: Connections) -> None:
    assert connections.is_ready(2, 0)
    connections.sent(2, 7, 0)
    assert not connections.is_ready(2, 1999)
    assert connections.is_expected(2, 7)
    connections.answered(2, 7, 5, well=True)
    assert connections.is_ready(2, 5)
    assert not connections.is_expected(2, 7)


def test_only_the_answer_to_the_request_in_flight_counts(connections: Connections) -> None:
    connections.sent(2, 7, 0)
    assert not connections.is_expected(2, 6)
    assert not connections.is_expected(3, 7)
    connections.answered(2, 6, 5, well=True)
    assert not connections.is_ready(2, 5)


def test_a_bad_answer_pauses_the_connection(connections: Connections) -> None:
    connections.sent(2, 7, 0)
    connections.answered(2, 7, 100, well=False)
    assert connections.is_backing_off(2, 119)
    assert not connections.is_ready(2, 119)
    assert connections.ready_ms(2, 110) == 120
    assert not connections.is_backing_off(2, 120)
    assert connections.is_ready(2, 120)


def test_a_time_out_frees_a_connection_when_it_is_looked_at(connections: Connections) -> None:
    connections.sent(2, 7, 0)
    assert not connections.has_timed_out(2, 1999)
    assert connections.has_timed_out(2, 2000)
    assert connections.is_expected(2, 7)  # nobody has looked whether it is ready
    assert connections.is_ready(2, 2000)
    assert not connections.is_expected(2, 7)


def test_a_pause_is_no_time_out(connections: Connections) -> None:
    connections.sent(2, 7, 0)
    connections.answered(2, 7, 0, well=False)
    assert not connections.has_timed_out(2, 5000)


def test_resets_forget_what_is_in_flight(connections: Connections) -> None:
    connections.sent(2, 7, 0)
    connections.sent(3, 8, 0)
    connections.reset(2)
    assert connections.is_ready(2, 0)
    assert not connections.is_ready(3, 0)
    connections.reset_all()
    assert not connections.is_expected(3, 8)


def test_the_search_begins_at_random_and_goes_round(connections: Connections) -> None:
    servers = (-2, -3, -4)
    assert connections.ready_bootstrap(servers, 0, Drawn(1)) == -3
    connections.sent(-3, 1, 0)
    connections.answered(-3, 1, 0, well=False)
    assert connections.ready_bootstrap(servers, 0, Drawn(1)) == -4
    connections.sent(-4, 2, 0)
    connections.answered(-4, 2, 0, well=False)
    assert connections.ready_bootstrap(servers, 0, Drawn(1)) == -2


def test_no_server_is_asked_while_any_request_is_in_flight(connections: Connections) -> None:
    connections.sent(9, 1, 0)
    assert connections.has_request_in_flight(1999)
    assert connections.ready_bootstrap((-2,), 1999, Drawn(0)) is None
    assert connections.bootstrap_ready_ms((-2,), 1999) == 2000
    assert connections.ready_bootstrap((-2,), 2000, Drawn(0)) == -2


def test_without_servers_nobody_is_found_and_chance_is_left_alone(connections: Connections) -> None:
    assert connections.ready_bootstrap((), 0, random.Random(1)) is None


def test_when_all_pause_the_first_that_is_free_is_waited_for(connections: Connections) -> None:
    for server, since in ((-2, 5), (-3, 10)):
        connections.sent(server, -server, 0)
        connections.answered(server, -server, since, well=False)
    assert connections.ready_bootstrap((-2, -3), 10, Drawn(0)) is None
    assert connections.bootstrap_ready_ms((-2, -3), 10) == 25


def test_a_server_that_nothing_is_known_of_is_free_now(connections: Connections) -> None:
    assert connections.bootstrap_ready_ms((-2,), 10) == 10
