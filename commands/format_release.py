"""The source of the metadata.version with which a format starts a new cluster.

Owns the choice between the sources: an option, an installed Kafka, a running quorum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftool.commands.exit_code import UnreachableError, UsageError

if TYPE_CHECKING:
    from kraftool.client.target import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release, and who says so."""

    name: str = ""
    """As --release-version takes it; empty where a feature's level decides, or nobody asks."""
    source: str = ""
    """Empty where no metadata.version is given."""
    is_looked_up: bool = False
    """True if kraftool has read it somewhere; the command line does not show it then."""
    cluster_id: str = ""
    """Of the running quorum that was asked."""


def choose_release(
    release_version: str, features: Iterable[str], kafka_home: str, target: Target | None
) -> Release:
    """The one source that is given. Raises UsageError for several, FormatImpossible."""
    from kraftool.image.metadata_version import METADATA_VERSION

    has_level = METADATA_VERSION in features
    given = [
        option
        for option, is_given in (
            ("--release-version", release_version),
            (f"--feature {METADATA_VERSION}", has_level),
            ("--kafka-home", kafka_home),
            ("--bootstrap-controller", target is not None),
        )
        if is_given
    ]
    if len(given) > 1:
        raise UsageError(
            f"{' and '.join(given)} each state {METADATA_VERSION}", hint="give one of them"
        )
    if kafka_home:
        from kraftool.storage.kafka_home import installed_release

        installed = installed_release(kafka_home)
        return Release(name=installed.name, source=installed.jar, is_looked_up=True)
    if target is not None:
        return _of_quorum(target)
    return Release(name=release_version, source=given[0] if given else "")


def _of_quorum(target: Target) -> Release:
    import asyncio

    from kraftool.image.metadata_version import LATEST_LEVEL, METADATA_VERSION, level_name
    from kraftool.net.errors import NetError
    from kraftool.storage.format_levels import FormatImpossible

    try:
        view = asyncio.run(target.reached())
    except NetError as error:
        raise UnreachableError(error.message, hint=error.hint) from None
    if len(view.cluster_ids) > 1:
        raise FormatImpossible(
            f"--bootstrap-controller leads to several clusters: {', '.join(view.cluster_ids)}",
            hint="name controllers of one cluster",
        )
    nodes = [answer for answer in view.reached if METADATA_VERSION in answer.offered.finalized]
    if not nodes:
        raise FormatImpossible(
            f"no node of the quorum reports a finalized {METADATA_VERSION}",
            hint="give --release-version",
        )
    newest = max(nodes, key=lambda node: node.offered.finalized_epoch)
    level = newest.offered.finalized[METADATA_VERSION]
    name = level_name(level)
    if not name:
        raise FormatImpossible(
            f"{newest.name} has finalized {METADATA_VERSION} {level}, which is unknown to this"
            f" kraftool: it knows up to {LATEST_LEVEL} ({level_name(LATEST_LEVEL)})",
            hint="install a newer kraftool",
        )
    cluster = f"cluster {newest.cluster_id}" if newest.cluster_id else "a running quorum"
    return Release(
        name=name,
        source=f"{cluster}, {newest.name}",
        is_looked_up=True,
        cluster_id=newest.cluster_id or "",
    )
