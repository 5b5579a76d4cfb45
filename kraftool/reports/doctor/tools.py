"""The commands to run next, with real ids, endpoints and paths in them.

Owns how a command line of Kafka's tools or of kraftool is written. What comes from data is quoted
for a shell. It refuses to choose: each rule says what it wants to have run.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable

from kraftool.decoders.addresses import shown_address
from kraftool.directory.metadata_summary import SeenVoters, VoterSource
from kraftool.directory.voter_set import addresses
from kraftool.image.image import EMPTY, MetadataImage
from kraftool.reports.doctor.model import Examination, ExaminedDirectory
from kraftool.reports.text.words import listed
from kraftool.storage.entry import METADATA_PARTITION

_TAKE_LIVE = ("diff-voters", "doctor", "features")


class Unknown(str):
    """A word of a command that kraftool does not know. It names the value that belongs there."""

    __slots__ = ()


ANYWHERE = Unknown("host:port")
"""Where no endpoint of a controller or broker is known."""
NO_PATH = Unknown("path")
NO_CLUSTER_ID = Unknown("cluster-id")


def line(*words: object) -> str:
    """Return a command line. With an unknown word it is a comment, so that no shell runs an
    incomplete command. Kafka's own tools have the names that its archive and its image have."""
    tool, *rest = map(str, words)
    tool += ".sh" if tool.startswith("kafka-") else ""
    command = " ".join(map(quoted, (tool, *rest)))
    unknown = dict.fromkeys(str(word) for word in words if isinstance(word, Unknown))
    return f"# replace {listed(unknown)}: {command}" if unknown else command


def quoted(word: str) -> str:
    """A word as a shell takes it; one that holds what no terminal should see, in escapes."""
    if word.isprintable():
        return shlex.quote(word)
    escapes = (char if char.isprintable() and char not in "'\\" else _escape(char) for char in word)
    return f"$'{''.join(escapes)}'"


def _escape(character: str) -> str:
    """By its bytes, whatever the locale; those of a name that is no UTF-8 stand as surrogates."""
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def controller(
    examination: Examination, patient: ExaminedDirectory | None = None
) -> tuple[str, str]:
    """The option that leads an admin tool to the controllers, with one that is known."""
    voters = examination.voters_of(patient) if patient is not None else examination.voters.voters
    # The node that something is wrong with is the last one to ask.
    own = patient.summary.node.node_id if patient is not None else None
    for address in (*_recorded(voters, without=own), *_recorded(voters)):
        return "--bootstrap-controller", address
    patients = examination.patients if patient is None else (patient, *examination.patients)
    for one in patients:
        if one.source.settings is not None and one.source.settings.bootstrap_servers:
            return "--bootstrap-controller", one.source.settings.bootstrap_servers[0]
    for one in patients:
        registered = one.state.image.cluster.controllers if one.state is not None else {}
        for id in sorted(registered):
            for listener in registered[id].listeners:
                return "--bootstrap-controller", shown_address(listener.host, listener.port)
    return "--bootstrap-controller", ANYWHERE


def _recorded(voters: SeenVoters | None, without: int | None = None) -> Iterable[str]:
    if voters is None or voters.source not in (VoterSource.RECORD, VoterSource.PROPERTIES):
        return ()
    return [
        address
        for voter in voters.voters
        if without is None or voter.id != without
        for address in list(addresses(voter).values())[:1]
    ]


def all_endpoints(examination: Examination, patient: ExaminedDirectory) -> str:
    """The voters' endpoints as controller.quorum.bootstrap.servers lists them."""
    return ",".join(_recorded(examination.voters_of(patient))) or ANYWHERE


def broker(patient: ExaminedDirectory) -> tuple[str, str]:
    """The option that leads an admin tool to a broker."""
    return broker_in(patient.state.image if patient.state is not None else EMPTY)


def broker_in(image: MetadataImage) -> tuple[str, str]:
    """Return the option that leads an admin tool to a broker, if possible to an unfenced one."""
    brokers = image.cluster.brokers.values()
    for registration in sorted(brokers, key=lambda one: (one.fenced, one.id)):
        for listener in registration.listeners:
            return "--bootstrap-server", shown_address(listener.host, listener.port)
    return "--bootstrap-server", ANYWHERE


def quorum(examination: Examination, patient: ExaminedDirectory | None, *words: object) -> str:
    return line("kafka-metadata-quorum", *controller(examination, patient), *words)


def remove_controller(
    examination: Examination, patient: ExaminedDirectory | None, id: int, directory_id: str
) -> str:
    return quorum(
        examination, patient, "remove-controller", "--controller-id", id,
        "--controller-directory-id", directory_id,
    )  # fmt: skip


def add_controller(examination: Examination, patient: ExaminedDirectory) -> str:
    """Run on the node itself, with its own configuration."""
    properties = patient.settings_file or "server.properties"
    return line(
        "kafka-metadata-quorum", "--command-config", properties,
        *controller(examination, patient), "add-controller",
    )  # fmt: skip


def epoch_to_write(examination: Examination) -> Iterable[str]:
    """Yield which epoch a quorum-state that is written by hand may have, as a comment."""
    epochs = [
        directory.summary.quorum_state.leader_epoch
        for directory in examination.patients
        if directory.summary.quorum_state is not None
    ]
    epochs += [
        one.epoch for directory in examination.patients for one in directory.summary.snapshots
    ]
    logs = [directory.summary.log for directory in examination.patients]
    epochs += [log.last_epoch for log in logs if log is not None and log.last_epoch is not None]
    if epochs:
        yield (
            f"# the highest epoch in these directories is {max(epochs)}. Write"
            f" {max(epochs) + 1}, or more if a voter is not among them"
        )


def on_all(examination: Examination, command: str) -> str:
    """A kraftool command over every PATH that was given, and the live quorum where it takes one."""
    live = examination.live if command in _TAKE_LIVE else ()
    return line("kraftool", command, *(examination.paths or (() if live else (NO_PATH,))), *live)


def on(path: str, command: str, *options: object) -> str:
    return line("kraftool", command, path, *options)


def _beside(path: str) -> str:
    """The data directory of a PATH, to put something next to it.

    Never into it: a broker refuses to start where a folder's name is no partition's.
    """
    path = os.path.normpath(path)
    if os.path.basename(path) in ("", ".", ".."):
        path = os.path.abspath(path)
    if os.path.basename(path) == METADATA_PARTITION:
        path = os.path.dirname(os.path.abspath(path))
    return path


def partition_folder(patient: ExaminedDirectory) -> str:
    """The folder of a patient's metadata partition."""
    if os.path.basename(os.path.abspath(patient.path)) == METADATA_PARTITION:
        return os.path.normpath(patient.path)
    return os.path.join(patient.path, METADATA_PARTITION)


def keep_copy(path: str) -> str:
    """Copy a directory to a place beside the data directory."""
    return line("cp", "-a", path, f"{_beside(path)}.copy")


def stop_first(patient: ExaminedDirectory) -> Iterable[str]:
    """Yield what comes before a command that changes a directory on which a Kafka runs, as a
    comment.
    """
    if patient.is_live:
        pid = patient.source.lock.pid
        who = f"process {pid} holds" if pid is not None else "another process holds"
        yield f"# stop Kafka on this node first: {who} the lock of {quoted(patient.path)}"


def aside(file: str) -> str:
    """Move a file or folder out of a data directory, beside it, under its own name."""
    directory, name = os.path.split(os.path.normpath(file))
    return line("mv", file, f"{_beside(directory)}.{name}")


def settings(file: str, key: str, value: str) -> str:
    """A line of a server.properties, as a comment between commands."""
    return f"# in {quoted(file)}: {key}={value}"
