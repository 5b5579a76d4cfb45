"""The catalogue of finding kinds: one code for one thing, whichever command finds it.

All that holds for every finding of a kind stands in its declaration, and no code is declared twice.
Each area has a module with its kinds. A signature that one rule of doctor makes is declared in the
file of that rule, which has the code's name: KT-SIG-AUTO-JOIN is in
`reports/doctor/rules/auto_join.py`. `KINDS` finds a kind by its code, and imports only its module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from kraftool.reports.findings.finding import FindingKind, Remedy, Severity, Stake

AREAS = {
    "KT-LOG": "log",
    "KT-SNAP": "snapshot",
    "KT-DIR": "directory",
    "KT-SIG": "signatures",
    "KT-FLEET": "fleet",
    "KT-LIVE": "live",
    "KT-REC": "repair",
    "KT-BAK": "backup",
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
        observed: tuple[str, ...] = (),
        keeps_from_starting: bool = False,
        stops_controller: bool = False,
        concerns_voters: bool = True,
        tells_better: frozenset[str] = frozenset(),
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
            observed=observed,
            keeps_from_starting=keeps_from_starting,
            stops_controller=stops_controller,
            concerns_voters=concerns_voters,
            tells_better=tells_better,
            remedy=remedy,
        )
        assert kind.code not in _declared, "codes are unique"
        _declared[kind.code] = kind
        return kind


SIGNATURES = Area("KT-SIG")
_RULES = "kraftool.reports.doctor.rules"


class _Catalogue(Mapping[str, FindingKind]):
    """Every kind by its code."""

    def __getitem__(self, code: str) -> FindingKind:
        if code not in _declared:
            _import(code)
        return _declared[code]

    def __iter__(self) -> Iterator[str]:
        return iter(_all())

    def __len__(self) -> int:
        return len(_all())


def _all() -> dict[str, FindingKind]:
    for module in AREAS.values():
        import_module(f"{__name__}.{module}")
    import_module(_RULES).rules()
    return _declared


def _import(code: str) -> None:
    """Import the module that may declare a code: its area's, then that of the rule of this name."""
    prefix = "-".join(code.split("-", 2)[:2])
    if prefix in AREAS:
        import_module(f"{__name__}.{AREAS[prefix]}")
    rule = code[len(prefix) + 1 :].replace("-", "_").lower()
    if code not in _declared and prefix == SIGNATURES.prefix and rule.isidentifier():
        for package in (_RULES, f"{_RULES}.of_state"):
            if find_spec(f"{package}.{rule}") is not None:
                import_module(f"{package}.{rule}")


KINDS: Mapping[str, FindingKind] = _Catalogue()
