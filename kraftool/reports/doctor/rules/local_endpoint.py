"""A voter that is recorded as localhost among voters on other machines."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.raft.endpoints import shown_endpoints
from kraftool.raft.names import Voter
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.hosts import is_local
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.files.metadata_summary import VoterSource
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import signatures as kinds


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patients in examination.clusters():
        voters = examination.voters_of(patients[0])
        if voters is None or len(voters.voters) < 2:
            continue
        if voters.source not in (VoterSource.RECORD, VoterSource.PROPERTIES):
            continue
        local = [each for each in voters.voters if _is_local(each)]
        if not local:
            continue
        together = len(local) == len(voters.voters)
        ids = ", ".join(str(each.id) for each in local)
        yield Diagnosis(
            finding=kinds.LOCAL_ENDPOINT.at(
                voters.file or patients[0].settings_file,
                f"voters {ids} are recorded at addresses of the machine itself"
                + (": this quorum works only on one machine" if together else ""),
                offset=voters.offset,
                field="endpoints",
                found=", ".join(one for each in local for one in shown_endpoints(each.endpoints)),
                severity=Severity.INFO if together else None,
                advice="" if together else None,
            ),
            evidence=tuple(
                Evidence(
                    file=voters.file, offset=voters.offset,
                    found=f"voter {each.id}: {', '.join(shown_endpoints(each.endpoints))}",
                )
                for each in voters.voters
            )
            if not together
            else (),
            commands=() if together else _commands(examination, patients[0], local),
        )  # fmt: skip


def _is_local(voter: Voter) -> bool:
    return any(is_local(each.host.lower()) for each in voter.endpoints.values())


def _commands(
    examination: Examination, patient: ExaminedDirectory, local: list[Voter]
) -> tuple[str, ...]:
    listeners = {name for each in local for name in [*each.endpoints][:1]}
    name = min(listeners, default="CONTROLLER")
    of_node = {each.node_id: each.settings_file for each in examination.patients}
    files = [of_node.get(each.id) or f"server.properties of node {each.id}" for each in local]
    return (
        *(tools.settings(each, "advertised.listeners", f"{name}://HOST:PORT") for each in files),
        tools.quorum(examination, patient, "describe", "--status"),
    )
