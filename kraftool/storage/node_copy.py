"""Copies of a node's files below a folder, each at the path that it has on the node.

Owns the way from a node's paths to those of the copies, and the server.properties that leads to
them. A node may be hostile: its paths are joined to the folder, and nothing leads out of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from kraftool.decoders import properties
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.properties import ascii_value
from kraftool.storage.lock_taking import DirectoryLock

_DIRECTORIES = ("metadata.log.dir", "log.dirs", "log.dir")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlaces:
    """The places of a node's metadata. Paths are absolute and normalized."""

    directory: str = ""
    """The metadata log directory."""
    log_dirs: tuple[str, ...] = ()
    properties: str = ""
    """The path of server.properties; empty if a directory was named."""
    settings: tuple[bytes, ...] = ()
    """Lines of it."""
    folders: tuple[str, ...] = ()
    pipes: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    """Directories whose lock a process has."""


def copy_below(root: str, path: str) -> str:
    """The path of a copy. Nothing below the folder is a symbolic link."""
    copy = os.path.normpath(f"{root}/{path}")
    if not copy.startswith(f"{root}/"):
        raise KraftoolError(f"{path} is no path of a data directory")
    return copy


DirectoriesOf = Callable[[str], Iterable[str]]
"""The directories to which a PATH leads."""


def complete(places: NodePlaces, root: str, directories_of: DirectoriesOf) -> str:
    """Make what is no file of the node: folders, pipes, and a server.properties that leads to the
    copies. Return the PATH to read."""
    for folder in (*places.folders, *places.log_dirs):
        os.makedirs(copy_below(root, folder), exist_ok=True)
    for pipe in places.pipes:
        os.mkfifo(copy_below(root, pipe))
    if not places.properties:
        path = copy_below(root, places.directory)
    else:
        path = _with_settings(places, root)
    # A properties file splits its values, at commas say. Only what is read back from it counts.
    for directory in directories_of(path):
        if not os.path.normpath(directory).startswith(f"{root}/"):
            raise KraftoolError(
                f"{path} leads to {directory or 'no directory'}, which the node did not send"
            )
    return path


@contextmanager
def locked_as_there(places: NodePlaces, root: str) -> Iterator[None]:
    """Hold the locks of the directories that were in use, so that a reader sees it."""
    with ExitStack() as locks:
        for running in places.running:
            locks.enter_context(DirectoryLock(copy_below(root, running)))
        yield


def _with_settings(places: NodePlaces, root: str) -> str:
    """Write a server.properties whose directories are the copies."""
    path = copy_below(root, places.properties)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    entries = {line: properties.decode(line)[0].entries[0] for line in places.settings}
    with open(path, "xb") as file:  # never in place of a file that it sent
        for line, entry in entries.items():
            if entry.key in _DIRECTORIES:
                parts = (_there(part.strip(), places, root) for part in entry.value.split(","))
                line = f"{entry.key}={ascii_value(','.join(parts))}".encode()
            file.write(line + b"\n")
        if not any(entry.key in _DIRECTORIES for entry in entries.values()):
            dirs = ",".join(copy_below(root, log_dir) for log_dir in places.log_dirs)
            metadata = copy_below(root, places.directory)
            for key, value in (("metadata.log.dir", metadata), ("log.dirs", dirs)):
                file.write(f"{key}={ascii_value(value)}\n".encode())
    return path


def _there(directory: str, places: NodePlaces, root: str) -> str:
    """A directory of the settings as it leads to its copy. A relative one does so as it is, unless
    the node took it relative to another folder than that of its server.properties."""
    if os.path.isabs(directory):
        return copy_below(root, directory)
    beside = os.path.normpath(os.path.join(os.path.dirname(places.properties), directory))
    if not directory or beside in (places.directory, *places.log_dirs) or "${" in directory:
        return directory
    ends = (log_dir for log_dir in places.log_dirs if log_dir.endswith(f"/{directory}"))
    return copy_below(root, next(ends, places.directory))
