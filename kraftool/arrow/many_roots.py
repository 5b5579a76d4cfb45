"""Lists the fleets below many roots: far roots in several threads, local ones one by one.

Owns which roots are far: URLs, and folders of network file systems. On a disk of this machine
threads would only wait for each other. It refuses to join what two roots have in common.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from kraftool.arrow.fleet import DEPTH, Fleet, find_fleet
from kraftool.arrow.lookers import Lookers
from kraftool.decoders.errors import KraftoolError
from kraftool.storage.remote import is_url

_FAR = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|ceph|lustre|glusterfs|gpfs|beegfs|afs|9p|virtiofs|fuse(\..+)?"
)
"""Types of file systems that another machine may answer for."""
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")


def find_fleets(
    paths: Sequence[str], *, depth: int = DEPTH, options: Mapping[str, Any] | None = None
) -> Iterator[Fleet | KraftoolError]:
    """Yield the fleet below each PATH, or why it has none, in the order of the PATHs."""
    find = partial(_found, depth=depth, options=options)
    if len(paths) < 2 or not any(map(is_far, paths)):
        yield from map(find, paths)
        return
    with Lookers() as lookers:
        yield from lookers.map(find, paths)


def _found(path: str, depth: int, options: Mapping[str, Any] | None) -> Fleet | KraftoolError:
    try:
        return find_fleet([path], depth=depth, options=options)
    except KraftoolError as error:
        return error


def is_far(path: str) -> bool:
    """True if a look at a PATH may go to another machine."""
    return is_url(path) or _FAR.fullmatch(file_system(os.path.realpath(path))) is not None


def file_system(path: str) -> str:
    """The type of the file system that a path is on; empty if this system does not say."""
    best, kind = "", ""
    for mount, name in _mounts():
        inside = path == mount or path.startswith(f"{mount.rstrip('/')}/")
        if inside and len(mount) >= len(best):
            best, kind = mount, name
    return kind


def _mounts() -> Iterator[tuple[str, str]]:
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        head, _, tail = line.partition(" - ")
        fields, kinds = head.split(" "), tail.split(" ")
        if len(fields) > 4 and kinds[0]:
            yield _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4]), kinds[0]
