"""What is wrong with one voter of a KRaftVoters record, wherever the record stands.

Owns what Kafka never writes about a voter, and which levels kraft.version has. It refuses to
compare sets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kraftool.image.metadata_version import FEATURES, KRAFT_VERSION
from kraftool.image.uuids import is_reserved_directory

HIGHEST_KRAFT_VERSION = max(each.level for each in FEATURES[KRAFT_VERSION])


class VoterFault(NamedTuple):
    """What is wrong, and both sides of it where there are two."""

    text: str
    expected: str = ""
    found: str = ""


def voter_faults(
    voter: dict[str, Any], kraft_version: int | None, seen: set[int]
) -> list[VoterFault]:
    """What is wrong with a voter behind those `seen`; None for a kraft.version not known."""
    faults = []
    id, directory = voter["voterId"], voter["voterDirectoryId"]
    if id in seen:
        faults.append(VoterFault("it stands in the set twice"))
    if id < 0:
        faults.append(VoterFault("a negative id", "0 or more", str(id)))
    if is_reserved_directory(directory):
        text = "no directory has this id"
        faults.append(VoterFault(text, "an id of meta.properties", directory))
    if not voter["endpoints"]:
        faults.append(VoterFault("nobody can reach it", "1 endpoint or more", "none"))
    supported = voter["kRaftVersionFeature"]
    low, high = supported["minSupportedVersion"], supported["maxSupportedVersion"]
    if kraft_version is not None and not low <= kraft_version <= high:
        text = "it does not support this kraft.version"
        faults.append(VoterFault(text, f"a range with {kraft_version}", f"{low} to {high}"))
    return faults
