"""The quota on partitions that clients create and delete: controller_mutation_rate.

Owns the token buckets, which quota of the metadata applies to a client, and how long the client has
to wait. All times are those of the wall clock. The rules are those of Kafka's ClientQuotaManager:
the kinds of quotas that exist decide which clients share a bucket.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from kraftool.controller.client_quotas import CLIENT_ID, IP, MUTATION_RATE, USER
from kraftool.controller.refused import RequestRefused
from kraftool.decoders.error_codes import Error
from kraftool.decoders.java_text import INT32_MAX
from kraftool.image.client_quotas import ClientQuotasImage, QuotaEntity

STRICT_SINCE = {"CreateTopics": 6, "DeleteTopics": 5, "CreatePartitions": 3}
"""The requests that are charged. From these versions on they are refused if the quota is exceeded;
clients of older ones only have to wait."""
_UNLIMITED = float(1 << 63)
_FORGOTTEN_AFTER_MS = 3_600_000
"""A bucket that nobody used for so long is full again, as Kafka's sensors expire."""
_LOOKS_EVERY_MS = 30_000


class Bucket(NamedTuple):
    """The clients that share a bucket: a user, a client id, or both; empty where it is any."""

    user: str
    client_id: str | None


@dataclass(slots=True)
class TokenBucket:
    """Tokens that come back at a rate, up to a burst. They may be negative."""

    burst_s: float
    """The seconds in which a rate fills the bucket."""
    rate: float = _UNLIMITED
    tokens: float = math.inf
    """It starts full, whatever its rate."""
    refilled_ms: int = 0
    used_ms: int = 0

    def refill(self, now_ms: int) -> float:
        """Return the tokens that there are now."""
        burst = self.rate * self.burst_s
        tokens = self.tokens + self.rate * ((now_ms - self.refilled_ms) / 1000)
        # NaN stays, as in Kafka. (4.3 lets a quota be NaN or infinite.)
        self.tokens = burst if tokens > burst else tokens
        self.refilled_ms = now_ms
        return self.tokens

    def take(self, tokens: float, now_ms: int) -> None:
        self.refill(now_ms)
        self.tokens -= tokens
        self.used_ms = now_ms

    def wait_ms(self) -> int:
        """Return the time until there are no negative tokens."""
        return min(math.floor(-self.tokens / self.rate * 1000 + 0.5), INT32_MAX)


class MutationQuota:
    """The charge of one request."""

    def __init__(self, bucket: TokenBucket, *, is_strict: bool) -> None:
        self._bucket, self._is_strict = bucket, is_strict
        self._wait_ms = self._seen_ms = 0

    def charge(self, partitions: int, now_ms: int) -> None:
        """Take a token for each partition. Raises RequestRefused if there are none, for a client
        that knows this error."""
        bucket = self._bucket
        if self._is_strict:
            if bucket.refill(now_ms) < 0:
                self._exceeded(now_ms)
                # How long the client has to wait is in the answer's throttle time.
                raise RequestRefused(Error.THROTTLING_QUOTA_EXCEEDED)
            bucket.take(partitions, now_ms)
        else:
            bucket.take(partitions, now_ms)
            if bucket.tokens < 0:
                self._exceeded(now_ms)

    def _exceeded(self, now_ms: int) -> None:
        self._wait_ms, self._seen_ms = self._bucket.wait_ms(), now_ms

    def throttle_time_ms(self, now_ms: int) -> int:
        """Return how long the client has to wait from now on."""
        return max(0, self._wait_ms - (now_ms - self._seen_ms)) if self._wait_ms else 0


class MutationQuotas:
    """The buckets of one node's clients, and the quotas of the newest image."""

    def __init__(self, *, windows: int = 11, window_s: int = 1) -> None:
        """`windows`, `window_s`: controller.quota.window.num and controller.quota.window.size
        .seconds, whose product is the burst."""
        self._burst_s = float(windows * window_s)
        self._image = ClientQuotasImage()
        self._rates: dict[QuotaEntity, float] = {}
        self._kinds: frozenset[tuple[str, ...]] = frozenset()
        """The kinds of entities that have such a quota."""
        self._buckets: dict[Bucket, TokenBucket] = {}
        self._looked_ms = 0

    def use(self, image: ClientQuotasImage) -> None:
        """Take over the quotas of another image, for buckets in use too."""
        if image is self._image:
            return
        self._image = image
        self._rates = {
            entity: quotas[MUTATION_RATE]
            for entity, quotas in image.entities.items()
            if MUTATION_RATE in quotas and IP not in dict(entity)
        }
        self._kinds = frozenset(tuple(kind for kind, _ in entity) for entity in self._rates)
        for key, bucket in self._buckets.items():
            bucket.rate = self._rate(key)

    def of(
        self, api: str, version: int, *, user: str, client_id: str | None, now_ms: int
    ) -> MutationQuota | None:
        """Return what a request of a client is charged; None if it costs nothing."""
        strict_since = STRICT_SINCE.get(api)
        if strict_since is None or not self._kinds:
            return None
        self._forget(now_ms)
        key = self._bucket_of(user, client_id)
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = TokenBucket(burst_s=self._burst_s, rate=self._rate(key), used_ms=now_ms)
            self._buckets[key] = bucket
        return MutationQuota(bucket, is_strict=version >= strict_since)

    def _forget(self, now_ms: int) -> None:
        """Drop buckets that nobody uses."""
        if now_ms - self._looked_ms < _LOOKS_EVERY_MS:
            return
        self._looked_ms = now_ms
        for key, bucket in [*self._buckets.items()]:
            if now_ms - bucket.used_ms > _FORGOTTEN_AFTER_MS:
                del self._buckets[key]

    def _bucket_of(self, user: str, client_id: str | None) -> Bucket:
        """Return the bucket of a client: with quotas of one kind its clients share the buckets of
        that kind; with several, those of the most specific quota that applies."""
        of_user, of_client = Bucket(user, ""), Bucket("", client_id)
        of_both = Bucket(user, client_id)
        if len(self._kinds) == 1:
            (kind,) = self._kinds
            return of_user if kind == (USER,) else of_client if kind == (CLIENT_ID,) else of_both
        for entity, bucket in (
            (_entity(user, client_id), of_both),
            (_entity(user, None), of_both),
            (((USER, user),), of_user),
            (_entity(None, client_id), of_both),
            (_entity(None, None), of_both),
            (((USER, None),), of_user),
        ):
            if entity in self._rates:
                return bucket
        return of_client

    def _rate(self, bucket: Bucket) -> float:
        """Return the quota of a bucket; unlimited if there is none."""
        user, client_id = bucket
        entities: tuple[QuotaEntity, ...]
        if client_id is None:
            entities = ()
        elif user and client_id:
            entities = (
                _entity(user, client_id),
                _entity(user, None),
                _entity(None, client_id),
                _entity(None, None),
            )
        elif user:
            entities = (((USER, user),), ((USER, None),))
        else:
            entities = (((CLIENT_ID, client_id),), ((CLIENT_ID, None),)) if client_id else ()
        rates = self._rates
        return next((rates[entity] for entity in entities if entity in rates), _UNLIMITED)


def _entity(user: str | None, client_id: str | None) -> QuotaEntity:
    """Return the entity of a user's client; None is the default."""
    return ((CLIENT_ID, client_id), (USER, user))
