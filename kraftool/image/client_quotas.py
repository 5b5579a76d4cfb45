"""Client quotas, by entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kraftool.image.overlay import Overlay
from kraftool.image.replay import RecordValue, WrittenRecord, replays

QuotaEntity = tuple[tuple[str, str | None], ...]
"""Type and name of each part, sorted by type; a name of None is the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientQuotasImage:
    """The quotas of every entity that has any."""

    entities: Mapping[QuotaEntity, Mapping[str, float]] = field(default_factory=dict)

    def records(self) -> Iterator[WrittenRecord]:
        for entity, quotas in self.entities.items():
            parts = [{"entityType": kind, "entityName": name} for kind, name in entity]
            for key, value in quotas.items():
                yield (
                    "ClientQuotaRecord",
                    0,
                    {"entity": parts, "key": key, "value": value, "remove": False},
                )


class ClientQuotasDelta:
    """Changes to the quotas."""

    def __init__(self, image: ClientQuotasImage) -> None:
        self._image = image
        self._entities = Overlay(image.entities)

    def of(self, entity: QuotaEntity) -> Mapping[str, float]:
        """Return the quotas of an entity as they are now."""
        return self._entities.get(entity) or {}

    @replays("ClientQuotaRecord")
    def quota(self, record: RecordValue) -> None:
        parts = {part["entityType"]: part["entityName"] for part in record["entity"]}
        entity = tuple((kind, parts[kind]) for kind in sorted(parts))
        quotas = dict(self._entities.get(entity) or {})
        if record["remove"]:
            quotas.pop(record["key"], None)
        else:
            quotas[record["key"]] = record["value"]
        if quotas:
            self._entities.set(entity, quotas)
        else:
            self._entities.remove(entity)

    def apply(self) -> ClientQuotasImage:
        if not self._entities.is_changed:
            return self._image
        return ClientQuotasImage(entities=self._entities.result())
