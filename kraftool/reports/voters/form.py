"""The problems of one voter of a KRaftVoters record, wherever the record is.

Owns what Kafka never writes about a voter, and which levels kraft.version has.
"""

from __future__ import annotations

from typing import Any

from kraftool.decoders.errors import Fault
from kraftool.image.metadata_version import FEATURES, KRAFT_VERSION
from kraftool.image.uuids import is_reserved_directory

HIGHEST_KRAFT_VERSION = max(feature.level for feature in FEATURES[KRAFT_VERSION])


def voter_faults(voter: dict[str, Any], kraft_version: int | None, seen: set[int]) -> list[Fault]:
    """Return what is wrong with a voter behind those `seen`; None for a kraft.version not known."""
    faults = []
    id, directory = voter["voterId"], voter["voterDirectoryId"]
    if id in seen:
        faults.append(Fault(reason=f"voter {id}: the set has it twice"))
    if id < 0:
        faults.append(
            Fault(reason=f"voter {id}: a negative id", expected="0 or more", found=str(id))
        )
    if is_reserved_directory(directory):
        text = f"voter {id}: no directory has this id"
        faults.append(Fault(reason=text, expected="an id of meta.properties", found=directory))
    if not voter["endpoints"]:
        faults.append(
            Fault(
                reason=f"voter {id}: no node can reach it",
                expected="1 endpoint or more",
                found="none",
            )
        )
    supported = voter["kRaftVersionFeature"]
    low, high = supported["minSupportedVersion"], supported["maxSupportedVersion"]
    if kraft_version is not None and not low <= kraft_version <= high:
        text = f"voter {id}: it does not support this kraft.version"
        faults.append(
            Fault(reason=text, expected=f"a range with {kraft_version}", found=f"{low} to {high}")
        )
    return faults
