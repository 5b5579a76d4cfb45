"""A removed controller that would add itself again."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.directory.metadata_summary import VoterSource
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "AUTO-JOIN",
    Severity.WARNING,
    "A controller that was removed from the voters has"
    " controller.quorum.auto.join.enable=true. While it runs, it adds itself again within"
    " seconds.",
    "before remove-controller, stop that controller or set"
    " controller.quorum.auto.join.enable=false on it",
    stake=Stake.TWO_HISTORIES,
    references=(
        "KIP-853",
        "apache/kafka #19589",
        "apache/kafka #20859",
        "apache/kafka #21025",
    ),
)

_KEY = "controller.quorum.auto.join.enable"


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        settings = examined.source.settings
        voters = examination.voters_of(examined)
        if settings is None or voters is None or voters.source is not VoterSource.RECORD:
            continue
        id = settings.node_id if settings.node_id is not None else examined.node_id
        joins = examined.setting(_KEY).lower() == "true" and "controller" in settings.roles
        if id is None or not joins or voters.of(id) is not None:
            continue
        removed = _removed(examination, examined, id)
        if removed is None:
            continue
        yield Diagnosis(
            finding=KIND.at(
                examined.settings_file,
                f"controller {id} was removed from the voters at offset {removed[0]}, but adds"
                " itself again when it runs",
                offset=removed[0],
                field=_KEY,
                expected="false",
                found="true",
            ),
            directory=examined.path,
            evidence=(
                Evidence(file=removed[1], offset=removed[0], found=f"voter {id} removed"),
                Evidence(file=examined.settings_file, found=f"{_KEY}=true"),
            ),
            commands=(
                shell_text.settings(examined.settings_file, _KEY, "false"),
                tools.quorum(examination, examined, "describe", "--status"),
            ),
        )


def _removed(
    examination: Examination, examined: ExaminedDirectory, id: int
) -> tuple[int, str] | None:
    """Return where the newest history that had this voter took it out, or has it no more."""
    for source in (examination.voters.newest_directory, examined.source):
        had = False
        removal = None
        for entry in source.voter_sets if source is not None else ():
            has = any(voter.id == id for voter in entry.voters or ())
            if had and not has:
                removal = entry.offset, entry.file
            had = has
        if removal is not None:
            return removal
    # The removal itself may lie before a snapshot: an older copy of the history had this voter.
    newest = examination.voters.newest_directory
    last = newest.newest if newest is not None else None
    earlier = (one for voter_set in examined.source.voter_sets for one in voter_set.voters or ())
    if last is not None and newest is not examined.source and any(one.id == id for one in earlier):
        return last.offset, last.file
    return None
