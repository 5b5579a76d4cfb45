"""Committed records that fewer than a majority of the voters have: the others can elect without.

Kafka writes a snapshot, or cleans a log, only below the high watermark, so that a majority of the
voters had what comes before. Where most of their directories lack it, some of them are older than
they should be, or their logs were cut.

Directories that were copied from running nodes, one after the other, can show the same, and with
an election between them even in different epochs; a set like that is dangerous to start from all
the same. So it is an error where the logs end in another epoch than what is committed, or more than
an hour before it. Within one epoch and an hour it is a warning that names the other reason. What is
in use is read one after the other too, while its nodes go on: there such a difference is nothing,
and a larger one a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftool.directory.metadata_summary import SeenVoters
from kraftool.raft.names import majority_of
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.text import shell_text
from kraftool.reports.voters.commit import Proof, with_verdicts
from kraftool.reports.voters.committed_sources import (
    committed,
    committed_voters,
    common_end,
    has,
    rank,
    seats,
)
from kraftool.reports.voters.source_differences import newest_source

KIND = SIGNATURES.kind(
    "COMMITTED-MINORITY",
    Severity.ERROR,
    "Fewer than a majority of the voters' directories have these records, although a snapshot or"
    " the start of a log proves that they are committed. The other voters can elect a leader"
    " without them. A node that follows it truncates them, and logs only INFO lines.",
    "do not start the other voters without one that has the records. Keep a copy of its"
    " directory first",
    stake=Stake.TWO_HISTORIES,
)

_HOUR_MS = 3_600_000
_DISTRUSTED = frozenset(
    kind.code
    for kind in (
        snap_kinds.DAMAGE, snap_kinds.FORM, snap_kinds.FILE_NAME, snap_kinds.LOG_EPOCH,
        snap_kinds.LOG_BOUNDARY, snap_kinds.LOG_VOTERS, snap_kinds.REPLAY,
    )
)  # fmt: skip
_RANK = {None: 0, Severity.INFO: 1, Severity.WARNING: 2, Severity.ERROR: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """Something committed, and who has it."""

    proof: Proof
    voters: SeenVoters
    voting: tuple[tuple[int, ExaminedDirectory], ...]
    """The voters that have it, each with its directory."""
    having: tuple[ExaminedDirectory, ...]
    """All directories that have it, those of voters or not."""
    lacking: tuple[tuple[int, ExaminedDirectory], ...]
    """The voters that lack it, the least far first."""
    timestamp: int | None
    """When it was written, where that is known."""

    @property
    def can_elect(self) -> bool:
        """True if the voters that lack it are a majority."""
        return len(self.lacking) >= self.voters.voters.majority

    @property
    def gone_on(self) -> tuple[tuple[int, ExaminedDirectory], ...]:
        """Those that have a later leader's records instead."""
        return tuple(voter for voter in self.lacking if rank(voter[1].source)[0] > self.proof.epoch)

    @property
    def is_small(self) -> bool:
        """True if a copy that was made a little earlier would look like that."""
        for _, examined in self.lacking:
            log = examined.summary.log
            if log is None or log.last_epoch != self.proof.epoch:
                return False
            if None not in (self.timestamp, log.last_timestamp):
                assert self.timestamp is not None
                assert log.last_timestamp is not None
                if self.timestamp - log.last_timestamp > _HOUR_MS:
                    return False
        return True

    @property
    def severity(self) -> Severity | None:
        """None for what is as it should be."""
        if any(directory.is_live for _, directory in (*self.lacking, *self.voting)):
            return None if self.is_small or not self.can_elect else Severity.WARNING
        if self.is_small:
            return Severity.WARNING if self.can_elect else Severity.INFO
        return Severity.ERROR if self.can_elect else Severity.WARNING

    @property
    def first_lost(self) -> int:
        """From where on a leader of those that lack it may write other records."""
        needed = min(self.voters.voters.majority, len(self.lacking))
        _, winner = self.lacking[needed - 1]
        ends = [common_end(winner.source.log, directory.source.log) for directory in self.having]
        return min(max(ends, default=rank(winner.source)[1]), self.proof.below - 1)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        ratings = [(case.severity, case) for case in _cases(directories)]
        alarms = [rating for rating in ratings if rating[0] is not None]
        if alarms:
            severity, case = max(alarms, key=lambda alarm: (_RANK[alarm[0]], alarm[1].proof.below))
            yield _diagnosis(examination, case, severity)


def _cases(directories: Sequence[ExaminedDirectory]) -> Iterator[_Case]:
    """Whatever fewer than a majority can have, counting voters that were not given as having it."""
    given = [directory for directory in directories if directory.is_read]
    if len(given) < 2:
        return
    sources = with_verdicts([directory.source for directory in given])
    of = dict(zip(map(id, sources), given, strict=True))
    newest = newest_source(sources)
    voters = committed_voters(newest) if newest is not None else None
    if voters is None:
        return
    distrusted = {
        finding.file
        for examined in given
        for finding in examined.judged.findings
        if finding.code in _DISTRUSTED
    }
    distrusted.update(
        one.snapshot for examined in given for one in examined.source.history.contradictions
    )
    times = {
        snapshot.file: snapshot.timestamp for one in given for snapshot in one.summary.snapshots
    }
    for proof in committed(sources, distrusted):
        voting, lacking = [], []
        for seat in seats(voters.voters, sources):
            there = next((source for source in seat.sources if has(source, proof)), None)
            if there is not None:
                voting.append((seat.voter.id, of[id(there)]))
            elif seat.sources:
                lacking.append((seat.voter.id, of[id(seat.best)]))
        having = tuple(of[id(source)] for source in sources if has(source, proof))
        is_minority = len(voters.voters) - len(lacking) < voters.voters.majority
        # Voters that have no log at all are another rule's, and what nobody has is lost already.
        if having and is_minority and any(rank(directory.source)[1] for _, directory in lacking):
            lacking.sort(key=lambda voter: rank(voter[1].source))
            yield _Case(
                proof=proof,
                voters=voters,
                voting=tuple(voting),
                having=having,
                lacking=tuple(lacking),
                timestamp=times.get(proof.file),
            )


def _diagnosis(examination: Examination, case: _Case, severity: Severity | None) -> Diagnosis:
    proof, places = case.proof, [directory.path for directory in case.having]
    holder = case.having[0]
    first = case.first_lost
    span = f"offsets {first} to {proof.below - 1}" if first < proof.below - 1 else f"offset {first}"
    text = (
        f"{span}: committed, because {_sign(proof)}, but only {' and '.join(places)}"
        f" {'has' if len(places) == 1 else 'have'} it"
    )
    count = len(case.voters.voters)
    return Diagnosis(
        finding=KIND.at(
            proof.file or holder.path,
            f"{text}; {_who(case)}",
            offset=first,
            expected=f"{majority_of(count)} of {count} voters with it",
            found=_ids([id for id, _ in case.voting]),
            severity=severity,
            advice=_advice(case, severity),
        ),
        evidence=(
            *(
                Evidence(
                    file=directory.path,
                    offset=rank(directory.source)[1],
                    found=f"voter {id} ends here",
                )
                for id, directory in case.lacking
            ),
            *(
                Evidence(
                    file=directory.path,
                    offset=rank(directory.source)[1],
                    found="this log continues",
                )
                for directory in case.having
            ),
        ),
        commands=(
            *(shell_text.keep_copy(directory.path) for directory in case.having[:3]),
            tools.on_all(examination, "timeline"),
        ),
    )


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(map(str, sorted(ids))) or "none"


def _sign(proof: Proof) -> str:
    if proof.file:
        return f"a snapshot ends at offset {proof.below}"
    if proof.below == proof.offset:
        return f"a log begins at offset {proof.below}"
    return f"the voter change at offset {proof.offset} is ({proof.words})"


def _who(case: _Case) -> str:
    """Return who lacks it, and what they can do."""
    ids = _ids([id for id, _ in case.lacking])
    several = "s" if len(case.lacking) > 1 else ""
    every = _ids([voter.id for voter in case.voters.voters])
    ends = sorted({rank(directory.source)[1] for _, directory in case.lacking})
    where = str(ends[0]) if len(ends) == 1 else f"{ends[0]} to {ends[-1]}"
    if case.gone_on:
        epoch = max(rank(directory.source)[0] for _, directory in case.gone_on)
        return (
            f"voter{several} {ids} of {every} continued without it, up to epoch {epoch}: a"
            " node that follows them truncates it"
        )
    if case.can_elect:
        return (
            f"voter{several} {ids} of {every} can elect a leader without it."
            f" {'Their logs end' if several else 'Its log ends'} at {where}"
        )
    return (
        f"voter{several} {ids} of {every} must have had it, but"
        f" {'have logs' if several else 'has a log'} only up to {where}: an older copy"
        " replaced a directory"
    )


def _advice(case: _Case, severity: Severity | None) -> str:
    copy = f"keep a copy of {case.having[0].path} first"
    ids = _ids([id for id, _ in case.lacking])
    if case.gone_on:
        return (
            f"{copy}: the quorum no longer has its records, and this node truncates them as"
            " soon as it follows the others"
        )
    if not case.voting:
        advice = (
            f"{copy}, and start none of {ids}: no voter's directory has these records. Look"
            " for newer directories of the voters"
        )
    elif case.can_elect:
        most = case.voters.voters.majority - 1
        advice = (
            f"do not start {ids} without {_ids([id for id, _ in case.voting])}."
            f" {copy[0].upper()}{copy[1:]}. Start it with at most {most} of them until it"
            " leads and they have caught up, then start the others"
        )
    else:
        advice = f"{copy}, and find out what happened to the directory that {ids} had"
    if severity is not Severity.ERROR and not any(directory.is_live for directory in case.having):
        advice += (
            ". If they were copied one after another from running nodes, that alone can be"
            " the reason. Otherwise do not start a quorum from this set"
        )
    return advice
