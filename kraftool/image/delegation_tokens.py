"""Delegation tokens, by id. Their passwords are never in the log: brokers compute them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kraftool.image.metadata_version import DELEGATION_TOKENS_LEVEL
from kraftool.image.overlay import Overlay
from kraftool.image.replay import Lost, RecordValue, WrittenRecord, replays


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationToken:
    """One token; principals as `User:name`."""

    id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int

    def record(self) -> WrittenRecord:
        return (
            "DelegationTokenRecord",
            0,
            {
                "owner": self.owner,
                "requester": self.requester,
                "renewers": list(self.renewers),
                "issueTimestamp": self.issue_timestamp,
                "maxTimestamp": self.max_timestamp,
                "expirationTimestamp": self.expiration_timestamp,
                "tokenId": self.id,
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationTokenImage:
    """All tokens."""

    tokens: Mapping[str, DelegationToken] = field(default_factory=dict)

    def records(self, metadata_version: int, lost: Lost) -> Iterator[WrittenRecord]:
        if self.tokens and metadata_version < DELEGATION_TOKENS_LEVEL:
            lost(f"{len(self.tokens)} delegation tokens")
            return
        for token in self.tokens.values():
            yield token.record()


class DelegationTokenDelta:
    """Changes to the tokens."""

    def __init__(self, image: DelegationTokenImage) -> None:
        self._image = image
        self._tokens = Overlay(image.tokens)

    def token_of(self, token_id: str) -> DelegationToken | None:
        return self._tokens.get(token_id)

    def tokens(self) -> Iterator[DelegationToken]:
        """Yield the tokens as they are now."""
        yield from filter(None, map(self._tokens.get, self._tokens.keys()))

    @replays("DelegationTokenRecord")
    def token(self, record: RecordValue) -> None:
        token = DelegationToken(
            id=record["tokenId"],
            owner=record["owner"],
            requester=record["requester"],
            renewers=tuple(record["renewers"]),
            issue_timestamp=record["issueTimestamp"],
            max_timestamp=record["maxTimestamp"],
            expiration_timestamp=record["expirationTimestamp"],
        )
        self._tokens.set(token.id, token)

    @replays("RemoveDelegationTokenRecord")
    def remove(self, record: RecordValue) -> None:
        self._tokens.remove(record["tokenId"])

    def apply(self) -> DelegationTokenImage:
        if not self._tokens.is_changed:
            return self._image
        return DelegationTokenImage(tokens=self._tokens.result())
