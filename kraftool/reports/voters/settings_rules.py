"""Settings against the recorded voters, and against each other.

Owns what Kafka makes of static and dynamic settings by kraft.version: at 0 the settings are the
voter set, at 1 they only lead to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kraftool.decoders.addresses import host_and_port
from kraftool.decoders.java_text import INT32_MAX
from kraftool.directory.metadata_summary import SeenVoters, VoterSource
from kraftool.directory.node_directory import NodeDirectory
from kraftool.directory.voter_history import QuorumSettings
from kraftool.directory.voter_set import addresses, set_differences
from kraftool.raft.endpoints import shown_endpoint, shown_voter
from kraftool.raft.names import Endpoint, Voter, VoterSet
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import directory as kinds
from kraftool.reports.text.words import listed
from kraftool.reports.voters.source_differences import newest_source

Sources = Sequence[NodeDirectory]
_STATIC = "controller.quorum.voters"
_DYNAMIC = "controller.quorum.bootstrap.servers"
_ADDRESS = re.compile(r"(?:[0-9A-Za-z%._-]*://)?\[?[0-9A-Za-z%._:-]*\]?:([0-9]{1,20})", re.ASCII)
"""As Kafka's Utils takes a bootstrap server, with a protocol and an empty host too."""


def is_dynamic(sources: Sources) -> bool:
    """True if a record of any source makes the quorum dynamic."""
    return any(source.newest is not None or source.kraft_version for source in sources)


def unusable_settings(settings: QuorumSettings) -> Iterator[Finding]:
    """Yield what keeps a node with these settings from finding any quorum."""
    for bootstrap_server in settings.bootstrap_servers:
        if not _is_address(bootstrap_server):
            yield kinds.BOOTSTRAP_FORM.at(
                settings.file,
                "an entry that Kafka cannot read",
                field=_DYNAMIC,
                expected="host:port",
                found=bootstrap_server,
            )
    if settings.roles and not (settings.static_voters or settings.bootstrap_servers):
        yield kinds.NO_QUORUM.at(settings.file, "no voters and no bootstrap servers")


def bootstrap(sources: Sources) -> Iterator[Finding]:
    """Yield a finding for each node whose settings do not lead to the quorum."""
    dynamic = is_dynamic(sources)
    for _, settings in _with_settings(sources):
        yield from unusable_settings(settings)
        static = settings.static_voters
        if dynamic and static and settings.bootstrap_servers:
            yield kinds.STATIC_IGNORED.at(
                settings.file,
                "static voters on a quorum whose voters are in its log",
                field=_STATIC,
                found=_listed(static),
            )
    if dynamic:
        yield from _without_bootstrap(sources)


def _without_bootstrap(sources: Sources) -> Iterator[Finding]:
    """Yield a warning for the first node without bootstrap servers, and a note for each other one:
    after an upgrade of kraft.version that is all of them."""
    files = [
        settings.file
        for _, settings in _with_settings(sources)
        if settings.static_voters and not settings.bootstrap_servers
    ]
    for file in files:
        text = "this node finds the quorum only through the static voters"
        if file is files[0] and len(files) > 1:
            text += f", and so {'do' if len(files) > 2 else 'does'} {listed(files[1:])}"
        yield kinds.NO_BOOTSTRAP.at(
            file,
            text,
            field=_DYNAMIC,
            severity=None if file is files[0] else Severity.INFO,
        )


def _is_address(entry: str) -> bool:
    """True if Kafka takes an entry: it looks at the characters, and for a port that is an int."""
    match = _ADDRESS.fullmatch(entry)
    return match is not None and int(match[1]) <= INT32_MAX


def static_sets(sources: Sources) -> Iterator[Finding]:
    """Static voters between nodes, and against those that elected the last leader."""
    static = [pair for pair in _with_settings(sources) if pair[1].static_voters]
    if not static or is_dynamic(sources):
        return
    first = static[0][1]
    for _, settings in static[1:]:
        differences = set_differences(
            first.static_voters,
            settings.static_voters,
            came="only here",
            gone="missing here",
            recorded=False,
        )
        if differences:
            yield kinds.STATIC_DIFFER.at(
                settings.file,
                f"it differs from the voters of {first.file}: {'; '.join(differences)}",
                field=_STATIC,
                expected=_listed(first.static_voters),
                found=_listed(settings.static_voters),
            )
    leaders = [source.history.leaders[-1] for source in sources if source.history.leaders]
    if not leaders:
        return
    planned = _planned_voters(sources)
    last = max(leaders, key=lambda leader: (leader.epoch, leader.offset))
    for _, settings in static:
        ids = {static_voter.id for static_voter in settings.static_voters}
        if ids not in (set(last.voters), planned):
            yield kinds.STATIC_DIFFER.at(
                settings.file,
                f"it differs from the voters that elected leader {last.leader_id} of epoch"
                f" {last.epoch}",
                offset=last.offset,
                field=_STATIC,
                expected=", ".join(map(str, sorted(last.voters))),
                found=_listed(settings.static_voters),
                severity=Severity.WARNING,
            )


def _planned_voters(sources: Sources) -> set[int] | None:
    """Return the voters that a recovery plan wrote into quorum-state: none of them has led yet."""
    states = (source.quorum_state for source in sources if source.begins_planned_epoch)
    return next((set(state.current_voters) for state in states if state is not None), None)


def advertised(sources: Sources) -> Iterator[Finding]:
    """Each controller's own endpoints against those that the voters have for it.

    With a majority changed at once no leader can be found any more: an error then.
    """
    reference = newest_source(sources)
    voters = reference.in_force if reference is not None else None
    if voters is None or voters.source not in (VoterSource.RECORD, VoterSource.PROPERTIES):
        return
    findings: list[tuple[int, Finding]] = []
    for source, settings in _with_settings(sources):
        id = settings.node_id if settings.node_id is not None else source.node.node_id
        voter = voters.of(id)
        if voter is None or "controller" not in settings.roles:
            continue
        for expected, own_endpoint in _moved(settings, voter, voters):
            findings.append(
                (
                    voter.id,
                    kinds.ENDPOINT_DIFFERS.at(
                        settings.file,
                        f"voter {voter.id} is recorded at another endpoint than in its"
                        " settings"
                        + (f", at offset {voters.offset}" if voters.offset is not None else ""),
                        field="advertised.listeners",
                        expected=expected,
                        found=own_endpoint,
                    ),
                )
            )
    moved = len({id for id, _ in findings})
    lost = moved >= voters.voters.majority and len(voters.voters) > 1
    for _, finding in findings:
        if lost:
            text = f"{finding.text}. The same is true of {moved} of {len(voters.voters)} voters"
            yield kinds.ENDPOINT_DIFFERS.of(
                finding.saying(text).fault,
                severity=Severity.ERROR,
                advice="no leader can be elected with these endpoints. Change them back on a"
                " majority",
            )
        else:
            yield finding


def _moved(settings: QuorumSettings, voter: Voter, voters: SeenVoters) -> Iterator[tuple[str, str]]:
    recorded = addresses(voter)
    for number, (listener, own_endpoint) in enumerate(settings.advertised_endpoints.items()):
        known = recorded.get(listener)
        if voters.source is VoterSource.PROPERTIES:
            # Static voters have one address, of the first listener; its name may be an alias.
            known = recorded.get("") if number == 0 else None
            own_endpoint = Endpoint("", own_endpoint.port)
        if known is None:
            continue
        host, port = host_and_port(known)
        other_host = own_endpoint.host not in ("", host)
        other_port = own_endpoint.port not in (0, port)
        if other_host or other_port:
            endpoint = Endpoint(own_endpoint.host or host, own_endpoint.port or port or 0)
            yield f"{listener}://{known}", shown_endpoint(listener, endpoint)


def _listed(voters: VoterSet) -> str:
    return ", ".join(map(shown_voter, voters))


def _with_settings(sources: Sources) -> Iterator[tuple[NodeDirectory, QuorumSettings]]:
    return ((source, source.settings) for source in sources if source.settings is not None)
