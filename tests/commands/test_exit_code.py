"""The exit code of a run that an error ends."""

from __future__ import annotations

import pytest

from kraftool.commands.exit_code import (
    FailedError,
    RefusedError,
    UnreachableError,
    UsageError,
    code_of,
)
from kraftool.decoders.errors import KraftoolError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KraftoolError("no such file"), 3),
        (UsageError("no such option"), 2),
        (UnreachableError("no node"), 4),
        (RefusedError("a node runs"), 5),
        (FailedError("Spark"), 70),
    ],
    ids=lambda value: type(value).__name__,
)
def test_scripts_tell_errors_apart_by_the_documented_codes(error: KraftoolError, code: int) -> None:
    assert code_of(error) == code
