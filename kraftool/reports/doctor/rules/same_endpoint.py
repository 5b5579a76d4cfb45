"""Two voters at one endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.raft.endpoints import shown_endpoint, shown_endpoints
from kraftool.raft.names import Endpoint
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES

KIND = SIGNATURES.kind(
    "SAME-ENDPOINT",
    Severity.ERROR,
    "Two voters have the same endpoint. Requests for one of them reach the other, which"
    " refuses them.",
    "give each controller an endpoint of its own in advertised.listeners",
    references=("KIP-853",),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        voters = examination.voters_of(directories[0])
        seen: dict[Endpoint, int] = {}
        for voter in voters.voters if voters is not None else ():
            for listener, endpoint in voter.endpoints.items():
                place = endpoint._replace(host=endpoint.host.lower())
                other = seen.setdefault(place, voter.id)
                if voters is None or other == voter.id or not place.host:
                    continue
                yield Diagnosis(
                    finding=KIND.at(
                        voters.file or directories[0].settings_file,
                        f"voters {other} and {voter.id} have the same endpoint",
                        offset=voters.offset,
                        field="endpoints",
                        found=shown_endpoint(listener, endpoint),
                    ),
                    evidence=tuple(
                        Evidence(
                            file=voters.file,
                            offset=voters.offset,
                            found=f"voter {twin.id}: {', '.join(shown_endpoints(twin.endpoints))}",
                        )
                        for twin in voters.voters
                        if twin.id in (other, voter.id)
                    ),
                    commands=(tools.on_all(examination, "diff-voters"),),
                )
                break
