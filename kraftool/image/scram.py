"""SCRAM credentials, by mechanism and user. Salt and keys are secrets: whoever shows them masks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kraftool.image.metadata_version import SCRAM_LEVEL
from kraftool.image.overlay import Overlay
from kraftool.image.replay import Lost, RecordValue, ReplayError, WrittenRecord, replays

MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramCredential:
    """The values that a server keeps of a password, to check a client's proof."""

    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramImage:
    """The credentials of each mechanism's users; mechanisms by Kafka's numbers."""

    mechanisms: Mapping[int, Mapping[str, ScramCredential]] = field(default_factory=dict)

    def records(self, metadata_version: int, lost: Lost) -> Iterator[WrittenRecord]:
        for mechanism, users in self.mechanisms.items():
            if metadata_version < SCRAM_LEVEL:
                lost(f"{len(users)} credentials of {MECHANISMS.get(mechanism, mechanism)}")
                continue
            for name, credential in users.items():
                yield (
                    "UserScramCredentialRecord",
                    0,
                    {
                        "name": name,
                        "mechanism": mechanism,
                        "salt": credential.salt,
                        "storedKey": credential.stored_key,
                        "serverKey": credential.server_key,
                        "iterations": credential.iterations,
                    },
                )


class ScramDelta:
    """Changes to the credentials."""

    def __init__(self, image: ScramImage) -> None:
        self._image = image
        self._users: dict[int, Overlay[str, ScramCredential]] = {}

    def _of(self, mechanism: int) -> Overlay[str, ScramCredential]:
        if mechanism not in MECHANISMS:
            raise ReplayError(f"there is no SCRAM mechanism {mechanism}")
        if mechanism not in self._users:
            self._users[mechanism] = Overlay(self._image.mechanisms.get(mechanism, {}))
        return self._users[mechanism]

    @replays("UserScramCredentialRecord")
    def upsert(self, record: RecordValue) -> None:
        credential = ScramCredential(
            salt=record["salt"],
            stored_key=record["storedKey"],
            server_key=record["serverKey"],
            iterations=record["iterations"],
        )
        self._of(record["mechanism"]).set(record["name"], credential)

    @replays("RemoveUserScramCredentialRecord")
    def remove(self, record: RecordValue) -> None:
        mechanism, name = record["mechanism"], record["name"]
        users = self._of(mechanism)
        if users.get(name) is None:
            raise ReplayError(f"user {name} has no {MECHANISMS[mechanism]} credential to remove")
        users.remove(name)

    def has(self, mechanism: int, name: str) -> bool:
        """True if the user has a credential of the mechanism now."""
        return mechanism in MECHANISMS and self._of(mechanism).get(name) is not None

    def apply(self) -> ScramImage:
        if not any(users.is_changed for users in self._users.values()):
            return self._image
        changed = {mechanism: users.result() for mechanism, users in self._users.items()}
        merged = {**self._image.mechanisms, **changed}
        return ScramImage(mechanisms={kind: users for kind, users in merged.items() if users})
