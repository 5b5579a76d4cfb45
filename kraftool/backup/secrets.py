"""A state without its secrets: for a backup that may lie where secrets may not.

Owns what goes: SCRAM credentials, and config values that are not known to be harmless. Delegation
tokens stay: the metadata has no password of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraftool.decoders.redact import is_harmless
from kraftool.image.configs import RESOURCE_TYPES, ConfigurationsImage
from kraftool.image.image import MetadataImage
from kraftool.image.scram import ScramImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """A state, and what it has no more."""

    image: MetadataImage
    scram_credentials: int
    configs: tuple[str, ...]
    """The resource and the name of each."""


def without_secrets(image: MetadataImage) -> Reduced:
    """Return the state without secrets."""
    kept, left_out = {}, []
    for resource, configs in image.configs.resources.items():
        harmless = {}
        for name, value in configs.items():
            if is_harmless(resource.type, name):
                harmless[name] = value
            else:
                kind = RESOURCE_TYPES.get(resource.type, str(resource.type)).lower()
                left_out.append(f"{kind} {resource.name or 'default'} {name}")
        if harmless:
            kept[resource] = harmless
    return Reduced(
        image=replace(image, configs=ConfigurationsImage(resources=kept), scram=ScramImage()),
        scram_credentials=sum(map(len, image.scram.mechanisms.values())),
        configs=tuple(sorted(left_out)),
    )
