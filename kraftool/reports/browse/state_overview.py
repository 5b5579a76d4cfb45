"""The overview card of a state: the cluster, the counts, and what is wrong.

Owns its lines and the status of each number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kraftool.image.image import MetadataImage
from kraftool.image.metadata_version import KRAFT_VERSION, level_name
from kraftool.reports.findings.status import Status
from kraftool.reports.state.load import LoadedState, spoils
from kraftool.reports.state.summary import StateCounts, state_counts
from kraftool.reports.text.words import many


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewPart:
    """Some words and their status."""

    text: str
    status: Status = Status.NOTE


@dataclass(frozen=True, slots=True, kw_only=True)
class StateOverview:
    """The card: a label and its parts for each line."""

    lines: tuple[tuple[str, tuple[OverviewPart, ...]], ...]


def overview_of(state: LoadedState) -> StateOverview:
    """Return the card of a state, which damage may have cost records."""
    return state_overview(state.image, is_whole=not any(map(spoils, state.findings)))


def state_overview(image: MetadataImage, *, is_whole: bool = True) -> StateOverview:
    """Count everything once, for a card of a few lines.

    Nothing is GOOD if the state is not whole, as damage may have cost it records.
    """
    counts = state_counts(image)
    lines = (
        ("Cluster", _features(image)),
        ("Nodes", _nodes(counts)),
        ("Topics", _topics(counts)),
        ("Also", _rest(counts)),
    )
    return StateOverview(
        lines=tuple(
            (label, tuple(part if is_whole else _unsure(part) for part in parts))
            for label, parts in lines
        )
    )


def _unsure(part: OverviewPart) -> OverviewPart:
    return replace(part, status=Status.UNKNOWN) if part.status is Status.GOOD else part


def _features(image: MetadataImage) -> Iterator[OverviewPart]:
    level = image.features.metadata_version
    if level is None:
        yield OverviewPart(text="no metadata.version", status=Status.WARN)
    else:
        yield OverviewPart(text=f"metadata.version {level_name(level) or level}")
    levels = dict(image.features.finalized)
    if KRAFT_VERSION in levels:
        yield OverviewPart(text=f"kraft.version {levels.pop(KRAFT_VERSION)}")
    if levels:
        yield OverviewPart(text=many(len(levels), "further feature"))


def _nodes(counts: StateCounts) -> Iterator[OverviewPart]:
    brokers = many(counts.brokers, "broker")
    usable = counts.brokers - counts.fenced_brokers
    if counts.brokers and not usable:
        yield OverviewPart(text=f"{brokers}, all fenced", status=Status.BAD)
    elif counts.fenced_brokers:
        yield OverviewPart(text=f"{brokers}, {counts.fenced_brokers} fenced", status=Status.WARN)
    else:
        status = Status.GOOD if counts.brokers else Status.NOTE
        yield OverviewPart(text=f"{brokers}, none fenced" if counts.brokers else brokers,
                           status=status)  # fmt: skip
    if counts.shutting_down_brokers:
        yield OverviewPart(text=f"{counts.shutting_down_brokers} shutting down",
                           status=Status.WARN)  # fmt: skip
    yield OverviewPart(text=f"{many(counts.controllers, 'controller')} registered")


def _topics(counts: StateCounts) -> Iterator[OverviewPart]:
    yield OverviewPart(
        text=f"{many(counts.topics, 'topic')}, {many(counts.partitions, 'partition')}"
    )
    wrong = [
        (counts.offline_partitions, "offline", Status.BAD),
        (counts.under_min_isr_partitions, "under min ISR", Status.WARN),
        (counts.under_replicated_partitions, "under-replicated", Status.WARN),
        (counts.reassigning_partitions, "being reassigned", Status.NOTE),
    ]
    # What is offline is under min ISR and under-replicated, too: that is said once.
    for count, words, status in wrong:
        if count > (0 if status in (Status.BAD, Status.NOTE) else counts.offline_partitions):
            yield OverviewPart(text=f"{count:,} {words}", status=status)
    if counts.partitions and not any(count for count, _, _ in wrong[:3]):
        yield OverviewPart(text="all in sync", status=Status.GOOD)


def _rest(counts: StateCounts) -> Iterator[OverviewPart]:
    credentials = sum(counts.scram_credentials_by_mechanism.values())
    parts = [
        (counts.configs, "config"),
        (counts.acls, "ACL"),
        (counts.client_quotas, "quota"),
        (credentials, "SCRAM user"),
        (counts.delegation_tokens, "token"),
    ]
    yield OverviewPart(text=", ".join(many(count, noun) for count, noun in parts))
