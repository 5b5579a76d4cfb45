"""A voter's directory without the log that other nodes have: with it went the vote it gave.

Where most voters are so, they can elect one of themselves and begin an empty log.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.kinds import signatures as kinds
from kraftool.reports.voters.voter_set import (
    matches,
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patients in examination.clusters():
        used = [each for each in patients if _is_used(each)]
        voters = examination.voters_of(used[0]) if used else None
        if voters is None:
            continue
        with_log = {each.node_id for each in used}
        wiped = []
        for each in patients:
            voter = voters.of(each.node_id)
            if each.report is None or voter is None or each.node_id in with_log:
                continue
            if matches(voter, each.summary.node.directory_id):
                wiped.append(each)
        most = len({each.node_id for each in wiped}) >= voters.voters.majority
        for each in wiped:
            text = f"voter {each.node_id} has no metadata log, and {used[0].path} has one"
            if most:
                text += f"; so have {len(wiped)} of {len(voters.voters)} voters none"
            yield Diagnosis(
                finding=kinds.WIPED_VOTER.at(
                    each.path,
                    text,
                    advice="do not start these: a majority of voters without a log elects an empty"
                    " one. Put their own disks or a copy of the intact log back first"
                    if most
                    else None,
                ),
                directory=each.path,
                evidence=(Evidence(file=voters.file, offset=voters.offset, found="the voters"),),
                commands=(tools.on_all(examination, "diff-voters"),),
            )


def _is_used(patient: ExaminedDirectory) -> bool:
    log, newest = patient.summary.log, patient.summary.newest_snapshot
    return (log is not None and log.batches > 0) or (newest is not None and newest.offset > 0)
