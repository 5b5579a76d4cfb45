"""The offsets that a plan loses because it has only collect files of damaged logs.

A collect file has the keys of the batches, but no bytes. So a plan cannot restore the damaged log
of one node with the good batches of another. Owns the estimate of that loss, and the pairing of a
collect file with a copy of its directory: the copy has the bytes, the collect file the path and the
settings. It refuses to restore anything (`run_survey.py`).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kraftool.repair.log_runs import BatchKey, LogCopies, PlacedBatch
from kraftool.repair.plan import Edit, LostRecords
from kraftool.repair.plan_file import PlanFileKind
from kraftool.repair.ranking import host_names
from kraftool.repair.read_directory import ReadDirectory
from kraftool.repair.restored_file import PieceOpener
from kraftool.repair.survey import Survey, SurveyedBatch, SurveyedLog
from kraftool.reports.text.words import listed, many, offsets

_COMPARED = frozenset({PlanFileKind.SEGMENT, PlanFileKind.SNAPSHOT, PlanFileKind.QUORUM_STATE})
"""A copy is of the collected directory if these files are the same in both."""


# --- a collect file and a copy of its directory ------------------------------------------------


def with_copies(directories: Sequence[ReadDirectory]) -> list[ReadDirectory]:
    """The directories, where a copy of a collected one and its collect file are one. A copy that
    has changed since stays a directory of its own."""
    copies: dict[int, ReadDirectory] = {}
    for number, directory in enumerate(directories):
        for other in directories if directory.survey.collect_file else ():
            is_free = other not in copies.values() and not other.survey.collect_file
            if is_free and _is_copy(other.survey, directory.survey):
                copies[number] = other
                break
    return [
        _Copy(directory, copies[number]).directory() if number in copies else directory
        for number, directory in enumerate(directories)
        if directory not in copies.values()
    ]


def _is_copy(copy: Survey, collected: Survey) -> bool:
    return (
        collected.identity.node_id is not None
        and copy.identity == collected.identity
        and _content(copy) == _content(collected)
    )


def _content(survey: Survey) -> dict[str, str]:
    return {
        file.target.path: file.fingerprint.sha256
        for file in survey.files
        if file.target.kind in _COMPARED
    }


@dataclass(frozen=True, slots=True)
class _Copy:
    """A collected directory, with the bytes of its copy."""

    collected: ReadDirectory
    copy: ReadDirectory

    def directory(self) -> ReadDirectory:
        return replace(
            self.copy,
            survey=replace(self.collected.survey, collect_file=""),
            restored=self.collected.restored,
            again=self._again,
        )

    def _again(self, restored: Sequence[Edit], open_piece: PieceOpener) -> Survey | None:
        """The survey of what restored files of the copy leave, and what only the host knows."""
        survey = self.copy.again(restored, open_piece) if self.copy.again else None
        own = self.collected.survey
        if survey is None:
            return None
        known = {file.target for file in survey.files}
        node = survey.node
        if node is not None and own.node is not None:
            known_settings = own.node.settings
            node = replace(
                node,
                settings=replace(
                    node.settings,
                    static_voters=known_settings.static_voters,
                    timing=known_settings.timing,
                ),
                is_running=own.node.is_running,
            )
        return replace(
            survey,
            collected_ms=own.collected_ms,
            path=own.path,
            archived=own.archived,
            running=own.running,
            settings=own.settings,
            voters=survey.voters if survey.voters_offset is not None else own.voters,
            bootstrap_complaint=own.bootstrap_complaint,
            files=(*survey.files, *(file for file in own.files if file.target not in known)),
            half_done=own.half_done,
            node=node,
        )


# --- what the directories would keep ------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptByDirectory:
    """Offsets of a damaged log that a plan can keep if it has the bytes of the logs."""

    host: str
    first_offset: int
    end_offset: int
    sources: tuple[str, ...]
    """The other hosts that have the damaged batches."""
    is_listed: bool = True
    """True if the collect files list those batches. Of a long log they list only the last ones."""

    def describe(self) -> str:
        have = "has" if len(self.sources) == 1 else "have"
        if not self.is_listed:
            have = "may have"
        return (
            f"{offsets(self.first_offset, self.end_offset)} of {self.host}"
            f" ({listed(self.sources)} {have} the batches that are damaged there)"
        )


def kept_by_directories(
    surveys: Sequence[Survey], restored: Mapping[str, Survey]
) -> tuple[KeptByDirectory, ...]:
    """The offsets that damaged logs of collect files lack only because their bytes are not here."""
    hosts = dict(zip(host_names(surveys), surveys, strict=True))
    kept_offsets = []
    for name, survey in hosts.items():
        log = _damaged(restored.get(name, survey))
        if log is None or not survey.collect_file:
            continue
        cluster = survey.identity.cluster_id
        kin = {
            other: other_survey.log
            for other, other_survey in hosts.items()
            if other_survey.identity.cluster_id == cluster and other_survey.log is not None
        }
        copies = LogCopies({other: _placed(other_log) for other, other_log in kin.items()})
        kept = _kept(name, log, copies) or _unlisted(name, log, kin)
        end = survey.end.offset  # a snapshot beyond the damage
        if kept is not None and kept.end_offset > end:
            kept_offsets.append(replace(kept, first_offset=max(kept.first_offset, end)))
    return tuple(kept_offsets)


def _damaged(best: Survey) -> SurveyedLog | None:
    return best.log if not best.intact and not best.lenders else None


def _placed(log: SurveyedLog) -> list[PlacedBatch]:
    behind = log.broken.batches if log.broken is not None else ()
    return [PlacedBatch(_key(batch), 0, 0) for batch in (*log.batches, *behind)]


def _key(batch: SurveyedBatch) -> BatchKey:
    """The key of a batch in all logs of the surveys, which do not have its size."""
    return BatchKey(batch.base_offset, batch.last_offset + 1, batch.epoch, batch.crc, 0)


def _kept(name: str, log: SurveyedLog, copies: LogCopies) -> KeptByDirectory | None:
    """Return the gain if other logs fill the damage, as `run_survey.py` does it."""
    own = [batch.key for batch in copies.nodes[name]]
    before = next((key for key in own if key.end_offset == log.intact_end), None)
    end, sources = log.intact_end, set[str]()
    for key in own:
        if key.base_offset < end:
            continue
        if key.base_offset > end:
            filling = copies.between(before, end, key)
            if not filling:
                break
            for filled in filling:
                sources |= copies.places(filled).keys()
        before, end = key, key.end_offset
    if not sources:
        return None
    return KeptByDirectory(
        host=name, first_offset=log.intact_end, end_offset=end, sources=tuple(sorted(sources))
    )


def _unlisted(
    name: str, log: SurveyedLog, kin: Mapping[str, SurveyedLog]
) -> KeptByDirectory | None:
    """Return what other logs may fill, if no collect file lists the batches at the damage."""
    at, broken = log.intact_end, log.broken
    if broken is None or not broken.lost_batches:
        return None
    sources = tuple(
        other
        for other, other_log in sorted(kin.items())
        if other != name
        and other_log.start_offset <= at < other_log.end_offset
        and at < max(_listed_from(log), _listed_from(other_log))
    )
    if not sources:
        return None
    return KeptByDirectory(
        host=name, first_offset=at, end_offset=log.end_offset, sources=sources, is_listed=False
    )


def _listed_from(log: SurveyedLog) -> int:
    """The offset from which on a survey lists all good batches."""
    broken = log.broken
    if broken is not None and broken.lost_batches > len(broken.batches) > 0:
        return broken.batches[0].base_offset
    return log.batches[0].base_offset if log.batches else log.start_offset


def relevant(
    kept: Sequence[KeptByDirectory], lost: Sequence[LostRecords]
) -> tuple[KeptByDirectory, ...]:
    """Return the logs of which a plan gives up records."""
    return tuple(
        one
        for one in kept
        if any(
            one.first_offset < records.end_offset and records.first_offset < one.end_offset
            for records in lost
        )
    )


def words(kept: Sequence[KeptByDirectory]) -> str:
    """Return what the directories would keep, as a clause."""
    count = max(one.end_offset - one.first_offset for one in kept)
    what = listed(one.describe() for one in kept)
    can = "can" if all(one.is_listed for one in kept) else "may"
    return (
        f"collect files have no bytes of a log. With the directories themselves, kraftool {can}"
        f" keep {what}: up to {many(count, 'offset')}"
    )


def archive_commands(surveys: Sequence[Survey]) -> Iterator[tuple[str, str]]:
    """Yield for each collected directory with a log the file to carry, and the command that makes
    it on its host."""
    for name, survey in zip(host_names(surveys), surveys, strict=True):
        if survey.collect_file and survey.log is not None:
            archive = f"{name}-data.tar.gz"
            files = "meta.properties __cluster_metadata-0"
            where = f"    # on the host of {name}"
            yield (
                archive,
                f"tar -C {survey.directory} -czf {shlex.quote(archive)} {files}{where}",
            )
