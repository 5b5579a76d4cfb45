"""SCRAM credentials that the log has and the snapshot made from it lacks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kraftool.directory.metadata_summary import SnapshotSummary
from kraftool.image.scram import MECHANISMS
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.log_statistics import Credential, CredentialChange
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Finding
from kraftool.reports.findings.kinds import snapshot as kinds
from kraftool.reports.text import shell_text
from kraftool.reports.verify.state_difference import StateDifference


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        newest = examined.summary.newest_snapshot
        log = examined.summary.log
        if newest is None or log is None or not newest.intact or newest.offset == 0:
            continue
        if log.start > 0 or newest.offset > log.intact_end:
            continue  # what came before the log can only be known from another snapshot
        if not examined.statistics.credentials_complete:
            continue
        expected = _expected(examined, newest)
        snapshot_credentials = examined.statistics.snapshot_credentials.get(newest.file, set())
        lost = sorted(expected.keys() - snapshot_credentials)
        if not lost:
            continue
        yield Diagnosis(
            finding=_finding(newest, lost, expected, _removed(examined, newest)),
            directory=examined.path,
            evidence=tuple(
                Evidence(
                    file=examined.path,
                    offset=expected[credential].offset,
                    found=f"UserScramCredentialRecord of {credential[0]}",
                )
                for credential in lost[:5]
            ),
            commands=tuple(_commands(examined, lost[:5])),
        )


def _commands(examined: ExaminedDirectory, lost: Sequence[Credential]) -> Iterator[str]:
    """Yield the commands that set the passwords again. `read` keeps a password out of the shell's
    history. Each command is one line: a pasted second line would be read as the password."""
    yield "# each command waits until you type the user's password"
    for name, kind in lost:
        alter = shell_text.line(
            "kafka-configs", *tools.broker(examined), "--alter",
            "--entity-type", "users", "--entity-name", name,
        )  # fmt: skip
        value = f"{MECHANISMS.get(kind, kind)}=[password=$password]"
        command = f'read -rs password && {alter} --add-config "{value}"'
        yield command if not alter.startswith("#") else f"{alter} --add-config '{value}'"


def _finding(
    snapshot: SnapshotSummary,
    lost: Sequence[Credential],
    expected: Collection[Credential],
    removed: Collection[int],
) -> Finding:
    state_difference = StateDifference(lost_credentials=tuple((kind, name) for name, kind in lost))
    if not state_difference.is_kafkas_loss(removed):
        # In the words of verify-snapshot, which finds all that is other than it should be.
        return kinds.DIFFERS.at(
            snapshot.file,
            f"it differs from what the log produces: {state_difference.all_words()}",
            offset=snapshot.offset,
        )
    users = ", ".join(f"{name} ({MECHANISMS.get(kind, kind)})" for name, kind in lost)
    return kinds.SCRAM_LOST.at(
        snapshot.file,
        f"it lacks credentials that the log has at its offset: {users}",
        offset=snapshot.offset,
        expected=f"{len(expected)} credentials",
        found=str(len(expected) - len(lost)),
    )


def _removed(examined: ExaminedDirectory, snapshot: SnapshotSummary) -> set[int]:
    """The mechanisms of which the log removes a credential before the snapshot's offset."""
    return {
        credential.credential[1]
        for credential in examined.statistics.credentials
        if credential.offset < snapshot.offset and not credential.present
    }


def _expected(
    examined: ExaminedDirectory, snapshot: SnapshotSummary
) -> dict[tuple[str, int], CredentialChange]:
    """The credentials that the log has at the snapshot's offset."""
    credentials: dict[tuple[str, int], CredentialChange] = {}
    for credential in examined.statistics.credentials:
        if credential.offset >= snapshot.offset:
            break
        if credential.present:
            credentials[credential.credential] = credential
        else:
            credentials.pop(credential.credential, None)
    return credentials
