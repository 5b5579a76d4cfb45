"""The record of a guide: journal.md for people, and guide.json, with which the guide continues
later.

Owns both files. Each is complete whenever the guide stops. Only answers, commands and exit codes
are in them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import orjson

from kraftool.commands.exit_code import UsageError
from kraftool.commands.output import printable
from kraftool.decoders.errors import KraftoolError
from kraftool.repair.document import DocumentError, from_document, to_document

_KIND = "kraftool recover guide"
_STATE = "guide.json"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideAnswer:
    """An answer of the operator to a question, by the question's key."""

    key: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideStepDone:
    """A step that was taken, or skipped."""

    key: str
    time: str
    command: str
    code: int | None = None
    """None if the operator took it by hand, or skipped it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    kind: str
    answers: tuple[GuideAnswer, ...] = ()
    done: tuple[GuideStepDone, ...] = ()

    def __post_init__(self) -> None:
        if self.kind != _KIND:
            raise DocumentError(f"the kind is not {_KIND!r}")


@dataclass(slots=True)
class GuideRecord:
    """The record of one guide in its folder."""

    folder: str
    complain: Callable[[str], None]
    """Reports that a file could not be written."""
    resumed: bool = False
    answers: dict[str, str] = field(default_factory=dict)
    done: dict[str, GuideStepDone] = field(default_factory=dict)

    def begin(self) -> None:
        """Make the folder, or read what a guide did in it. Raises UsageError."""
        try:
            os.mkdir(self.folder, 0o700)
        except FileExistsError:
            self._resume()
        except OSError as error:
            raise UsageError(
                f"{self.folder} cannot be made: {error.strerror or error}",
                hint="name a new folder with --folder",
            ) from None
        words = "goes on" if self.resumed else "begins"
        if not self.resumed:
            self.note("# Recovery with kraftool recover guide")
        self.note("")
        self.note(f"- {now()} the guide {words}")
        self._save()

    def _resume(self) -> None:
        path = self.path(_STATE)
        try:
            with open(path, "rb") as file:
                data = file.read(_MOST_BYTES)
            state = from_document(_State, orjson.loads(data), "it")
        except (OSError, orjson.JSONDecodeError, KraftoolError):
            raise UsageError(
                f"{self.folder} exists, and no guide can go on in it",
                hint="name a new folder with --folder",
            ) from None
        self.resumed = True
        self.answers = {answer.key: answer.answer for answer in state.answers}
        self.done = {step_done.key: step_done for step_done in state.done}

    def path(self, name: str) -> str:
        """The path of a file in the folder."""
        return os.path.join(self.folder, name)

    def answer(self, key: str, answer: str) -> None:
        """Keep an answer."""
        self.answers[key] = answer
        self._save()

    def take(self, key: str, command: str, code: int | None = None) -> None:
        """Keep that a step is done."""
        self.done[key] = GuideStepDone(key=key, time=now(), command=command, code=code)
        self._save()

    def note(self, line: str) -> None:
        """Append a line to the journal."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(self.path("journal.md"), flags, 0o600), "a") as file:
                file.write(f"{printable(line)}\n")
        except OSError as error:
            self.complain(f"the journal cannot be written: {error.strerror or error}")

    def _save(self) -> None:
        state = _State(
            kind=_KIND,
            answers=tuple(GuideAnswer(key=key, answer=one) for key, one in self.answers.items()),
            done=tuple(self.done.values()),
        )
        passing = self.path(f"{_STATE}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(passing, flags, 0o600), "wb") as file:
                file.write(orjson.dumps(to_document(state), option=orjson.OPT_INDENT_2))
            os.replace(passing, self.path(_STATE))
        except OSError as error:
            self.complain(f"{_STATE} cannot be written: {error.strerror or error}")


def now() -> str:
    """The time, as the journal has it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
