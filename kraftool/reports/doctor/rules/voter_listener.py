"""A voter without an endpoint for the listener that a node talks to voters by."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.directory.metadata_summary import VoterSource
from kraftool.directory.voter_set import addresses
from kraftool.raft.endpoints import shown_endpoints
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "VOTER-LISTENER",
    Severity.ERROR,
    "A voter has no endpoint for the first entry of controller.listener.names. A node that"
    " has to send to this voter stops with an error.",
    "use the same controller.listener.names on all nodes. The first entry must be the"
    " listener that the voters are recorded with",
    references=("KIP-853",),
)

_KEY = "controller.listener.names"


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        settings = examined.source.settings
        voters = examination.voters_of(examined)
        if settings is None or voters is None or voters.source is not VoterSource.RECORD:
            continue
        if not settings.controller_listeners:
            continue
        wanted = settings.controller_listeners[0]
        lacking = [voter for voter in voters.voters if wanted not in addresses(voter)]
        if not lacking:
            continue
        ids = ", ".join(str(voter.id) for voter in lacking)
        names = sorted({name for voter in voters.voters for name in addresses(voter)})
        yield Diagnosis(
            finding=KIND.at(
                examined.settings_file,
                f"this node connects to voters on the listener {wanted}, but voters {ids} have"
                    " no endpoint for it",
                offset=voters.offset,
                field=_KEY,
                expected=", ".join(names),
                found=", ".join(settings.controller_listeners),
            ),
            directory=examined.path,
            evidence=tuple(
                Evidence(
                    file=voters.file, offset=voters.offset,
                    found=f"voter {voter.id}: {', '.join(shown_endpoints(voter.endpoints))}",
                )
                for voter in lacking
            ),
            commands=(
                shell_text.settings(examined.settings_file, _KEY, ",".join(names)),
                tools.on_all(examination, "diff-voters"),
            ),
        )  # fmt: skip
