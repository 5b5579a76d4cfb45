#!/usr/bin/env python3
"""Writes a tar that depends on nothing but its files: no time, owner or order of this machine.

    tools/stable_tar.py FOLDER OUT.tar.gz

Everything belongs to root and has the time SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import gzip
import os
import sys
import tarfile
from pathlib import Path
from typing import IO, cast


def epoch() -> int:
    return int(os.environ["SOURCE_DATE_EPOCH"])


def pack(folder: Path, out: IO[bytes]) -> None:
    """Write all of a folder, in the order of names."""
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            entry = archive.gettarinfo(path, str(path.relative_to(folder)))
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime = epoch()
            if entry.isfile():
                with path.open("rb") as file:
                    archive.addfile(entry, file)
            else:
                archive.addfile(entry)


def compress(out: IO[bytes]) -> gzip.GzipFile:
    return gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=out, mtime=epoch())


def main(folder: str, out: str) -> int:
    with Path(out).open("wb") as file, compress(file) as packed:
        pack(Path(folder), cast(IO[bytes], packed))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
