"""What a code means: its severity, what Kafka does, how to mend it, and where it is discussed.

Owns the references. The words are those of the catalogue; a code says the same here and where it
is found.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.findings import FindingKind
from kraftool.reports.kinds import KINDS

_KAFKA = "apache/kafka"

_REFERENCES: dict[str, tuple[str, ...]] = {
    "KT-DIR-STATIC-IGNORED": ("KIP-853", f"{_KAFKA} #20071"),
    "KT-DIR-NO-BOOTSTRAP": ("KIP-853",),
    "KT-DIR-NO-QUORUM": ("KIP-853",),
    "KT-DIR-STATIC-DIFFER": ("KIP-853",),
    "KT-DIR-CURRENT-VOTERS": ("KIP-595",),
    "KT-DIR-VOTERS-DIFFER": ("KIP-853", f"{_KAFKA} #20136"),
    "KT-LOG-VOTERS-JUMP": ("KIP-853", f"{_KAFKA} #17728"),
    "KT-DIR-STALE-VOTER": ("KIP-853", f"{_KAFKA} #15671"),
    "KT-DIR-NOT-A-VOTER": ("KIP-853",),
    "KT-DIR-ENDPOINT-DIFFERS": ("KIP-853", "KIP-1347"),
    "KT-DIR-CLUSTER-ID": (f"{_KAFKA} #17504", f"{_KAFKA} #20551"),
    "KT-DIR-CLUSTER-ID-EMPTY": (f"{_KAFKA} #17504",),
    "KT-DIR-BOOTSTRAP-FORM": ("KIP-853",),
    "KT-DIR-NODE-ID": (f"{_KAFKA} #22319",),
    "KT-DIR-QUORUM-STATE": ("KIP-595",),
    "KT-DIR-QUORUM-STATE-ODD": ("KIP-595", f"{_KAFKA} #15859"),
    "KT-DIR-QUORUM-STATE-MISSING": ("KIP-595",),
    "KT-LOG-FALSE-UPGRADE": ("KIP-853", "KIP-1022"),
    "KT-LOG-TXN-OPEN": ("KIP-868",),
    "KT-SNAP-MISSING": ("KIP-630", f"{_KAFKA} #12653", f"{_KAFKA} #14919"),
    "KT-SNAP-AHEAD": ("KIP-630",),
    "KT-SNAP-DAMAGE": ("KIP-630",),
    "KT-SIG-FORGOTTEN-VOTE": ("KIP-595", "KIP-853"),
    "KT-SIG-DOUBLE-VOTE": ("KIP-595",),
    "KT-SIG-TWO-FORMATS": ("KIP-853", f"{_KAFKA} #20136"),
    "KT-SIG-NO-MAJORITY": ("KIP-595", "KIP-853"),
    "KT-SIG-AUTO-JOIN": (
        "KIP-853", f"{_KAFKA} #19589", f"{_KAFKA} #20859", f"{_KAFKA} #21025",
    ),
    "KT-SIG-MIGRATION-ORDER": ("KIP-853", f"{_KAFKA} #20071"),
    "KT-SIG-UPGRADE-DIRECTORY-ID": ("KIP-853", "KIP-858"),
    "KT-SIG-LOCAL-ENDPOINT": ("KIP-853", f"{_KAFKA} #18350", f"{_KAFKA} #22531"),
    "KT-SIG-SAME-ENDPOINT": ("KIP-853",),
    "KT-SIG-ODD-ENDPOINT": ("KIP-853", f"{_KAFKA} #22531"),
    "KT-SIG-VOTER-LISTENER": ("KIP-853",),
    "KT-SIG-SPLIT-BRAIN": ("KIP-595",),
    "KT-SIG-SAME-PLACE": ("KIP-595",),
    "KT-SIG-ELECTIONS": ("KIP-595", "KIP-996"),
    "KT-SIG-FAILED-ELECTIONS": ("KIP-595", "KIP-996"),
    "KT-SIG-NO-LEADER": ("KIP-595", "KIP-996"),
    "KT-SIG-NO-SNAPSHOT": ("KIP-630", "KIP-876"),
    "KT-SIG-OLD-SNAPSHOT": ("KIP-630", "KIP-876"),
    "KT-SIG-JUNK-SNAPSHOT": ("KIP-630",),
    "KT-SIG-STALE-SNAPSHOT": ("KIP-630",),
    "KT-SIG-FEATURE-RANGE": ("KIP-584", "KIP-778", f"{_KAFKA} #14484"),
    "KT-SIG-NOT-REGISTERED": ("KIP-919",),
    "KT-SIG-BROKER-FENCED": ("KIP-631",),
    "KT-SIG-SHARED-LOG-DIR": ("KIP-858",),
    "KT-SIG-OFFLINE": ("KIP-966",),
    "KT-SIG-LOST-REPLICAS": ("KIP-966",),
    "KT-SIG-RECOVERING": ("KIP-704",),
    "KT-SIG-STUCK-REASSIGNMENT": ("KIP-455",),
    "KT-SIG-LAST-KNOWN-ELR": ("KIP-966",),
    "KT-SIG-ELR-MIN-ISR": ("KIP-966",),
    "KT-SNAP-SCRAM-LOST": ("KIP-900",),
}  # fmt: skip

_NOTES: dict[str, str] = {
    "KT-DIR-QUORUM-STATE": "appliedOffset in a file of version 0 is always 0 and never read: it is"
    " no evidence of anything. Neither are clusterId and, at kraft.version 1, currentVoters.",
    "KT-DIR-QUORUM-STATE-ODD": "appliedOffset in a file of version 0 is always 0 and never read: it"
    " is no evidence of anything. Neither are clusterId and, at kraft.version 1, currentVoters.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A code of the catalogue."""

    code: str
    severity: str
    meaning: str
    advice: str
    references: tuple[str, ...] = ()
    note: str = ""


def explain(code: str) -> tuple[Explanation, ...]:
    """The explanation of a code; of `list`, those of all. Raises KraftoolError for no code."""
    if code.lower() == "list":
        return tuple(_of(KINDS[each]) for each in sorted(KINDS))
    kind = KINDS.get(code.upper())
    if kind is None:
        near = [each for each in sorted(KINDS) if code.upper() in each]
        hint = f"did you mean {', '.join(near[:5])}?" if near else "--explain list shows all"
        raise KraftoolError(f"{code} is no code of a finding", hint=hint)
    return (_of(kind),)


def _of(kind: FindingKind) -> Explanation:
    return Explanation(
        code=kind.code,
        severity=kind.severity.value,
        meaning=kind.meaning,
        advice=kind.advice,
        references=_REFERENCES.get(kind.code, ()),
        note=_NOTES.get(kind.code, ""),
    )


def codes() -> frozenset[str]:
    """All codes, for options that take one."""
    return frozenset(KINDS)
