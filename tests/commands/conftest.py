"""Running kraftool, inside the test's own process or apart: what it writes and how it ends."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import pytest
from typer.models import ParamMeta
from typer.utils import get_params_from_function

from kraftool.commands import main
from tests.support import command_server, json_contract
from tests.support.placeholders import assert_no_placeholder_printed

PATIENCE_S = 120
"""So long what ends by itself may take on a machine that is busy."""


@dataclass(frozen=True)
class Ran:
    """One run of kraftool."""

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def words(self) -> str:
        """What was written to stdout, with one blank between words: lines break anywhere."""
        return " ".join(self.text.split())

    @property
    def narration(self) -> str:
        """What was written to stderr, in the same way."""
        return " ".join(self.err.split())


Run = Callable[..., Ran]


def apart(*arguments: object, timeout: float | None = PATIENCE_S) -> Ran:
    """Run kraftool in a process of its own."""
    done = command_server.run(*arguments, timeout=timeout)
    return Ran(done.returncode, done.stdout, done.stderr.decode())


@cache
def _parameters(function: Callable[..., Any]) -> dict[str, ParamMeta]:
    return get_params_from_function(function)


def _known_parameters(function: Callable[..., Any]) -> dict[str, ParamMeta]:
    """What typer reads from a function, read once: it evaluates each annotation again for each run,
    which takes a third of a short command."""
    return {
        name: ParamMeta(name=name, default=copy(param.default), annotation=param.annotation)
        for name, param in _parameters(function).items()
    }


def here(monkeypatch: pytest.MonkeyPatch, *arguments: object, stdin: bytes = b"") -> Ran:
    """Run kraftool in this process, as the console script does."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape")
    err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr("typer.main.get_params_from_function", _known_parameters)
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
    json_contract.hold([*map(str, arguments)], out.buffer.getvalue())
    assert_no_placeholder_printed(out.buffer.getvalue().decode(errors="replace"))
    assert_no_placeholder_printed(err.buffer.getvalue().decode())
    return Ran(code, out.buffer.getvalue(), err.buffer.getvalue().decode())


@pytest.fixture
def kraftool(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run kraftool with these arguments, in this process."""
    return partial(here, monkeypatch)
