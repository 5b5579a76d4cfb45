"""What a released Kafka says about bytes that do not change: asked once, and kept.

Owns the files `fixtures/recorded/RELEASE/NAME.json.xz`. Tests compare kraftool with the answers in
them, without a JVM. A recording also has the digest of everything that the answers depend on: the
release, the command, the Java sources that asked, and the bytes in question. If one of these
changes, the tests that read the recording fail until `make record KAFKA=RELEASE` has asked Kafka
again. `record.py` lists the recordings and asks.
"""

from __future__ import annotations

import copy
import hashlib
import json
import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "recorded"
_SHOWN = 300


class Outdated(AssertionError):
    """The recording is missing, or is about something else than what is there now."""


def _all(answer: Any) -> Any:
    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The answers of one release to the questions of one kind."""

    name: str
    release: str
    command: str
    """What was run, for the reader of a recording."""
    about: Callable[[], Mapping[str, bytes]]
    """Everything that the answers depend on, by name: files, and the words of questions."""
    ask: Callable[[], Mapping[str, Any]]
    """Ask Kafka: the answers by question, as JSON has them."""
    sources: tuple[Path, ...] = ()
    """The Java sources that ask."""
    comparable: Callable[[Any], Any] = _all
    """What of an answer is the same each time that Kafka is asked."""

    def __str__(self) -> str:
        return f"{self.release}/{self.name}"

    @property
    def path(self) -> Path:
        return FOLDER / self.release / f"{self.name}.json.xz"

    def answers(self) -> dict[str, Any]:
        """Return what Kafka said. Raise Outdated if the recording does not fit any more."""
        if not self.is_current():
            what = "is about other bytes, sources or words" if self.path.exists() else "is missing"
            raise Outdated(f"the recording {self} {what}: make record KAFKA={self.release}")
        kept = _read(self.path)
        assert kept is not None
        answers: dict[str, Any] = copy.deepcopy(kept["answers"])
        return answers

    def digest(self) -> str:
        """Return one value for everything that the answers depend on."""
        sources = [source.read_bytes() for source in self.sources]
        return _digest(
            [self.release.encode(), self.command.encode(), *sources, _digest_of(self.about)]
        ).hex()

    def is_current(self) -> bool:
        """True if there are answers about what is there now."""
        kept = _read(self.path)
        return kept is not None and kept["digest"] == self.digest()

    def ask_again(self) -> dict[str, Any]:
        """Return what Kafka says now, as it would be kept."""
        answers: dict[str, Any] = json.loads(json.dumps(self.ask()))
        return answers

    def keep(self, answers: Mapping[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        kept = {
            "kafka": self.release,
            "command": self.command,
            "digest": self.digest(),
            "answers": answers,
        }
        text = json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False)
        self.path.write_bytes(lzma.compress(text.encode(), preset=9))
        _read.cache_clear()

    def differences(self, answers: Mapping[str, Any]) -> Iterator[str]:
        """Say how answers of today differ from the kept ones."""
        kept = _read(self.path)
        before: dict[str, Any] = kept["answers"] if kept is not None else {}
        for question in sorted(before.keys() | answers.keys()):
            old, new = (
                json.dumps(self.comparable(some[question]), sort_keys=True)
                if question in some
                else "nothing"
                for some in (before, answers)
            )
            if old != new:
                at = next(
                    (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b),
                    min(len(old), len(new)),
                )
                begin = max(at - 40, 0)
                yield (
                    f"{self}: {question}\n    kept {old[begin : begin + _SHOWN]}\n"
                    f"    now  {new[begin : begin + _SHOWN]}"
                )


def _digest(parts: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


@cache
def _digest_of(about: Callable[[], Mapping[str, bytes]]) -> bytes:
    """Some questions are about all fixtures, and many tests read their answers."""
    return _digest(part for name, data in sorted(about().items()) for part in (name.encode(), data))


@cache
def _read(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    kept: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    return kept


def words(questions: object) -> dict[str, bytes]:
    """The questions themselves, where they are values and no files."""
    return {"": json.dumps(questions, sort_keys=True).encode()}
