"""Commands and evidence for findings that come from dump and diff-voters.

Owns the commands of each remedy; which one a finding has is said at its kind. A finding without
one that has a place in a file is answered with `explain`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from kraftool.decoders.names import FileState
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Finding, Remedy, Severity
from kraftool.reports.findings.kinds import directory as dir_kinds
from kraftool.reports.findings.kinds import log as log_kinds
from kraftool.reports.findings.kinds import snapshot as snap_kinds
from kraftool.reports.text import shell_text

Steps = Callable[[Finding, Examination, ExaminedDirectory], Iterator[str]]


def diagnosis(
    finding: Finding, examination: Examination, examined: ExaminedDirectory | None
) -> Diagnosis:
    """A finding of another report as a diagnosis."""
    return Diagnosis(
        finding=finding,
        directory=examined.path if examined is not None else "",
        evidence=(*_evidence(finding), *_beyond(finding, examination, examined)),
        commands=tuple(_commands(finding, examination, examined)),
    )


def _evidence(finding: Finding) -> tuple[Evidence, ...]:
    fault = finding.fault
    text = fault.found
    if fault.expected:
        text = f"{fault.found or 'nothing'}, where {fault.expected} {_was(fault.expected)} expected"
    if finding.code == log_kinds.CRC.code and fault.expected and fault.found:
        text = f"the batch stores {fault.found}, and its bytes have {fault.expected}"
    if fault.field:
        text = f"{fault.field}: {text}" if text else fault.field
    if not fault.file or not (text or fault.has_place):
        return ()  # the cause says it all
    return (Evidence(file=fault.file, position=fault.position, offset=fault.offset, found=text),)


def _was(what: str) -> str:
    """The verb of what was expected: `5 bytes were`."""
    return "were" if what.endswith("bytes") and what != "1 bytes" else "was"


def _beyond(
    finding: Finding, examination: Examination, examined: ExaminedDirectory | None
) -> Iterator[Evidence]:
    """Yield which of the other directories have what a log's end may have lost."""
    log = examined.source.log if examined is not None else None
    if examined is None or log is None or finding.offset is None or not _is_tail(finding):
        return
    others = [
        directory
        for directories in examination.clusters()
        for directory in directories
        if examined in directories
        and directory is not examined
        and directory.source.log is not None
    ]
    having = [
        other
        for other in others
        if other.source.epoch_at(finding.offset) is not None
        and examined.source.parts_from(other.source) is None
    ]
    for directory in having:
        yield Evidence(
            file=directory.path,
            offset=finding.offset,
            found=f"this log has the records from here to {directory.source.end - 1}",
        )
    if others and not having:
        yield Evidence(
            file=examined.path,
            offset=finding.offset,
            found="no other directory has a record from here on",
        )


def _is_tail(finding: Finding) -> bool:
    """True if it is about what stands behind the last whole batch of a log."""
    garbage = finding.code == log_kinds.DAMAGE.code and finding.severity is Severity.WARNING
    return garbage or finding.code in (log_kinds.TORN_TAIL.code, log_kinds.ZERO_TAIL.code)


def _commands(
    finding: Finding, examination: Examination, examined: ExaminedDirectory | None
) -> Iterator[str]:
    remedy = finding.kind.remedy
    steps = None if remedy is None else COMMANDS[remedy]
    if steps is not None and (examined or (examination.directories or (None,))[0]) is not None:
        subject = examined if examined is not None else examination.directories[0]
        yield from steps(finding, examination, subject)
    elif finding.severity is not Severity.INFO and finding.position is not None:
        yield shell_text.on(finding.file, "explain", "--position", finding.position)


def _compare_voters(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    yield tools.on_all(examination, "diff-voters")


def _timeline(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    yield tools.on_all(examination, "timeline")


def _replace_voter(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    """For a disk that is lost. Where it may be there, the commands would do harm."""
    if finding.advice != dir_kinds.STALE_VOTER.advice:
        yield from _compare_voters(finding, examination, examined)
        return
    id = examined.node_id
    if id is not None:
        yield tools.remove_controller(examination, examined, id, finding.expected)
    yield tools.add_controller(examination, examined)


def _add_controller(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    if finding.advice.endswith(dir_kinds.NOT_A_VOTER.advice):
        yield tools.add_controller(examination, examined)


def _write_quorum_state(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    yield from tools.epoch_to_write(examination)
    yield tools.on_all(examination, "diff-voters")
    # The plan has the file with this epoch. It is refused as long as voters are missing.
    paths = examination.paths or (shell_text.NO_PATH,)
    yield shell_text.line("kraftool", "recover", "plan", *paths, "--out", "plan.yaml")


def _move_aside(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    yield from tools.stop_first(examined)
    yield shell_text.aside(finding.file)


def _copy_first(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    yield shell_text.keep_copy(examined.path)
    yield shell_text.on(examined.path, "verify-log")
    if finding.position is not None:
        yield shell_text.on(finding.file, "explain", "--position", finding.position)


def _explain_record(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    yield shell_text.on(finding.file, "explain", "--offset", finding.offset or 0)
    yield shell_text.keep_copy(examined.path)
    yield shell_text.on(examined.path, "verify-log")


def _verify_snapshot(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    """Yield commands that verify a snapshot, and the copy of a whole one from another node. The
    advice says whether it may be moved away."""
    yield shell_text.on(finding.file, "verify-snapshot")
    yield shell_text.keep_copy(examined.path)
    if finding.code not in _REPLACED:
        return
    name = os.path.basename(finding.file)
    other = _whole_snapshot(examination, examined, name)
    if other is not None:
        yield from tools.stop_first(examined)
        yield shell_text.line(
            "cp", "-pf", other, os.path.join(tools.partition_folder(examined), name)
        )
        who = f"node {examined.node_id}" if examined.node_id is not None else "the node"
        yield f"# then start {who}"
    elif len(examination.directories) > 1:
        yield shell_text.line(
            "kraftool", "recover", "plan", *examination.with_data, "--out", "plan.yaml"
        )


_REPLACED = frozenset({snap_kinds.DAMAGE.code, snap_kinds.FORM.code, snap_kinds.REPLAY.code})
"""Findings by which a snapshot is of no use, so that another node's takes its place."""


def _whole_snapshot(examination: Examination, examined: ExaminedDirectory, name: str) -> str | None:
    """The path of another node's whole snapshot of a name, of the same cluster."""
    cluster = examined.summary.node.cluster_id
    for other in examination.directories:
        is_usable = other is not examined and not other.is_stream and not other.source.is_live
        if not is_usable or cluster is None or other.summary.node.cluster_id != cluster:
            continue
        for snapshot in other.summary.snapshots:
            is_live = snapshot.state is FileState.LIVE
            if snapshot.intact and is_live and os.path.basename(snapshot.file) == name:
                return snapshot.file
    return None


def _copy_snapshot(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    log, cluster = examined.summary.log, examined.summary.node.cluster_id
    for other in examination.directories:
        newest = other.summary.newest_snapshot
        if (
            other is not examined
            and log is not None
            and newest is not None
            and newest.intact
            and cluster is not None
            and other.summary.node.cluster_id == cluster
            # One beyond the log's end would make Kafka wipe the log.
            and log.start <= newest.offset <= log.intact_end
        ):
            yield shell_text.on(newest.file, "verify-snapshot")
            yield from tools.stop_first(examined)
            yield shell_text.line("cp", "-p", newest.file, f"{tools.partition_folder(examined)}/")
            return
    yield shell_text.on(examined.path, "verify-log")


def _describe_replication(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    newest = examined.summary.newest_snapshot
    if newest is not None:
        yield shell_text.on(newest.file, "verify-snapshot")
    yield tools.quorum(examination, examined, "describe", "--replication")


def _dump_transaction(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    yield shell_text.on(examined.path, "dump-log", "--offsets", f"{finding.offset}..")


def _set_bootstrap_servers(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    yield shell_text.settings(
        finding.file, "controller.quorum.bootstrap.servers",
        tools.all_endpoints(examination, examined),
    )  # fmt: skip
    if finding.code in (dir_kinds.STATIC_IGNORED.code, dir_kinds.NO_BOOTSTRAP.code):
        yield f"# in {shell_text.quoted(finding.file)}: remove controller.quorum.voters"


def _set_static_voters(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    if finding.expected and finding.severity is Severity.ERROR:
        yield shell_text.settings(finding.file, finding.field, finding.expected.replace(", ", ","))
    yield tools.on_all(examination, "diff-voters")


def _upgrade_kraft_version(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    where = tools.controller(examination, examined)
    yield shell_text.line("kafka-features", *where, "describe")
    yield "# once all controllers run Kafka 4.1 or later:"
    yield shell_text.line("kafka-features", *where, "upgrade", "--feature", "kraft.version=1")


def _show_storage(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    properties = examined.settings_file or "server.properties"
    yield shell_text.line("kafka-storage", "info", "--config", properties)


def _write_meta_properties(
    finding: Finding, examination: Examination, examined: ExaminedDirectory
) -> Iterator[str]:
    """Yield what meta.properties must contain, as far as other files have it."""
    voters = examination.voters_of(examined)
    settings = examined.source.settings
    id = settings.node_id if settings is not None else None
    voter = voters.of(id) if voters is not None else None
    cluster = examination.home_cluster
    directory = voter.directory_id if voter is not None else None
    yield (
        f"# meta.properties: version=1, cluster.id={cluster or 'unknown'},"
        f" node.id={'unknown' if id is None else id}, directory.id={directory or 'unknown'}"
    )
    yield from _show_storage(finding, examination, examined)


COMMANDS: dict[Remedy, Steps] = {
    Remedy.COMPARE_VOTERS: _compare_voters,
    Remedy.TIMELINE: _timeline,
    Remedy.REPLACE_VOTER: _replace_voter,
    Remedy.ADD_CONTROLLER: _add_controller,
    Remedy.WRITE_QUORUM_STATE: _write_quorum_state,
    Remedy.MOVE_ASIDE: _move_aside,
    Remedy.COPY_FIRST: _copy_first,
    Remedy.EXPLAIN_RECORD: _explain_record,
    Remedy.VERIFY_SNAPSHOT: _verify_snapshot,
    Remedy.COPY_SNAPSHOT: _copy_snapshot,
    Remedy.DESCRIBE_REPLICATION: _describe_replication,
    Remedy.DUMP_TRANSACTION: _dump_transaction,
    Remedy.SET_BOOTSTRAP_SERVERS: _set_bootstrap_servers,
    Remedy.SET_STATIC_VOTERS: _set_static_voters,
    Remedy.UPGRADE_KRAFT_VERSION: _upgrade_kraft_version,
    Remedy.SHOW_STORAGE: _show_storage,
    Remedy.WRITE_META_PROPERTIES: _write_meta_properties,
}
