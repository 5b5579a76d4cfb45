"""The findings that somebody knows of and does not want to see: ignored codes, and a file of mutes.

Owns which findings are left out. A mute says until when, why, and how many findings it covers; all
of them come back when the time is over, or when there are more. What is left out is counted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from typing import Any, Generic, TypeVar

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.json_marks import Moment
from kraftool.reports.findings.finding import Finding

T = TypeVar("T")

_KEYS = ("code", "subject", "until", "count", "reason")


class MuteError(KraftoolError):
    """A file of mutes that cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mute:
    """An entry of a file of mutes."""

    code: str
    subject: str = "*"
    """A pattern for the file, directory or node of the finding."""
    until: Moment
    reason: str
    count: int = 1
    """The number of findings that it covers."""

    def covers(self, finding: Finding, now_ms: int) -> bool:
        """True if a finding is meant, and the time is not over."""
        return (
            finding.code == self.code
            and now_ms < self.until
            and fnmatchcase(finding.file, self.subject)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MutedFinding:
    """A finding that was left out, and why."""

    finding: Finding
    mute: Mute


@dataclass(frozen=True, slots=True)
class SortedFindings(Generic[T]):
    """Findings, or values that have one, by what becomes of them."""

    kept: tuple[T, ...]
    ignored: int
    """The number of those with an ignored code."""
    muted: tuple[MutedFinding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingFilter:
    """Decides which findings are left out. It can travel to the workers of an audit."""

    ignored_codes: frozenset[str] = frozenset()
    mutes: tuple[Mute, ...] = ()
    now_ms: int = field(default_factory=lambda: int(time.time() * 1000))

    def sorted(self, values: Iterable[T], finding_of: Callable[[T], Finding]) -> SortedFindings[T]:
        """Sort values by what becomes of their findings; the order of the kept ones stays."""
        every = tuple(values)
        mute_of = self._mutes_of([finding_of(value) for value in every])
        kept: list[T] = []
        muted: list[MutedFinding] = []
        ignored = 0
        for value, mute in zip(every, mute_of, strict=True):
            finding = finding_of(value)
            if finding.code in self.ignored_codes:
                ignored += 1
            elif mute is not None:
                muted.append(MutedFinding(finding=finding, mute=mute))
            else:
                kept.append(value)
        return SortedFindings(tuple(kept), ignored, tuple(muted))

    def of(self, findings: Iterable[Finding]) -> SortedFindings[Finding]:
        """Sort findings."""
        return self.sorted(findings, lambda finding: finding)

    def _mutes_of(self, findings: Sequence[Finding]) -> list[Mute | None]:
        """The first mute for each finding; None where it covers fewer than there are."""
        mute_of = [
            next((mute for mute in self.mutes if mute.covers(finding, self.now_ms)), None)
            for finding in findings
        ]
        times = Counter(mute_of)
        return [
            mute if mute is not None and times[mute] <= mute.count else None for mute in mute_of
        ]


NOTHING_LEFT_OUT = FindingFilter(now_ms=0)


def read_mutes(data: bytes, name: str, codes: frozenset[str]) -> tuple[Mute, ...]:
    """Read a file of mutes, a list in YAML. Raises MuteError for anything that is not understood:
    an alarm must not vanish by a typing mistake."""
    from kraftool.decoders.safe_yaml import YamlError, YamlLimits, load_yaml

    try:
        entries = load_yaml(data, YamlLimits(bytes=256 << 10, events=20_000, depth=3))
    except YamlError as error:
        raise MuteError(f"{name}: {error.message}") from None
    if entries is None:
        return ()
    if not isinstance(entries, list):
        raise MuteError(f"{name}: not a list of mutes", hint=_EXAMPLE)
    return tuple(
        _mute(entry, f"{name}, entry {number}", codes) for number, entry in enumerate(entries, 1)
    )


_EXAMPLE = "such as: - {code: KT-LIVE-EVEN-VOTERS, until: 2027-01-31, reason: fifth node ordered}"


def _mute(entry: Any, where: str, codes: frozenset[str]) -> Mute:
    if not isinstance(entry, dict):
        raise MuteError(f"{where}: not a mapping", hint=_EXAMPLE)
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        raise MuteError(f"{where}: {unknown[0]} is not one of {', '.join(_KEYS)}")
    code = str(entry.get("code", "")).strip().upper()
    if code not in codes:
        raise MuteError(
            f"{where}: {code or 'no code'} is not a finding code",
            hint="kraftool doctor --explain list",
        )
    reason = str(entry.get("reason") or "").strip()
    if not reason:
        raise MuteError(f"{where}: it has no reason")
    count = entry.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise MuteError(f"{where}: count {count} is not a number of findings")
    subject = entry.get("subject", "*")
    if not isinstance(subject, str) or not subject:
        raise MuteError(f"{where}: subject {subject!r} is not a pattern of a name")
    return Mute(
        code=code, subject=subject, until=_until(entry.get("until"), where), reason=reason,
        count=count,
    )  # fmt: skip


def _until(value: Any, where: str) -> int:
    """A day, up to its end, or a time; without a zone in UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise MuteError(f"{where}: until {value} is not a date or a time") from None
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1000)
    if isinstance(value, date):
        end = datetime(value.year, value.month, value.day, 23, 59, 59, tzinfo=UTC)
        return int(end.timestamp() * 1000) + 1000
    raise MuteError(f"{where}: it does not say until when", hint="until: 2027-01-31")
