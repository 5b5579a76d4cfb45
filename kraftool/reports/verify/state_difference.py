"""The value for how a state differs from the one that it should be, and the words for it.

Owns the words by aspect, and what of SCRAM credentials an error of Kafka's explains. Names only:
values of configs and credentials may be secret. What differs is found by `snapshot_diff.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kraftool.image.scram import MECHANISMS

SCRAM_CREDENTIALS = "SCRAM credentials"
_MOST_NAMED = 5


class AspectDifference(NamedTuple):
    """One aspect: what is missing, what is there besides, what is there and other than it should
    be; by names."""

    aspect: str
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    changed: tuple[str, ...]

    def words(self) -> str:
        groups = (("missing", self.missing), ("too many", self.extra), ("changed", self.changed))
        parts = [f"{len(names)} {word} ({_some(names)})" for word, names in groups if names]
        return f"{self.aspect}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDifference:
    """All aspects that differ; SCRAM credentials that are only missing by themselves."""

    aspects: tuple[AspectDifference, ...] = ()
    lost_credentials: tuple[tuple[int, str], ...] = ()
    """Mechanism and user, where nothing else is wrong with the credentials."""

    @property
    def is_lost_credentials_alone(self) -> bool:
        return bool(self.lost_credentials) and not self.aspects

    def is_kafkas_loss(self, removed: Collection[int]) -> bool:
        """True if Kafka's error can have lost these credentials, with the mechanisms of which one
        was removed before: without a removal it cannot have happened. True where none is lost."""
        return {mechanism for mechanism, _ in self.lost_credentials} <= set(removed)

    def words(self) -> str:
        return "; ".join(aspect.words() for aspect in self.aspects)

    def all_words(self) -> str:
        """With the credentials that are missing."""
        lost = tuple(scram_name(key) for key in self.lost_credentials)
        more = AspectDifference(SCRAM_CREDENTIALS, lost, (), ()).words()
        return "; ".join([*([self.words()] if self.aspects else []), *([more] if lost else [])])

    def lost_words(self) -> str:
        return _some([scram_name(key) for key in self.lost_credentials])


def scram_name(key: tuple[int, str]) -> str:
    mechanism, user = key
    return f"{MECHANISMS.get(mechanism, mechanism)} of {user}"


def _some(names: Iterable[str]) -> str:
    every = list(names)
    more = len(every) - _MOST_NAMED
    return ", ".join(every[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
