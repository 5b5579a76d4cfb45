"""Writes commands/demo.tar.gz: the quorum that `kraftool demo` unpacks.

    python tools/demo.py            # write
    python tools/demo.py --check    # fail if it does not have the files of the fixture

Owns which files of the fixture are shipped: all but the folders of topics that were deleted. The
check compares the files and not the archive, which differs from one zlib to the next. It is no .xz:
many a Python is built without liblzma.
"""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIXTURE = ROOT / "fixtures" / "kafka-4.3.0" / "upgrade"
TARGET = ROOT / "commands" / "demo.tar.gz"


def files() -> dict[str, bytes]:
    """Return each file of the demo by its name in the archive."""
    return {
        path.relative_to(FIXTURE).as_posix(): path.read_bytes()
        for path in sorted(FIXTURE.glob("node-*/**/*"))
        if path.is_file() and not path.parent.name.endswith("-delete")
    }


def archive(contents: dict[str, bytes]) -> bytes:
    """Return the files as an archive without times and owners, the same in each run.

    Files of the same name follow one another, as those of several nodes are alike.
    """
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(contents, key=lambda name: (name.rpartition("/")[2], name)):
            member = tarfile.TarInfo(name)
            member.size = len(contents[name])
            tar.addfile(member, io.BytesIO(contents[name]))
    return gzip.compress(written.getvalue(), mtime=0)


def unpacked(data: bytes) -> dict[str, bytes]:
    """Return the files of an archive."""
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {member.name: body.read() for member in tar if (body := tar.extractfile(member))}


def main() -> int:
    if "--check" in sys.argv[1:]:
        if unpacked(TARGET.read_bytes()) == files():
            return 0
        sys.stderr.write(f"{TARGET.relative_to(ROOT)} is stale: run python tools/demo.py\n")
        return 1
    TARGET.write_bytes(archive(files()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
