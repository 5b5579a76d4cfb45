"""Values of reports as JSON has them: members in camel case, enums by their word.

Owns the step that all JSON documents share, and the one form of a finding. It refuses to name a
document's own members; each report does that for itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

from kraftool.reports.findings import Finding, tally


@cache
def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def plain(value: Any) -> Any:
    """A report's values as JSON has them."""
    if is_dataclass(value) and not isinstance(value, type):
        return {camel(each.name): plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Enum):
        return value.name.lower() if value.value == "" or value.value[:1] == "." else value.value
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, str) and not value.isascii():
        # A file name that is no UTF-8 comes as lone surrogates, which JSON cannot carry.
        return value.encode("utf-8", "backslashreplace").decode()
    return value


def finding_object(finding: Finding) -> dict[str, Any]:
    """A finding in every JSON document: docs/schemas/dump.json has its members."""
    told: dict[str, Any] = plain(finding)
    return told


def finding_counts(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings of each severity: `findingCounts` in every JSON document."""
    return {severity.value: count for severity, count in tally(findings).items()}
