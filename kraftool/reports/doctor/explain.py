"""The explanation of a code: its severity, what Kafka does, how to repair it, and where it is
discussed.

All of it is in the catalogue: a code says the same here and where it is found.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftool.decoders.errors import KraftoolError
from kraftool.reports.findings.finding import FindingKind, Severity
from kraftool.reports.findings.kinds import KINDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A code of the catalogue."""

    code: str
    severity: Severity
    """Unless a case weighs otherwise."""
    meaning: str
    """The meaning for Kafka."""
    advice: str
    """The action to take; may be empty."""
    references: tuple[str, ...] = ()
    """KIPs, and issues of Kafka."""
    note: str = ""
    """The part that is often misread; may be empty."""
    observed: tuple[str, ...] = ()
    """What Kafka was seen to do about it, each with the releases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplanationsDocument:
    """The meanings of the codes of findings."""

    codes: tuple[Explanation, ...]

    @property
    def rows(self) -> tuple[Explanation, ...]:
        """All codes."""
        return self.codes


def explain(code: str) -> tuple[Explanation, ...]:
    """The explanation of a code; of `list`, those of all. Raises KraftoolError for no code."""
    if code.lower() == "list":
        return tuple(_of(KINDS[known_code]) for known_code in sorted(KINDS))
    kind = KINDS.get(code.upper())
    if kind is None:
        near = [known_code for known_code in sorted(KINDS) if code.upper() in known_code]
        hint = f"did you mean {', '.join(near[:5])}?" if near else "--explain list shows all"
        raise KraftoolError(f"{code} is not a finding code", hint=hint)
    return (_of(kind),)


def _of(kind: FindingKind) -> Explanation:
    return Explanation(
        code=kind.code,
        severity=kind.severity,
        meaning=kind.meaning,
        advice=kind.advice,
        references=kind.references,
        note=kind.note,
        observed=kind.observed,
    )


def codes() -> frozenset[str]:
    """All codes, for options that take one."""
    return frozenset(KINDS)
