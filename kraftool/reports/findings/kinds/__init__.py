"""The catalogue of finding kinds: one code for one thing, whichever command finds it.

Owns how a kind is declared and that no code is declared twice. All that holds for every finding of
a kind stands in its declaration; each area has a module with these. It refuses to decide when a
kind applies. An area is imported by itself where only its kinds
are needed; `KINDS` has them all, and imports the rest when it is first looked into.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module

from kraftool.reports.findings.finding import FindingKind, Remedy, Severity, Stake

AREAS = {
    "KT-LOG": "log",
    "KT-SNAP": "snapshot",
    "KT-DIR": "directory",
    "KT-SIG": "signatures",
    "KT-FLEET": "fleet",
    "KT-LIVE": "live",
    "KT-REC": "repair",
}
"""The module of each area, by the beginning of its codes."""

_declared: dict[str, FindingKind] = {}


@dataclass(frozen=True, slots=True)
class Area:
    """The kinds whose codes begin alike."""

    prefix: str

    def kind(
        self,
        name: str,
        severity: Severity,
        meaning: str,
        advice: str = "",
        *,
        undecoded: bool = False,
        stake: Stake = Stake.OTHER,
        references: tuple[str, ...] = (),
        note: str = "",
        keeps_from_starting: bool = False,
        stops_controller: bool = False,
        remedy: Remedy | None = None,
    ) -> FindingKind:
        """Declare a kind. Its code is the area's beginning and the name, and never changes."""
        assert self.prefix in AREAS, "an area is listed, so that KINDS finds it"
        kind = FindingKind(
            code=f"{self.prefix}-{name}",
            severity=severity,
            meaning=meaning,
            advice=advice,
            undecoded=undecoded,
            stake=stake,
            references=references,
            note=note,
            keeps_from_starting=keeps_from_starting,
            stops_controller=stops_controller,
            remedy=remedy,
        )
        assert kind.code not in _declared, "codes are unique"
        _declared[kind.code] = kind
        return kind


class _Catalogue(Mapping[str, FindingKind]):
    """Every kind by its code."""

    def _all(self) -> dict[str, FindingKind]:
        for module in AREAS.values():
            import_module(f"{__name__}.{module}")
        return _declared

    def __getitem__(self, code: str) -> FindingKind:
        return self._all()[code]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


KINDS: Mapping[str, FindingKind] = _Catalogue()
