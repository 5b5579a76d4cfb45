"""A directory that the metadata log knows as another broker's: its node.id was edited, or copied.

A broker registers the ids of its log directories. What the voters know of a directory id is for
`voters/stale.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import next_steps
from kraftool.reports.doctor.model import Diagnosis, Examination, ExaminedDirectory
from kraftool.reports.findings.kinds import directory as kinds


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        owner, settings = _owner(examined), examined.source.settings
        configured = settings.node_id if settings is not None else None
        # Settings with another id than meta.properties are reported by themselves.
        if owner is None or configured not in (None, examined.node_id):
            continue
        finding = kinds.NODE_ID_EDITED.at(
            examined.source.meta_file or examined.path,
            f"the directory.id is broker {owner}'s",
            field="node.id",
            expected=str(owner),
            found=str(examined.node_id),
        )
        yield next_steps.diagnosis(finding, examination, examined)


def _owner(examined: ExaminedDirectory) -> int | None:
    """The broker that registered the directory's id, if that is not the directory's node."""
    node, state = examined.summary.node, examined.state
    if state is None or node.node_id is None or node.directory_id is None:
        return None
    owners = {
        broker.id
        for broker in state.image.cluster.brokers.values()
        if node.directory_id in broker.directories
    }
    return min(owners) if owners and node.node_id not in owners else None
