"""What differs between the state that a snapshot should hold and the one it holds.

Owns the comparison by aspect, and which differences are known errors of Kafka's. Names only: values
of configs and credentials may be secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from kraftool.decoders.schema.config_names import HARMLESS, MASKED
from kraftool.image.configs import BROKER, RESOURCE_TYPES, TOPIC, ConfigResource
from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import METADATA_VERSION
from kraftool.image.scram import MECHANISMS

_MOST_NAMED = 5
_SCRAM = "SCRAM credentials"


class AspectDifference(NamedTuple):
    """One aspect: what is missing, what is there besides, what is there and other than it should
    be; by names."""

    aspect: str
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    changed: tuple[str, ...]

    def words(self) -> str:
        told = (("missing", self.missing), ("too many", self.extra), ("changed", self.changed))
        parts = [f"{len(names)} {word} ({_some(names)})" for word, names in told if names]
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

    def words(self) -> str:
        return "; ".join(each.words() for each in self.aspects)

    def all_words(self) -> str:
        """With the credentials that are missing."""
        lost = tuple(scram_name(key) for key in self.lost_credentials)
        more = AspectDifference(_SCRAM, lost, (), ()).words()
        return "; ".join([*([self.words()] if self.aspects else []), *([more] if lost else [])])

    def lost_words(self) -> str:
        return _some([scram_name(key) for key in self.lost_credentials])


def scram_name(key: tuple[int, str]) -> str:
    mechanism, user = key
    return f"{MECHANISMS.get(mechanism, mechanism)} of {user}"


def difference(expected: MetadataImage, found: MetadataImage) -> StateDifference:
    """Compare two states. Differences that Kafka brings about in health are none: see below."""
    aspects = [*_plain(expected, found), _configs(expected, found)]
    scram = _compared(_SCRAM, _credentials(expected), _credentials(found), scram_name)
    lost: tuple[tuple[int, str], ...] = ()
    if scram is not None and scram.missing and not (scram.extra or scram.changed):
        lost = tuple(sorted(_credentials(expected).keys() - _credentials(found).keys()))
    else:
        aspects.append(scram)
    return StateDifference(
        aspects=tuple(each for each in aspects if each is not None), lost_credentials=lost
    )


def _plain(expected: MetadataImage, found: MetadataImage) -> Iterator[AspectDifference | None]:
    """The aspects that are compared as they are."""
    yield _compared("features", _features(expected), _features(found))
    yield _compared("brokers", expected.cluster.brokers, found.cluster.brokers)
    yield _compared("controllers", expected.cluster.controllers, found.cluster.controllers)
    names, others = expected.topics.by_name, found.topics.by_name
    yield _compared(
        "topics",
        {name: each.id for name, each in names.items()},
        {name: each.id for name, each in others.items()},
    )
    yield _compared(
        "partitions", dict(_partitions(expected, found)), dict(_partitions(found, expected))
    )
    yield _compared(
        "client quotas", expected.client_quotas.entities, found.client_quotas.entities, _entity
    )
    yield _compared(
        "producer ids",
        {"the next one": expected.producer_ids.next_producer_id},
        {"the next one": found.producer_ids.next_producer_id},
    )
    yield _compared("ACLs", expected.acls.by_id, found.acls.by_id)
    yield _compared(
        "delegation tokens", expected.delegation_tokens.tokens, found.delegation_tokens.tokens
    )


def _compared(
    aspect: str,
    expected: Mapping[Any, Any],
    found: Mapping[Any, Any],
    name: Callable[[Any], str] = str,
) -> AspectDifference | None:
    missing = [name(key) for key in expected if key not in found]
    extra = [name(key) for key in found if key not in expected]
    changed = [name(key) for key, each in expected.items() if key in found and found[key] != each]
    if not (missing or extra or changed):
        return None
    return AspectDifference(aspect, *(tuple(sorted(each)) for each in (missing, extra, changed)))


def _features(image: MetadataImage) -> dict[str, int | None]:
    return {METADATA_VERSION: image.features.metadata_version, **image.features.finalized}


def _partitions(image: MetadataImage, other: MetadataImage) -> Iterator[tuple[str, Any]]:
    """The partitions of topics that are not equal in both; of a missing topic, none."""
    for name, topic in image.topics.by_name.items():
        same = other.topics.by_name.get(name)
        if same is None or same.partitions == topic.partitions:
            continue
        for number, partition in topic.partitions.items():
            yield f"{name}-{number}", partition


def _credentials(image: MetadataImage) -> dict[tuple[int, str], Any]:
    return {
        (mechanism, user): credential
        for mechanism, users in image.scram.mechanisms.items()
        for user, credential in users.items()
    }


def _configs(expected: MetadataImage, found: MetadataImage) -> AspectDifference | None:
    """Not counted: what Kafka leaves behind of a topic that was made and removed between two
    snapshots, and keys that it does not know, which it passes over."""
    there = {key: value for key, value in _pairs(found) if not _is_left(found, key[0])}
    wanted = {key: value for key, value in _pairs(expected) if not _is_left(expected, key[0])}
    passed = [key for key in wanted if key not in there and not _is_known(*key)]
    for key in passed:
        del wanted[key]
    return _compared("configs", wanted, there, _config_name)


def _pairs(image: MetadataImage) -> Iterator[tuple[tuple[ConfigResource, str], str]]:
    for resource, configs in image.configs.resources.items():
        for name, value in configs.items():
            yield (resource, name), value


def _is_left(image: MetadataImage, resource: ConfigResource) -> bool:
    return resource.type == TOPIC and resource.name not in image.topics.by_name


def _is_known(resource: ConfigResource, name: str) -> bool:
    kind = resource.type
    return kind == BROKER or name in HARMLESS.get(kind, ()) or name in MASKED.get(kind, ())


def _config_name(key: tuple[ConfigResource, str]) -> str:
    resource, name = key
    kind = RESOURCE_TYPES.get(resource.type, str(resource.type)).lower()
    return f"{name} of {kind} {resource.name or 'default'}"


def _entity(parts: Iterable[tuple[str, str | None]]) -> str:
    return ", ".join(f"{kind} {name if name is not None else 'default'}" for kind, name in parts)


def _some(names: Iterable[str]) -> str:
    every = list(names)
    more = len(every) - _MOST_NAMED
    return ", ".join(every[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
