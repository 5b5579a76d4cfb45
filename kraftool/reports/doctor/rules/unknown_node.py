"""A controller's directory under a node.id that is no voter's of a static quorum.

A node with static voters has the metadata log because it is one of them, or a broker. A broker
leaves files of its own beside the log, so that only a controller's directory counts here. A dynamic
quorum also has controllers that only observe.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.names import META_PROPERTIES
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text
from kraftool.storage.entry import ROOT_FILES

KIND = SIGNATURES.kind(
    "UNKNOWN-NODE",
    Severity.WARNING,
    "A controller's directory of a static quorum has the node.id of no voter: somebody edited it."
    " Kafka refuses to start if server.properties has another node.id, or if"
    " controller.quorum.voters does not have this one.",
    "with Kafka stopped, write the node.id of server.properties back. If the disk is another"
    " node's, put it back there",
    stake=Stake.MIXED_UP,
)

_OF_ANY_NODE = frozenset({META_PROPERTIES, "bootstrap.checkpoint", ".lock"})


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        source, id = examined.source, examined.node_id
        if (
            id is None
            or examined.is_live
            or source.kraft_version != 0
            or not source.history.leaders
        ):
            continue
        last = source.history.leaders[-1]
        if _is_known(examined, id) or _has_a_brokers_files(examined):
            continue
        yield Diagnosis(
            finding=KIND.at(
                source.meta_file or examined.path,
                f"the log has no voter and no broker {id}",
                field="node.id",
                expected=f"one of {', '.join(map(str, sorted(last.voters)))}",
                found=str(id),
            ),
            directory=examined.path,
            evidence=(
                Evidence(file=last.file, position=last.position, offset=last.offset,
                         found="the voters that elected the last leader"),
            ),
            commands=(shell_text.line("kafka-storage", "info", "--config",
                                 examined.settings_file or "server.properties"),),
        )  # fmt: skip


def _is_known(examined: ExaminedDirectory, id: int) -> bool:
    """True if the log names the node anywhere, or if its settings may make it a broker or a new
    voter."""
    summary = examined.summary
    return (
        examined.source.plays("broker") is True
        or any(
            id in (leader.leader_id, *leader.voters) for leader in examined.source.history.leaders
        )
        or id in (*summary.brokers, *summary.controllers)
        or any(voter.id == id for voter in (summary.voter_set.voters if summary.voter_set else ()))
    )


def _has_a_brokers_files(examined: ExaminedDirectory) -> bool:
    names = {file.basename for file in examined.files if file.basename in ROOT_FILES}
    return bool(names - _OF_ANY_NODE) or bool(examined.source.folders.total)
