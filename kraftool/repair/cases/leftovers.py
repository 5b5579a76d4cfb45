"""Settings that were left when a quorum went from static voters to dynamic ones.

Owns the two lines of server.properties. It speaks only of nodes whose settings were given.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.repair.cases.endpoints import BOOTSTRAP_SERVERS, STATIC_VOTERS
from kraftool.repair.cases.model import Mend
from kraftool.repair.plan import RequiredSetting
from kraftool.repair.quorum_assessment import QuorumAssessment
from kraftool.repair.ranking import Host


def find(standing: QuorumAssessment, host: Host) -> Iterator[Mend]:
    settings = host.survey.settings
    if settings is None or not settings.static_voters or standing.kraft_version == 0:
        return
    wanted = [RequiredSetting(key=STATIC_VOTERS, value="")]
    servers = ",".join(str(voter.endpoint) for voter in standing.voters if voter.endpoint)
    if not settings.bootstrap_servers and servers:
        wanted.append(RequiredSetting(key=BOOTSTRAP_SERVERS, value=servers))
    yield Mend(
        case="static-leftovers",
        host=host,
        text=f"{host.name}: controller.quorum.voters is still set, although kraft.version is"
        f" {standing.kraft_version} and the voters are in the log. Kafka ignores it, and it is"
        " misleading",
        settings=tuple(wanted),
    )
