"""The decision which PATHs are far: a look at these may have to wait for another machine.

Owns the types of file systems for which that holds. On a disk of this machine threads would only
wait for each other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from kraftool.storage.remote import is_url

_FAR = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|ceph|lustre|glusterfs|gpfs|beegfs|afs|9p|virtiofs|fuse(\..+)?"
)
"""Types of file systems that another machine may answer for."""
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")

Mounts = list[tuple[str, str]]
"""Where file systems are mounted, and their types."""


def far_among(paths: Iterable[str]) -> list[bool]:
    """Return for each PATH if it is far."""
    mounted = mounts()
    return [is_url(path) or _is_far(path, mounted) for path in paths]


def _is_far(path: str, mounted: Mounts) -> bool:
    # A pattern may be below a mount too.
    return _FAR.fullmatch(file_system(os.path.realpath(path), mounted)) is not None


def file_system(path: str, mounted: Mounts) -> str:
    """The type of the file system that a path is on; empty if this system does not say."""
    best, kind = "", ""
    for mount, name in mounted:
        inside = path == mount or path.startswith(f"{mount.rstrip('/')}/")
        if inside and len(mount) >= len(best):
            best, kind = mount, name
    return kind


def mounts() -> Mounts:
    """Everything that is mounted; nothing if this system does not say."""
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    mounted = []
    for line in lines:
        head, _, tail = line.partition(" - ")
        fields, kinds = head.split(" "), tail.split(" ")
        if len(fields) > 4 and kinds[0]:
            path = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4])
            mounted.append((path, kinds[0]))
    return mounted
