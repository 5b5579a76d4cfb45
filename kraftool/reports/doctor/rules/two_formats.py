"""Controllers that were formatted with different first voters under one cluster id."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.directory.voter_history import HistoryEntry, Origin
from kraftool.directory.voter_set import keys_changed
from kraftool.raft.names import NO_VOTERS, VoterSet
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "TWO-FORMATS",
    Severity.ERROR,
    "Nodes with one cluster id were formatted with different initial voters. They are"
    " separate quorums that mistake each other for their own, and never agree.",
    "keep the quorum whose metadata you want. Format the other controllers again, with the"
    " same --initial-controllers or with --no-initial-controllers, and add them one by one",
    stake=Stake.TWO_HISTORIES,
    references=(
        "KIP-853",
        "apache/kafka #20136",
    ),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for directories in examination.clusters():
        formatted = [(directory, _first(directory)) for directory in directories]
        known = [(directory, first) for directory, first in formatted if first is not None]
        for examined, first in known[1:]:
            other, reference = known[0]
            ours, theirs = first.voters or NO_VOTERS, reference.voters or NO_VOTERS
            if not keys_changed(theirs, ours):
                continue
            cluster = examined.source.node.cluster_id
            yield Diagnosis(
                finding=KIND.at(
                    first.file,
                    f"it was formatted with other initial voters than {other.path}, both as"
                    f" cluster {cluster}: these are two quorums",
                    position=first.position,
                    field="KRaftVoters",
                    expected=_words(theirs),
                    found=_words(ours),
                ),
                evidence=(_evidence(reference), _evidence(first)),
                commands=_commands(examination, examined, other, theirs),
            )


def _first(examined: ExaminedDirectory) -> HistoryEntry | None:
    """The voter set that the directory was formatted with, if it has one."""
    sets = examined.source.voter_sets
    return sets[0] if sets and sets[0].origin is Origin.BOOTSTRAP else None


def _words(voters: VoterSet) -> str:
    return ", ".join(f"{voter.id}@{voter.directory_id}" for voter in voters)


def _evidence(entry: HistoryEntry) -> Evidence:
    text = f"initial voters {_words(entry.voters or NO_VOTERS)}"
    return Evidence(file=entry.file, position=entry.position, found=text)


def _commands(
    examination: Examination,
    examined: ExaminedDirectory,
    other: ExaminedDirectory,
    theirs: VoterSet,
) -> tuple[str, ...]:
    cluster = other.source.node.cluster_id or shell_text.NO_CLUSTER_ID
    properties = examined.settings_file or "server.properties"
    one = next((str(endpoint) for voter in theirs for endpoint in voter.endpoints.values()), "")
    return (
        tools.on_all(examination, "diff-voters"),
        shell_text.line(
            "kafka-storage", "format", "--cluster-id", cluster, "--config", properties,
            "--no-initial-controllers",
        ),
        shell_text.line(
            "kafka-metadata-quorum", "--command-config", properties,
            "--bootstrap-controller", one or shell_text.ANYWHERE, "add-controller",
        ),
    )  # fmt: skip
