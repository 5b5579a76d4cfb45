"""Settings that were left when a quorum went from static voters to dynamic ones.

Owns the two lines of server.properties. A quorum runs with them, so nothing is stopped for them. It
speaks only of nodes whose settings were given.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.repair.cases.endpoints import BOOTSTRAP_SERVERS, STATIC_VOTERS
from kraftool.repair.cases.model import Mend
from kraftool.repair.ranking import Host
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from kraftool.reports.text.words import listed


def find(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    having = [one for one in quorum.hosts if _has_static_voters(one)]
    if quorum.kraft_version == 0 or having[:1] != [host]:
        return  # said once, for all nodes
    servers = ",".join(str(voter.endpoint) for voter in quorum.voters if voter.endpoint)
    then = f"remove {STATIC_VOTERS}"
    if servers and not all(_has_bootstrap_servers(one) for one in having):
        then = f"replace {STATIC_VOTERS} by {BOOTSTRAP_SERVERS}={servers}"
    yield Mend(
        case="static-leftovers",
        host=host,
        text=f"{listed(one.name for one in having)}: kraft.version is {quorum.kraft_version}, so"
        f" the voters are in the log, not in the settings. At the next restart, {then}",
        is_note=True,
    )


def _has_static_voters(host: Host) -> bool:
    settings = host.survey.settings
    return settings is not None and bool(settings.static_voters)


def _has_bootstrap_servers(host: Host) -> bool:
    settings = host.survey.settings
    return settings is not None and bool(settings.bootstrap_servers)
