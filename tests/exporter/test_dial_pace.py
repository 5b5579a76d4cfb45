"""When the exporter dials the recorded endpoints: every minute, and soon after a change."""

from __future__ import annotations

from dataclasses import replace

from kraftool.exporter.cluster_watch import DialPace
from kraftool.net.errors import Failure
from tests.client.views import gone, well


def test_the_first_time_is_at_once_and_then_every_minute() -> None:
    pace, view = DialPace(), well()
    assert pace.is_due(view, 5.0)
    pace.dial(view, 5.0)
    assert not pace.is_due(view, 64.0)
    assert pace.is_due(view, 65.0)


def test_a_controller_that_fails_or_fails_for_another_reason_is_dialed_soon() -> None:
    """One that restarts with an expired certificate is down at first, and then refused."""
    pace, view = DialPace(), well()
    pace.dial(view, 0.0)
    down = replace(view, nodes=(*view.nodes[:-1], gone(3)))
    assert not pace.is_due(down, 9.0)
    assert pace.is_due(down, 10.0)
    pace.dial(down, 10.0)
    assert not pace.is_due(down, 20.0)
    refused = replace(down.nodes[-1], failure=Failure.EXPIRED_CERTIFICATE)
    assert pace.is_due(replace(down, nodes=(*down.nodes[:-1], refused)), 20.0)


def test_an_answer_that_is_late_changes_nothing() -> None:
    pace, view = DialPace(), well()
    pace.dial(view, 0.0)
    late = replace(view.nodes[-1], waiting_ms=2_000)
    assert not pace.is_due(replace(view, nodes=(*view.nodes[:-1], late)), 20.0)
