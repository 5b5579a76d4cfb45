"""The PATHs that lead into a bundle: BUNDLE, BUNDLE:NODE, and BUNDLE:NODE/PATH on the node.

Every command imports it. What is in a bundle is read by `bundle_files.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

SUFFIX = ".zip"


def bundle_place(path: str) -> tuple[str, str] | None:
    """Split a PATH into a bundle and what it names in it; None if it leads to no bundle."""
    if SUFFIX not in path:
        return None
    if path.endswith(SUFFIX) and _is_zip(path):
        return path, ""
    end = len(path)
    while (end := path.rfind(f"{SUFFIX}:", 0, end)) >= 0:
        file, within = path[: end + len(SUFFIX)], path[end + len(SUFFIX) + 1 :]
        if _is_zip(file):
            return file, within
    return None


def each_node(paths: Iterable[str]) -> list[str]:
    """The PATHs with the nodes of a bundle in its place."""
    expanded = []
    for path in paths:
        place = bundle_place(path)
        if place is None or place[1]:
            expanded.append(path)
        else:
            from kraftool.storage.bundle_files import opened

            expanded += [f"{path}:{name}" for name in opened(path).nodes]
    return expanded


def _is_zip(file: str) -> bool:
    if not os.path.isfile(file):
        return False
    try:
        with open(file, "rb") as opened_file:
            return opened_file.read(4) == b"PK\3\4"
    except OSError:
        return False
