"""Voters that cannot reach each other any more, since hosts or ports were changed.

Owns one VotersRecord with the new endpoints, as the same bytes at the same offset on a majority of
voters whose logs are the same to their ends. With kraft.version 0 the endpoints are a setting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kraftool.decoders.errors import KraftoolError
from kraftool.raft.endpoints import static_voter
from kraftool.raft.names import VoterSet
from kraftool.repair.cases.model import Mend
from kraftool.repair.edit_builder import (
    Frame,
    epochs_removed,
    quorum_state_of,
    voters_appended,
)
from kraftool.repair.plan import RequiredSetting
from kraftool.repair.ranking import Host, are_identical
from kraftool.repair.surveyed_quorum import SurveyedQuorum, refuse_missing

STATIC_VOTERS = "controller.quorum.voters"
BOOTSTRAP_SERVERS = "controller.quorum.bootstrap.servers"


def asked_for(quorum: SurveyedQuorum) -> Iterator[Mend]:
    """`--set endpoint.ID=LISTENER://HOST:PORT`, for each voter that moved."""
    request = quorum.request
    if not request.endpoints:
        return
    for id_, _ in request.endpoints:
        if id_ not in quorum.voters.ids:
            raise KraftoolError(f"--set endpoint.{id_}=…: node {id_} is not a voter")
    after = new_voters(quorum)
    if quorum.kraft_version == 0:
        yield from _static(quorum, after)
        return
    refuse_missing(quorum)
    same = _majority_alike(quorum)
    frame = Frame(
        offset=same[0].survey.end.offset,
        epoch=quorum.highest_epoch + 1,
        kraft_version=quorum.kraft_version,
        voters=after,
        timestamp_ms=request.now_ms,
    )
    reached = [(voter.id, voter.endpoint) for voter in after if voter.endpoint is not None]
    text = ", ".join(f"{id_} at {endpoint}" for id_, endpoint in reached)
    servers = ",".join(str(endpoint) for _, endpoint in reached)
    for host in same:
        survey = host.survey
        yield Mend(
            case="endpoints",
            host=host,
            text=f"{host.name}: a voters record ({text}) at offset {frame.offset}, in the new epoch"
            f" {frame.epoch}, the same on {len(same)} voters",
            edits=(
                *voters_appended(survey, frame, "the same voters at their new endpoints"),
                *epochs_removed(survey),
                quorum_state_of(
                    survey,
                    frame.epoch,
                    quorum.kraft_version,
                    [],
                    "the record's epoch; no vote was given in it",
                ),
            ),
            settings=(RequiredSetting(key=BOOTSTRAP_SERVERS, value=servers),),
            stops_all=True,
        )


def new_voters(quorum: SurveyedQuorum) -> VoterSet:
    """The voters as they are reached from now on; of listeners not named the old place."""
    voters = []
    for voter in quorum.voters:
        new_endpoints = quorum.request.endpoints_of(voter.id)
        kept = {} if quorum.kraft_version == 0 and new_endpoints else voter.endpoints
        voters.append(replace(voter, endpoints={**new_endpoints, **kept, **new_endpoints}))
    return VoterSet.of(*voters)


def _majority_alike(quorum: SurveyedQuorum) -> list[Host]:
    """The voters with the best log, which have to be a majority, all the same to their ends."""
    best = max(quorum.present, key=lambda host: host.rank, default=None)
    alike = [
        host
        for host in quorum.present
        if best is not None and are_identical(host.survey, best.survey) and host.survey.intact
    ]
    if len(alike) < quorum.majority:
        ends = ", ".join(
            f"{host.name} at {host.survey.end.offset} of epoch {host.survey.end.epoch}"
            for host in quorum.present
        )
        raise KraftoolError(
            f"the logs of only {len(alike)} voters end alike, but {quorum.majority} are"
            f" needed: {ends}. The same record at the end of different logs would make two"
            " histories",
            hint="rebuild one that is behind from the best first (--set rebuild=ID). Or let the"
            " best one lead alone and add the others again: --set seed=ID",
        )
    return alike


def _static(quorum: SurveyedQuorum, after: VoterSet) -> Iterator[Mend]:
    value = ",".join(static_voter(voter) for voter in after if voter.endpoint)
    for host in quorum.hosts:
        yield Mend(
            case="endpoints",
            host=host,
            text=f"{host.name}: kraft.version is 0, so the voters are a setting: {value}",
            settings=(RequiredSetting(key=STATIC_VOTERS, value=value),),
            stops_all=True,
        )
