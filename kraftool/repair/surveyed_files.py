"""The files of a directory that a plan may name, by their hashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.names import (
    BOOTSTRAP_CHECKPOINT,
    META_PROPERTIES,
    parse_checkpoint_name,
    parse_segment_name,
)
from kraftool.repair.document import DocumentError
from kraftool.repair.fingerprints import fingerprint_of
from kraftool.repair.plan import Fingerprint
from kraftool.repair.plan_file import PlanFile, PlanFileKind, target_of
from kraftool.repair.survey import (
    SurveyedFile,
)
from kraftool.reports.logs.file_names import misnamed
from kraftool.storage.entry import Entry, EntryPlace


def hashed_files(
    entries: Sequence[Entry], passed: Mapping[str, Fingerprint]
) -> tuple[tuple[SurveyedFile, ...], tuple[str, ...]]:
    """Every file that a plan may name, hashed; logs and snapshots were, when they passed. Raises
    KraftoolError where one of Kafka's cannot be read: it is neither lost nor damaged."""
    files, unread = [], []
    for entry in entries:
        target: PlanFile | None = None
        if entry.place is EntryPlace.PARTITION:
            try:
                target = target_of(entry.basename)
            except DocumentError as error:
                unread.append(error.message)
        elif entry.basename == META_PROPERTIES:
            target = PlanFile(kind=PlanFileKind.META_PROPERTIES, name=META_PROPERTIES)
        elif entry.basename == BOOTSTRAP_CHECKPOINT:
            target = PlanFile(kind=PlanFileKind.BOOTSTRAP, name=BOOTSTRAP_CHECKPOINT)
        if target is None:
            continue
        try:
            fingerprint = passed.get(entry.name) or _hash(entry)
        except KraftoolError as error:
            if _is_kafkas(target):
                raise
            unread.append(error.message)
            continue
        files.append(SurveyedFile(target=target, fingerprint=fingerprint))
    return tuple(sorted(files, key=lambda file: file.target.path)), tuple(unread)


def _is_kafkas(target: PlanFile) -> bool:
    """True if Kafka reads such a file, or ends at its name."""
    name = target.name
    if target.kind is not PlanFileKind.OTHER or misnamed(name) is not None:
        return True
    return parse_checkpoint_name(name) is not None or parse_segment_name(name) is not None


def _hash(entry: Entry) -> Fingerprint:
    with entry.open() as source:
        return fingerprint_of(source)
