"""A damaged log that is whole behind its newest snapshot, planned with as the state of both.

Kafka cuts such a log at the damage, and wipes what is left, since the snapshot is beyond it. Owns
that a lost majority goes on with the state to which snapshot and rest lead. It refuses to say what
the log is made of: a plan that keeps the log itself is `cases/log_damage.py`'s.
"""

from __future__ import annotations

from dataclasses import replace

from kraftool.repair.ranking import Host
from kraftool.repair.survey import Survey
from kraftool.repair.surveyed_quorum import SurveyedQuorum, with_surveys

CASE = "rest-kept"


def with_rests_behind_damage(quorum: SurveyedQuorum) -> SurveyedQuorum:
    """The quorum with the logs up to where a state can be made of them.

    They stay damaged: a voter leads with a checkpoint of the state, and not with such a log.
    """
    made: dict[str, Survey] = {}
    for host in quorum.hosts:
        log, state = host.survey.log, host.survey.rest_state
        if log is None or state is None or not (state.whole and state.records_sha256):
            continue
        end = replace(
            log,
            end_offset=state.end_offset,
            intact_end=state.end_offset,
            last_epoch=state.last_epoch,
        )
        begun = replace(state, log_start=log.rest_start)
        made[host.name] = replace(host.survey, log=end, state=begun)
    return with_surveys(quorum, made) if made else quorum


def described(host: Host) -> str:
    """Return what the plan makes of a damaged log."""
    log, state = host.survey.log, host.survey.rest_state
    assert log is not None, "a log has a rest"
    assert log.broken is not None, "a log with a rest is damaged"
    assert state is not None, "a rest that is used leads to a state"
    newest = host.survey.whole_snapshots[-1]
    return (
        f"{host.name}: its log is damaged from offset {log.broken.offset} on"
        f" ({log.broken.reason}). The snapshot at {newest.offset} is beyond it, and the log is"
        f" whole from there on. The plan uses the state of both, at offset {state.end_offset}"
    )
