"""A voter's directory without the log that other nodes have: with it went the vote it gave.

Where most voters are so, they can elect one of themselves and begin an empty log.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.directory.voter_set import (
    matches,
)
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "WIPED-VOTER",
    Severity.ERROR,
    "A voter's directory has no metadata log, while other nodes have one. If quorum-state is gone"
    " too, the voter forgot its vote, and may vote twice in one epoch.",
    "look for the voter's own disk or another mount first. If there is none, and no quorum-state"
    " either, write it with the highest epoch of all voters + 1 and no vote before the voter"
    " starts",
    stake=Stake.TWO_HISTORIES,
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        used = [directory for directory in directories if _is_used(directory)]
        voters = examination.voters_of(used[0]) if used else None
        if voters is None:
            continue
        with_log = {directory.node_id for directory in used}
        wiped = []
        for directory in directories:
            voter = voters.of(directory.node_id)
            if not directory.is_read or voter is None or directory.node_id in with_log:
                continue
            if directory.source.is_log_unread:
                continue
            if matches(voter, directory.summary.node.directory_id):
                wiped.append(directory)
        most = len({directory.node_id for directory in wiped}) >= voters.voters.majority
        for directory in wiped:
            text = f"voter {directory.node_id} has no metadata log, but {used[0].path} has one"
            if most:
                text += f". {len(wiped)} of {len(voters.voters)} voters have no metadata log"
            yield Diagnosis(
                finding=KIND.at(
                    directory.path,
                    text,
                    advice="do not start these voters: a majority of voters without a log elects a"
                    " leader with an empty log. First put back their own disks or a copy of"
                    " the intact log"
                    if most
                    else None,
                ),
                directory=directory.path,
                evidence=(Evidence(file=voters.file, offset=voters.offset, found="the voters"),),
                commands=(tools.on_all(examination, "diff-voters"),),
            )


def _is_used(examined: ExaminedDirectory) -> bool:
    log, newest = examined.summary.log, examined.summary.newest_snapshot
    return (log is not None and log.batches > 0) or (newest is not None and newest.offset > 0)
