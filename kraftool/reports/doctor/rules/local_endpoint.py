"""A voter that is recorded as localhost among voters on other machines."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from kraftool.directory.metadata_summary import VoterSource
from kraftool.raft.endpoints import shown_endpoints
from kraftool.raft.names import Voter
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.hosts import is_local
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "LOCAL-ENDPOINT",
    Severity.WARNING,
    "A voter's endpoint is an address of the machine itself. Kafka records one when"
    " advertised.listeners is missing. No other node can reach this voter there.",
    "set advertised.listeners on that node and restart it: at kraft.version 1 it reports its"
    " new endpoint to the leader",
    references=(
        "KIP-853",
        "apache/kafka #18350",
        "apache/kafka #22531",
    ),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        voters = examination.voters_of(directories[0])
        if voters is None or len(voters.voters) < 2:
            continue
        if voters.source not in (VoterSource.RECORD, VoterSource.PROPERTIES):
            continue
        local = sorted(filter(_is_local, voters.voters), key=attrgetter("id"))
        if not local:
            continue
        together = len(local) == len(voters.voters)
        ids = ", ".join(str(voter.id) for voter in local)
        yield Diagnosis(
            finding=KIND.at(
                voters.file or directories[0].settings_file,
                f"voters {ids} are recorded at addresses of the machine itself"
                + (": this quorum works only on one machine" if together else ""),
                offset=voters.offset,
                field="endpoints",
                found=", ".join(one for voter in local for one in shown_endpoints(voter.endpoints)),
                severity=Severity.INFO if together else None,
                advice="" if together else None,
            ),
            evidence=tuple(
                Evidence(
                    file=voters.file, offset=voters.offset,
                    found=f"voter {voter.id}: {', '.join(shown_endpoints(voter.endpoints))}",
                )
                for voter in voters.voters
            )
            if not together
            else (),
            commands=() if together else _commands(examination, directories[0], local),
        )  # fmt: skip


def _is_local(voter: Voter) -> bool:
    return any(is_local(endpoint.host.lower()) for endpoint in voter.endpoints.values())


def _commands(
    examination: Examination, examined: ExaminedDirectory, local: list[Voter]
) -> tuple[str, ...]:
    listeners = {name for voter in local for name in [*voter.endpoints][:1]}
    name = min(listeners, default="CONTROLLER")
    of_node = {directory.node_id: directory.settings_file for directory in examination.directories}
    files = [of_node.get(voter.id) or f"server.properties of node {voter.id}" for voter in local]
    return (
        *(
            shell_text.settings(file, "advertised.listeners", f"{name}://{shell_text.ANYWHERE}")
            for file in files
        ),
        tools.quorum(examination, examined, "describe", "--status"),
    )
