"""The document of `recover collect -o json`.

What a collect file says, which kraftool reads again, is `repair/document.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kraftool.commands.recover_collect_nodes import CollectedNode
from kraftool.repair.narration import complaints, is_well
from kraftool.repair.survey import Survey
from kraftool.reports.text.json_form import form


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyObject:
    """A directory in a collect file."""

    path: str
    """On the node."""
    node_id: int | None
    directory_id: str | None
    cluster_id: str | None
    end_offset: int | None
    """The offset up to which its log or snapshot is readable; null without metadata."""
    end_epoch: int | None
    is_running: bool
    """True if a process has the directory's lock."""
    has_settings: bool
    """True if PATH was a server.properties, whose settings of the quorum are in the file."""
    is_healthy: bool
    """False if there is damage other than a torn tail."""
    complaints: tuple[str, ...]
    """Damage, in sentences."""


@form
def survey_object(survey: Survey) -> SurveyObject:
    end = survey.end
    has_metadata = survey.log is not None or bool(survey.snapshots)
    return SurveyObject(
        path=survey.path,
        node_id=survey.node_id,
        directory_id=survey.identity.directory_id or None,
        cluster_id=survey.identity.cluster_id or None,
        end_offset=end.offset if has_metadata else None,
        end_epoch=end.epoch if has_metadata else None,
        is_running=survey.running,
        has_settings=survey.settings is not None,
        is_healthy=is_well(survey),
        complaints=tuple(complaints(survey)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectDocument:
    """The nodes that sent their file, and those that did not."""

    command: Literal["collect"] = "collect"
    nodes: tuple[CollectedNode, ...]
    """In the order of the command line."""


def collect_document(nodes: Iterable[CollectedNode]) -> CollectDocument:
    return CollectDocument(nodes=tuple(nodes))
