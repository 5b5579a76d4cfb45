"""The commands to run next on a quorum that was examined, with its endpoints, ids and paths.

Owns which controller or broker a command asks. It refuses to choose: each rule says what it wants
to have run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from kraftool.decoders.addresses import shown_address
from kraftool.directory.metadata_summary import SeenVoters, VoterSource
from kraftool.directory.voter_set import addresses
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.reports.doctor.model import Examination, ExaminedDirectory
from kraftool.reports.text import shell_text
from kraftool.storage.entry import METADATA_PARTITION

_TAKE_LIVE = ("diff-voters", "doctor", "features")


def controller(
    examination: Examination, examined: ExaminedDirectory | None = None
) -> tuple[str, str]:
    """The option that leads an admin tool to the controllers, with one that is known."""
    voters = examination.voters_of(examined) if examined is not None else examination.voters.voters
    # The node that something is wrong with is the last one to ask.
    own = examined.summary.node.node_id if examined is not None else None
    for address in (*_recorded(voters, without=own), *_recorded(voters)):
        return "--bootstrap-controller", address
    directories = (
        examination.directories if examined is None else (examined, *examination.directories)
    )
    for one in directories:
        if one.source.settings is not None and one.source.settings.bootstrap_servers:
            return "--bootstrap-controller", one.source.settings.bootstrap_servers[0]
    for one in directories:
        registered = one.state.image.cluster.controllers if one.state is not None else {}
        for id in sorted(registered):
            for listener in registered[id].listeners:
                return "--bootstrap-controller", shown_address(listener.host, listener.port)
    return "--bootstrap-controller", shell_text.ANYWHERE


def _recorded(voters: SeenVoters | None, without: int | None = None) -> Iterable[str]:
    if voters is None or voters.source not in (VoterSource.RECORD, VoterSource.PROPERTIES):
        return ()
    return [
        address
        for voter in voters.voters
        if without is None or voter.id != without
        for address in list(addresses(voter).values())[:1]
    ]


def all_endpoints(examination: Examination, examined: ExaminedDirectory) -> str:
    """The voters' endpoints as controller.quorum.bootstrap.servers lists them."""
    return ",".join(_recorded(examination.voters_of(examined))) or shell_text.ANYWHERE


def broker(examined: ExaminedDirectory) -> tuple[str, str]:
    """The option that leads an admin tool to a broker."""
    return broker_in(examined.state.image if examined.state is not None else EMPTY)


def broker_in(image: MetadataImage) -> tuple[str, str]:
    """Return the option that leads an admin tool to a broker, if possible to an unfenced one."""
    brokers = image.cluster.brokers.values()
    for registration in sorted(brokers, key=lambda one: (one.fenced, one.id)):
        for listener in registration.listeners:
            return "--bootstrap-server", shown_address(listener.host, listener.port)
    return "--bootstrap-server", shell_text.ANYWHERE


def quorum(examination: Examination, examined: ExaminedDirectory | None, *words: object) -> str:
    return shell_text.line("kafka-metadata-quorum", *controller(examination, examined), *words)


def remove_controller(
    examination: Examination, examined: ExaminedDirectory | None, id: int, directory_id: str
) -> str:
    return quorum(
        examination, examined, "remove-controller", "--controller-id", id,
        "--controller-directory-id", directory_id,
    )  # fmt: skip


def add_controller(examination: Examination, examined: ExaminedDirectory) -> str:
    """Run on the node itself, with its own configuration."""
    properties = examined.settings_file or "server.properties"
    return shell_text.line(
        "kafka-metadata-quorum", "--command-config", properties,
        *controller(examination, examined), "add-controller",
    )  # fmt: skip


def epoch_to_write(examination: Examination) -> Iterable[str]:
    """Yield which epoch a quorum-state that is written by hand may have, as a comment."""
    epochs = [
        directory.summary.quorum_state.leader_epoch
        for directory in examination.directories
        if directory.summary.quorum_state is not None
    ]
    epochs += [
        one.epoch for directory in examination.directories for one in directory.summary.snapshots
    ]
    logs = [directory.summary.log for directory in examination.directories]
    epochs += [log.last_epoch for log in logs if log is not None and log.last_epoch is not None]
    if epochs:
        yield (
            f"# the highest epoch in these directories is {max(epochs)}. Write"
            f" {max(epochs) + 1}, or more if a voter is not among them"
        )


def on_all(examination: Examination, command: str) -> str:
    """A kraftool command over every PATH that was given, and the live quorum where it takes one."""
    live = examination.live if command in _TAKE_LIVE else ()
    return shell_text.line(
        "kraftool", command, *(examination.paths or (() if live else (shell_text.NO_PATH,))), *live
    )


def partition_folder(examined: ExaminedDirectory) -> str:
    """The folder of a directory's metadata partition."""
    if os.path.basename(os.path.abspath(examined.path)) == METADATA_PARTITION:
        return os.path.normpath(examined.path)
    return os.path.join(examined.path, METADATA_PARTITION)


def stop_first(examined: ExaminedDirectory) -> Iterable[str]:
    """Yield what comes before a command that changes a directory on which a Kafka runs, as a
    comment.
    """
    if examined.is_live:
        pid = examined.source.lock.pid
        who = f"process {pid} holds" if pid is not None else "another process holds"
        path = shell_text.quoted(examined.path)
        yield f"# stop Kafka on this node first: {who} the lock of {path}"
