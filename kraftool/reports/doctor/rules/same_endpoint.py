"""Two voters at one endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor import tools
from kraftool.reports.doctor.hosts import host_and_port
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.kinds import signatures as kinds


def find(examination: Examination) -> Iterator[Diagnosis]:
    for patients in examination.clusters():
        voters = examination.voters_of(patients[0])
        seen: dict[tuple[str, int], int] = {}
        for voter in voters.voters if voters is not None else ():
            for endpoint in voter.endpoints:
                place = host_and_port(endpoint)
                other = seen.setdefault(place, voter.id)
                if voters is None or other == voter.id or not place[0]:
                    continue
                yield Diagnosis(
                    finding=kinds.SAME_ENDPOINT.at(
                        voters.file or patients[0].settings_file,
                        f"voters {other} and {voter.id} have the same endpoint",
                        offset=voters.offset,
                        field="endpoints",
                        found=endpoint,
                    ),
                    evidence=tuple(
                        Evidence(
                            file=voters.file,
                            offset=voters.offset,
                            text=f"voter {each.id}: {', '.join(each.endpoints)}",
                        )
                        for each in voters.voters
                        if each.id in (other, voter.id)
                    ),
                    commands=(tools.on_all(examination, "diff-voters"),),
                )
                break
