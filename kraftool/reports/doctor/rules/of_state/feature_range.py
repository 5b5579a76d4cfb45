"""A finalized level that a registered node does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kraftool.image.cluster import FeatureRange
from kraftool.image.metadata_version import METADATA_VERSION, level_name
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.state.load import LoadedState
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "FEATURE-RANGE",
    Severity.ERROR,
    "A finalized feature level is outside the range that a registered node's software"
    " supports. That node cannot register again, and a controller stops when it reads the"
    " record.",
    "upgrade that node to a release that supports the level. A metadata.version that changed"
    " records cannot be downgraded",
    references=(
        "KIP-584",
        "KIP-778",
        "apache/kafka #14484",
    ),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        levels = dict(state.image.features.finalized)
        if state.image.features.metadata_version is not None:
            levels[METADATA_VERSION] = state.image.features.metadata_version
        for who, ranges, fenced in _nodes(state):
            for feature, level in levels.items():
                known = ranges.get(feature)
                if known is not None and known.min <= level <= known.max:
                    continue
                if known is None and feature != METADATA_VERSION:
                    continue  # a node that says nothing of it may be of before the feature
                if known is None and not ranges:
                    continue
                span = f"{known.min} to {known.max}" if known is not None else "none"
                yield Diagnosis(
                    finding=KIND.at(
                        examined.path,
                        f"{who} supports {feature} {span}, but"
                            f" {level}{_release(feature, level)} is finalized",
                        field=feature,
                        expected=span,
                        found=str(level),
                        severity=Severity.WARNING if fenced else None,
                    ),
                    directory=examined.path,
                    evidence=(_record(examined, feature, level),),
                    commands=(
                        shell_text.line(
                            "kafka-features", *tools.controller(examination, examined), "describe"
                        ),
                        shell_text.on(
                            examined.path, "dump-log", "--type", "FeatureLevelRecord"
                        ),
                    ),
                )  # fmt: skip


def _nodes(state: LoadedState) -> Iterator[tuple[str, Mapping[str, FeatureRange], bool]]:
    for broker in state.image.cluster.brokers.values():
        yield f"broker {broker.id}", broker.features, broker.fenced
    for controller in state.image.cluster.controllers.values():
        yield f"controller {controller.id}", controller.features, False


def _release(feature: str, level: int) -> str:
    name = level_name(level) if feature == METADATA_VERSION else ""
    return f" ({name})" if name else ""


def _record(examined: ExaminedDirectory, feature: str, level: int) -> Evidence:
    """The record that finalized the level, or the snapshot that has it."""
    record = examined.summary.feature(feature)
    if record is None:
        return Evidence(file=examined.path, found=f"{feature} {level}")
    return Evidence(
        file=record.file, offset=record.offset, found=f"FeatureLevelRecord {feature} {record.level}"
    )
