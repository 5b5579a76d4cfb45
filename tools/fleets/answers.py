"""The answers of an audit of a generated fleet, compared with what was planted in it.

Owns the verdict: which faults no finding answers, and which findings no fault explains. It reads
the manifest and the JSON document of `pipeline audit`, and nothing of the fleet itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

_WEIGHTY = ("error", "warning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The two ways in which an audit can be wrong."""

    planted: int
    missed: tuple[str, ...]
    invented: tuple[str, ...]


def answers(manifest: Mapping[str, Any], audit: Mapping[str, Any]) -> Answers:
    """Compare the documents."""
    by_cluster: dict[str, list[Mapping[str, Any]]] = {}
    homeless: list[Mapping[str, Any]] = []
    for finding in audit["findings"]:
        names = {_cluster_of(path) for path in finding["paths"]}
        for name in names:
            by_cluster.setdefault(name, []).append(finding)
        if not names:
            homeless.append(finding)
    missed: list[str] = []
    invented = [_told(finding) for finding in homeless if finding["severity"] in _WEIGHTY]
    explained: dict[str, set[str]] = {}
    for fault in manifest["planted"]:
        explained.setdefault(fault["cluster"], set()).update(fault["codes"], fault["follow"])
        fault_findings = by_cluster.get(fault["cluster"], [])
        missed += _missed(fault, fault_findings, audit["divergences"])
    for name, findings in by_cluster.items():
        invented += [
            f"{name}: {_told(finding)}"
            for finding in findings
            if finding["severity"] in _WEIGHTY and finding["code"] not in explained.get(name, set())
        ]
    return Answers(planted=len(manifest["planted"]), missed=tuple(missed), invented=tuple(invented))


def _missed(
    planted: Mapping[str, Any],
    findings: Iterable[Mapping[str, Any]],
    divergences: Iterable[Mapping[str, Any]],
) -> list[str]:
    """What of a fault was not told: the fault itself, or some of the places of a divergence."""
    what = f"{planted['kind']} in {planted['directory']}"
    answering = [finding for finding in findings if finding["code"] in planted["codes"]]
    if not answering:
        return [what]
    if not any(_is_there(finding, planted) for finding in answering):
        return [f"{what}: not at {planted['file']} offset {planted['offset']}"]
    if not planted["kind"].startswith("diverged"):
        return []
    offsets = [planted["offset"], *(offset for _, _, offset in planted["places"])]
    ranges = [
        (divergence["firstOffset"], divergence["lastOffset"])
        for divergence in divergences
        for side in divergence["sides"]
        if any(name.endswith("/" + planted["directory"]) for name in side["paths"])
    ]
    return [
        f"{what}: no divergence at offset {offset}"
        for offset in offsets
        if not any(first <= offset <= last for first, last in ranges)
    ]


def _is_there(finding: Mapping[str, Any], planted: Mapping[str, Any]) -> bool:
    position, offset = finding["position"], finding["offset"]
    if planted["end"] is not None and position is not None:
        return bool(planted["position"] <= position <= planted["end"])
    if planted["offset"] is not None and offset is not None:
        return bool(offset == planted["offset"])
    return any(path.endswith("/" + planted["directory"]) for path in finding["paths"])


def _cluster_of(directory: str) -> str:
    return PurePosixPath(directory).parent.name


def _told(finding: Mapping[str, Any]) -> str:
    return f"{finding['code']} {finding['file']}: {finding['reason']}"
