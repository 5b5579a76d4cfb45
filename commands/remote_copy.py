"""A node's tar stream as files below a folder, and the surveys of them.

Owns where the files go: each at its own path below the folder, so that a survey reads them as it
reads a directory of this host. The folder's name is then removed from the surveys. A tar stream may
be hostile: only regular files are written, and only below the folder.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from kraftool.commands.remote_fetch import FetchedNode
from kraftool.commands.remote_script import RemoteHead
from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file
from kraftool.repair.planner import read_surveys
from kraftool.repair.survey import Survey
from kraftool.storage.lock_taking import DirectoryLock


def survey_copy(
    fetched: FetchedNode,
    folder: Path,
    *,
    now_ms: int,
    at: int | None,
    progress: Callable[[str, int], None] = lambda name, position: None,
) -> tuple[Survey, ...]:
    """The surveys of a node's directories, with the paths that they have on the node."""
    root = os.path.realpath(folder)
    head = fetched.head
    try:
        _unpack(fetched.file, root)
        for remote_folder in head.folders:
            os.makedirs(_below(root, remote_folder), exist_ok=True)
        for pipe in head.pipes:
            os.mkfifo(_below(root, pipe))
        for log_dir in head.log_dirs:
            os.makedirs(_below(root, log_dir), exist_ok=True)
        path = _with_settings(head, root) if head.properties else _below(root, head.directory)
        with ExitStack() as locks:
            for locked_directory in head.running:  # a survey sees that the directory is in use
                locks.enter_context(DirectoryLock(_below(root, locked_directory)))
            surveys = read_surveys([path], now_ms=now_ms, at=at, progress=progress)
    except OSError as error:
        raise KraftoolError(
            f"{folder} cannot be written: {error.strerror or error}",
            hint="set TMPDIR to a folder with room for the metadata logs",
        ) from None
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise KraftoolError(f"the tar stream is damaged: {error}".replace(root, "")) from None
    except KraftoolError as error:
        raise KraftoolError(
            error.message.replace(root, ""), hint=error.hint.replace(root, "")
        ) from None
    return collect_file.without_prefix(surveys, root)


def _unpack(file: Path, root: str) -> None:
    with tarfile.open(file, "r:") as archive:
        for member in archive:
            if not (member.isreg() or member.islnk()):
                continue
            source = archive.extractfile(member)
            target = _below(root, member.name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as out:
                assert source is not None, "a regular file has content"
                shutil.copyfileobj(source, out, 1 << 20)
            os.utime(target, (member.mtime, member.mtime))


def _below(root: str, name: str) -> str:
    """The path of a node's file below the folder. Nothing there is a link."""
    path = os.path.normpath(f"{root}/{name}")
    if not path.startswith(f"{root}/"):
        raise ValueError(f"{name} leads out of the archive")
    return path


def _with_settings(head: RemoteHead, root: str) -> str:
    """A server.properties with the settings of the quorum, which leads to the copies."""
    dirs = ",".join(_below(root, log_dir) for log_dir in head.log_dirs)
    lines = [*head.settings, f"metadata.log.dir={_below(root, head.directory)}", f"log.dirs={dirs}"]
    path = _below(root, head.properties)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("".join(f"{line}\n" for line in lines))
    return path
