"""Errors of decoders are values: reports keep them, and hand them to other processes."""

import pickle

from kraftool.decoders.errors import DecodeError


def test_an_error_is_the_same_in_another_process() -> None:
    error = DecodeError(
        "too short", position=7, path="a.b", expected="8", found="7", file="quorum-state", count=3
    )
    copy = pickle.loads(pickle.dumps(error))
    assert copy == error
    assert (copy.fault(), copy.count, str(copy)) == (error.fault(), 3, str(error))


def test_errors_that_say_the_same_are_equal() -> None:
    assert DecodeError("bad", position=1) == DecodeError("bad", position=1)
    assert DecodeError("bad", position=1) != DecodeError("bad", position=2)
