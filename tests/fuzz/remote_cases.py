"""What hostile and broken nodes send to `recover collect`: heads, tar streams, lists of pods.

Owns a sound answer of each kind, the odd ones by name, and their mutations. All chance comes from
the `Random` that is passed in.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.mutations import UNSEALED, Sample

REMOTE = "/data"
"""The data directory of every node here."""
PARTITION = f"{REMOTE}/__cluster_metadata-0"
SEGMENT = f"{PARTITION}/00000000000000000000.log"
_BASE_256 = b"\x80\0\0\0"

Archive = Callable[[tarfile.TarFile], object]


def member(name: str, kind: bytes = tarfile.REGTYPE, **fields: Any) -> tarfile.TarInfo:
    """A member without data."""
    info = tarfile.TarInfo(name.lstrip("/"))
    info.type = kind
    for key, value in fields.items():
        setattr(info, key, value)
    return info


def add(name: str, kind: bytes = tarfile.REGTYPE, **fields: Any) -> Archive:
    return lambda archive: archive.addfile(member(name, kind, **fields))


def absolute(archive: tarfile.TarFile) -> None:
    info = member("x")
    info.name = "/etc/kraftool-fuzz"
    archive.addfile(info)


def both(archive: tarfile.TarFile) -> None:
    archive.addfile(member(f"{PARTITION}/both"))
    archive.addfile(member(f"{PARTITION}/both/kraftool"))


def under_a_file(archive: tarfile.TarFile) -> None:
    archive.addfile(member(PARTITION))
    archive.addfile(member(f"{PARTITION}/00000000000000000009.log"))


def link_loop(archive: tarfile.TarFile) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        archive.addfile(
            member(f"{PARTITION}/{one}", tarfile.LNKTYPE, linkname=f"{PARTITION}/{other}")
        )


def sparse(claimed: int) -> Archive:
    """A pax member that claims many bytes and has none of them."""
    headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": f"{PARTITION}/00000000000000000009.log".lstrip("/"),
        "GNU.sparse.realsize": str(claimed),
    }
    # One piece of the claimed size would have to be there; holes need no bytes.
    data = f"1\n{claimed}\n0\n".encode().ljust(512, b"\0")
    info = member("sparse", pax_headers=headers, size=len(data))
    return lambda archive: archive.addfile(info, io.BytesIO(data))


ODD_MEMBERS: Mapping[str, Archive] = {
    "a hard link to an absent member": add(
        f"{PARTITION}/quorum-state", tarfile.LNKTYPE, linkname="data/none"
    ),
    "a hard link to an asked-for absent member": add(
        f"{PARTITION}/a", tarfile.LNKTYPE, linkname=f"{PARTITION}/none"
    ),
    "a hard link to a file of this host": add(
        f"{PARTITION}/a", tarfile.LNKTYPE, linkname="/etc/passwd"
    ),
    "a loop of hard links": link_loop,
    "an absolute path": absolute,
    "a path out of the archive": add("../../../escaped"),
    "a folder in place of a file": add(f"{REMOTE}/meta.properties", tarfile.DIRTYPE),
    "a symbolic link": add(SEGMENT, tarfile.SYMTYPE, linkname="/etc/passwd"),
    "a device": add(SEGMENT, tarfile.CHRTYPE),
    "an mtime beyond time_t": add(f"{PARTITION}/a", mtime=1 << 70),
    "an mtime long before 1970": add(f"{PARTITION}/a", mtime=-(1 << 70)),
    "an mtime of 1e30": add(f"{PARTITION}/a", pax_headers={"mtime": "1e30"}),
    "an infinite mtime": add(f"{PARTITION}/a", pax_headers={"mtime": "inf"}),
    "an mtime of minus infinity": add(f"{PARTITION}/a", pax_headers={"mtime": "-inf"}),
    "3,000 folders": add("/".join(["a"] * 3000)),
    "3,000 folders in the partition": add(PARTITION + "/a" * 3000),
    "a name of 300 letters": add(f"{PARTITION}/{'a' * 300}"),
    "a file and a folder of one name": both,
    "a file in the partition's place": under_a_file,
    "200 GB of holes": sparse(200 << 30),
    "3 GB of holes": sparse(3 << 30),
}


def with_long_mtime(stream: bytes) -> bytes:
    """The stream with GNU's base-256 form of an mtime beyond time_t in its first header."""
    header = bytearray(stream[:512])
    header[136:148] = b"\x80" + b"\x7f" * 11
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + stream[512:]


def tar_stream(
    files: Mapping[str, bytes],
    odd: Archive | None = None,
    form: int = tarfile.PAX_FORMAT,
    *,
    then: Archive | None = None,
) -> bytes:
    """A stream with a node's files, an odd member before them, and another one behind."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, errors="surrogateescape") as archive:
        if odd is not None:
            odd(archive)
        for name, data in files.items():
            archive.addfile(member(name, size=len(data)), io.BytesIO(data))
        if then is not None:
            then(archive)
    return out.getvalue()


def files_of(data: Path) -> dict[str, bytes]:
    """The metadata of a data directory, by the names that it has on a node here."""
    paths = [*sorted(data.iterdir()), *sorted((data / "__cluster_metadata-0").iterdir())]
    return {
        f"{REMOTE}/{path.relative_to(data)}": path.read_bytes() for path in paths if path.is_file()
    }


def head(files: Mapping[str, bytes], *lines: str, total: str = "", before: bool = False) -> bytes:
    """A head with further lines behind the others, or before them."""
    own = [
        f"files {len(files)}",
        f"total {total or sum(map(len, files.values()))}",
        f"directory {REMOTE}",
        f"log-dir {REMOTE}",
    ]
    whole = [*lines, *own] if before else [*own, *lines]
    return "\n".join(["kraftool-collect 1", *whole, "", ""]).encode("utf-8", "surrogateescape")


def odd_heads(bait: str) -> dict[str, tuple[str, ...]]:
    """Lines of a head by what is odd about them. `bait` is a data directory of this host."""
    properties = f"properties {REMOTE}/server.properties"
    return {
        "a setting that is none of the quorum": (properties, f"setting metadata.log.dir={bait}"),
        "a setting that swallows the next line": (
            properties,
            f"setting metadata.log.dir={bait}",
            "setting x=\\",
        ),
        "a key with an escape": (properties, f"setting metadata.log\\u002edir={bait}"),
        "a known setting that swallows the next line": (
            properties,
            f"setting log.dirs={bait}",
            "setting listeners=\\",
        ),
        "a carriage return in a setting": (
            properties,
            f"setting node.id=1\rmetadata.log.dir={bait}\rx=\\",
        ),
        "a log directory that is two": (properties, f"log-dir {REMOTE}/x,{bait}"),
        "a log directory that is relative": (properties, f"log-dir ..{bait}"),
        "a log directory that climbs": (properties, f"log-dir {REMOTE}/../../../..{bait}"),
        "a properties file in place of a segment": (f"properties {SEGMENT}",),
        "a pipe in place of the properties file": (
            f"properties {PARTITION}/p",
            f"pipe {PARTITION}/p",
        ),
        "a pipe that exists": (f"pipe {SEGMENT}",),
        "a pipe elsewhere": (f"pipe {bait}/kraftool-pipe",),
        "a folder elsewhere": (f"folder {bait}/kraftool-folder",),
        "a folder that exists as a file": (f"folder {SEGMENT}",),
        "a lock elsewhere": (f"running {bait}",),
        "a path with NUL": ("log-dir /data\0x",),
        "a path of 3,000 folders": (f"log-dir {'/a' * 3000}",),
        "a name of 300 letters": (f"folder {PARTITION}/{'a' * 300}",),
        "a name that is not UTF-8": (f"folder {PARTITION}/\udcff",),
        "a form feed in a line": (f"setting node.id=1\x0cmetadata.log.dir={bait}",),
    }


ODD_TOTALS = ("9" * 5000, "²", "-1", "1e9", "0", "999999999999999")


def mutated(random: Random, data: bytes) -> bytes:
    """Bytes changed at up to three places."""
    samples = [Sample("stream", data)]
    for _ in range(random.randint(1, 3)):
        if data:
            data = random.choice(UNSEALED)(random, data, samples)
    return data


def mutated_stream(random: Random, files: Mapping[str, bytes]) -> bytes:
    """A tar stream with an odd member, changed bytes, or both."""
    kind = random.randrange(3)
    odd = random.choice(list(ODD_MEMBERS.values())) if kind else None
    form = random.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))
    kept = dict(random.sample(list(files.items()), random.randint(1, len(files))))
    stream = tar_stream(kept, odd, form)
    if not random.randrange(8):
        stream = with_long_mtime(stream)
    if kind == 2:
        return stream
    changed = bytearray(mutated(random, stream))
    if random.randrange(2):  # sums that are right again, so that more than the sum is looked at
        for at in range(0, len(changed) - 511, 512):
            if changed[at + 257 : at + 262] == b"ustar":
                changed[at + 148 : at + 156] = b" " * 8
                total = sum(changed[at : at + 512])
                changed[at + 148 : at + 156] = b"%06o\0 " % total
    return bytes(changed)


def mutated_head(random: Random, files: Mapping[str, bytes], bait: str) -> bytes:
    """A head with odd lines, an odd total, changed bytes, or several of these."""
    odd = list(odd_heads(bait).values())
    lines = [line for _ in range(random.randrange(3)) for line in random.choice(odd)]
    random.shuffle(lines)
    total = random.choice(ODD_TOTALS) if not random.randrange(4) else ""
    whole = head(files, *lines, total=total, before=bool(random.randrange(2)))
    if lines and random.randrange(2):
        return whole
    changed = mutated(random, whole[:-2])
    return (whole[:19] if random.randrange(4) else b"") + changed.strip(b"\n") + b"\n\n"


# --- lists of pods ------------------------------------------------------------------------------

SOUND_POD: Mapping[str, Any] = {
    "metadata": {"name": "kafka-0", "namespace": "prod"},
    "spec": {"containers": [{"name": "kafka"}]},
}
_DEFAULT = "kubectl.kubernetes.io/default-container"
_ODD_VALUES: tuple[Any, ...] = (
    None, True, 5, -1, 1.5, "", "-", "--kubeconfig=/x", "-n", "a b", "a\nb", "a\0b", "\ud800", "é",
    "A" * 3000, "../../x", "kafka-0", [], {}, [[]], [{}], {"name": []}, ["kafka"],
    "\x1b[31m", "kafka,other",
)  # fmt: skip


def pod(name: Any = "kafka-1", **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "prod", **metadata},
        "spec": {"containers": [{"name": "kafka"}]},
    }


def pod_list(*pods: Any) -> bytes:
    return json.dumps({"items": [SOUND_POD, *pods]}).encode()


def _deep() -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(200):
        value = {"a": value}
    return value


ODD_PODS: Mapping[str, Any] = {
    "a name that is an option": pod("--kubeconfig=/tmp/other"),
    "a name that is a number": pod(5),
    "a name with NUL": pod("kafka\0"),
    "a name with a lone surrogate": pod("\ud800"),
    "no name": {"spec": {}},
    "the name of another pod": pod("kafka-0"),
    "annotations that are a number": pod(annotations=5),
    "a container that is an option": pod(annotations={_DEFAULT: "--stdin"}),
    "a namespace that is an option": pod(namespace="--all-namespaces"),
    "no containers": {"metadata": {"name": "kafka-1"}, "spec": {"containers": []}},
    "deep nesting": pod(annotations=_deep()),
    "no object": 5,
}


def mutated_pod(random: Random) -> Any:
    """A pod with odd values at some places."""
    value: Any = pod(f"kafka-{random.randint(1, 9)}", annotations={_DEFAULT: "kafka"})
    for _ in range(random.randint(1, 3)):
        at = value
        while isinstance(at, dict | list) and at:
            key = random.choice(list(at)) if isinstance(at, dict) else random.randrange(len(at))
            if not random.randrange(3) or not isinstance(at[key], dict | list):
                at[key] = deepcopy(random.choice(_ODD_VALUES))
                break
            at = at[key]
    return value if random.randrange(10) else random.choice(_ODD_VALUES)
