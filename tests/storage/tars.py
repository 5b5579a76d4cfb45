"""Tar archives as the tests of tar streams make and read them."""

import io
import tarfile
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kraftool.storage.tarheader import BLOCK
from kraftool.storage.tarstream import TarStream

PARTITION = "data/__cluster_metadata-0"


def tar(
    members: dict[str, bytes],
    *,
    form: int = tarfile.USTAR_FORMAT,
    pax: dict[str, str] | None = None,
) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, pax_headers=pax or {}) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            if name.endswith("/"):
                info.type = tarfile.DIRTYPE
            info.size = len(data)
            info.mode = 0o400
            info.mtime = 1_700_000_000
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def header(name: str, kind: bytes, size: int, **fields: bytes) -> bytes:
    """A header block with any size and any time at all."""
    block = bytearray(BLOCK)
    block[0 : len(name)] = name.encode()
    block[100:108] = b"0000644\0"
    block[124:136] = fields.get("raw_size", b"%011o\0" % size)
    block[136:148] = fields.get("raw_mtime", b"%011o\0" % 0)
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


END = bytes(2 * BLOCK)


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@contextmanager
def peak_below(limit: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit


@contextmanager
def unzipped(data: bytes) -> Iterator[TarStream]:
    from kraftool.storage.inflate import opened_feed

    with opened_feed("-", io.BytesIO(data)) as feed:
        yield TarStream(feed, "-")
