"""UnregisterController, which came with Kafka 4.4 (KIP-1312)."""

from __future__ import annotations

from kraftool.decoders.error_codes import Error
from tests.controller.bench import Bench, incarnation, ranges


def with_controller(level: int) -> Bench:
    bench = Bench(level)
    body = {
        "controllerId": 3001,
        "incarnationId": incarnation(9, 1),
        "zkMigrationReady": False,
        "listeners": [],
        "features": ranges({"metadata.version": (7, 33)}),
    }
    assert not bench.ask("ControllerRegistration", 0, body)
    return bench


def unregister(bench: Bench, controller_id: int) -> int:
    answer = bench.ask("UnregisterController", 0, {"controllerId": controller_id})
    return int(answer.get("errorCode", Error.NONE))


def test_a_controller_is_forgotten() -> None:
    bench = with_controller(33)
    assert unregister(bench, 3001) == Error.NONE
    assert bench.records == [("UnregisterControllerRecord", 0, {"controllerId": 3001})]
    assert unregister(bench, 3001) == Error.CONTROLLER_ID_NOT_REGISTERED


def test_the_active_controller_does_not_unregister_itself() -> None:
    for level in (32, 33):
        assert unregister(with_controller(level), 3000) == Error.INVALID_REQUEST


def test_before_4_4_iv2_controllers_stay_registered() -> None:
    bench = with_controller(32)
    assert unregister(bench, 3001) == unregister(bench, 7) == Error.UNSUPPORTED_VERSION
    assert bench.active.state.controller(3001) is not None
