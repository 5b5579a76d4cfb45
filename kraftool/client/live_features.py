"""Features of a live quorum, as they are told of directories: by the log of its leader.

Owns what running nodes add: the ranges of controllers that no record registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kraftool.client.live import LiveQuorum
from kraftool.image.cluster import FeatureRange
from kraftool.reports.features.model import ClusterFeatures
from kraftool.reports.features.read import read_features


def features_of(
    live: LiveQuorum, paths: Sequence[str], progress: Callable[[str, int], None]
) -> ClusterFeatures:
    """A quorum's features, with those of directories beside it. Raises KraftoolError where neither
    has a state."""
    ranges = {
        answer.node_id: {
            name: FeatureRange(*level_range)
            for name, level_range in answer.offered.supported.items()
        }
        for answer in live.before.reached
        if answer.node_id is not None
    }
    return read_features(
        paths,
        progress,
        leader=live.captured.location if live.captured is not None else None,
        controllers=ranges,
    )
