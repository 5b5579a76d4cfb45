"""Running kraftool inside the test's own process, with what it writes and how it ends."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from kraftool.commands import main


@dataclass(frozen=True)
class Ran:
    """One run of kraftool."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()


Run = Callable[..., Ran]


@pytest.fixture
def kraftool(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run kraftool with these arguments, as the console script does."""

    def run(*arguments: object, stdin: bytes = b"") -> Ran:
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape")
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        monkeypatch.setattr(sys, "argv", ["kraftool", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        code = 0
        try:
            main()
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else 0
        out.flush()
        err.flush()
        return Ran(code, out.buffer.getvalue(), err.buffer.getvalue().decode())

    return run
