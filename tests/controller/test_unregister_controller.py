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


def unregister(bench: Bench, controller_id: int) -> tuple[int, str | None]:
    answer = bench.ask("UnregisterController", 0, {"controllerId": controller_id})
    return int(answer.get("errorCode", Error.NONE)), answer.get("errorMessage")


DONE = (Error.NONE, None)


def test_a_controller_is_forgotten() -> None:
    bench = with_controller(33)
    assert unregister(bench, 3001) == DONE
    assert bench.records == [("UnregisterControllerRecord", 0, {"controllerId": 3001})]
    assert unregister(bench, 3001) == (
        Error.CONTROLLER_ID_NOT_REGISTERED,
        "Controller ID 3001 is not currently registered.",
    )


def test_the_active_controller_does_not_unregister_itself() -> None:
    for level in (32, 33):
        assert unregister(with_controller(level), 3000) == (
            Error.INVALID_REQUEST,
            "Controller cannot unregister itself while it is active.",
        )


def test_before_4_4_iv2_controllers_stay_registered() -> None:
    bench = with_controller(32)
    too_old = (
        Error.UNSUPPORTED_VERSION,
        "The current MetadataVersion is too old to support controller unregistration.",
    )
    assert unregister(bench, 3001) == unregister(bench, 7) == too_old
    assert bench.active.state.controller(3001) is not None
