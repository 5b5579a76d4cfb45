"""A voter's endpoint that no other node can resolve or connect to."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.raft.endpoints import shown_endpoint
from kraftool.reports.doctor.hosts import why_unreachable
from kraftool.reports.doctor.model import Diagnosis, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "ODD-ENDPOINT",
    Severity.WARNING,
    "A voter's endpoint cannot be reached: it is the wildcard address, it has no port, or no"
    " resolver accepts its host name.",
    "set advertised.listeners on that node to a name that the other nodes can resolve, and"
    " restart it",
    references=(
        "KIP-853",
        "apache/kafka #22531",
    ),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        voters = examination.voters_of(directories[0])
        if voters is None:
            continue
        for voter in voters.voters:
            for listener, endpoint in voter.endpoints.items():
                why = why_unreachable(endpoint.host.lower(), endpoint.port)
                if not why:
                    continue
                name = listener if voters.is_recorded else "CONTROLLER"
                of_node = {
                    directory.node_id: directory.settings_file
                    for directory in examination.directories
                }
                file = of_node.get(voter.id) or f"server.properties of node {voter.id}"
                yield Diagnosis(
                    finding=KIND.at(
                        voters.file or directories[0].settings_file,
                        f"voter {voter.id} cannot be reached at its endpoint: {why}",
                        offset=voters.offset,
                        field="endpoints",
                        found=shown_endpoint(listener, endpoint),
                    ),
                    commands=(
                        shell_text.settings(
                            file, "advertised.listeners", f"{name}://{shell_text.ANYWHERE}"
                        ),
                    ),
                )
