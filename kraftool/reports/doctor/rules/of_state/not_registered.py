"""A voter that has not registered as a controller, which upgrades wait for."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.image.metadata_version import CONTROLLER_REGISTRATION_LEVEL
from kraftool.raft.endpoints import shown_endpoints
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.kinds import signatures as kinds


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        level = state.image.features.metadata_version
        voters = examination.voters_of(examined)
        if level is None or level < CONTROLLER_REGISTRATION_LEVEL or voters is None:
            continue
        registered = state.image.cluster.controllers
        for voter in voters.voters:
            if voter.id in registered:
                continue
            where = ", ".join(shown_endpoints(voter.endpoints)) or "an unknown endpoint"
            known = ", ".join(map(str, sorted(registered))) or "none"
            commands = [tools.quorum(examination, examined, "describe", "--replication")]
            if voter.directory_id:
                commands.append(
                    tools.remove_controller(examination, examined, voter.id, voter.directory_id)
                )
            yield Diagnosis(
                finding=kinds.NOT_REGISTERED.at(
                    examined.path,
                    f"voter {voter.id} at {where} has not registered",
                    offset=voters.offset,
                    expected=str(voter.id),
                    found=known,
                ),
                directory=examined.path,
                evidence=(
                    Evidence(
                        file=voters.file or examined.path,
                        offset=voters.offset,
                        found=f"voter {voter.id}",
                    ),
                    Evidence(file=examined.path, found=f"registered controllers: {known}"),
                ),
                commands=tuple(commands),
            )
