#!/usr/bin/env python3
"""Writes the container image of kraftool: an OCI archive, from a Debian and the built program.

    tools/oci_image.py BASE.tar PROGRAM VERSION IMAGE.tar

BASE.tar is what mmdebstrap extracted, and PROGRAM the folder of packaging/program.sh. Owns what the
image has and how it runs: as user 65532, without what nobody reads in a container. It needs no
daemon, and the same inputs give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from stable_tar import compress, epoch, pack

ROOT = Path(__file__).resolve().parent.parent
USER = 65532
_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
_LEFT_OUT = re.compile(
    r"dev/.|etc/apt/|var/(cache|lib/apt|lib/dpkg|log)/.|usr/(bin|sbin)/(dpkg|localedef|openssl)|"
    r"usr/share/(?:info|lintian|locale|man|perl5|bash-completion)/|usr/share/doc/[^/]+/(?!copyright$)."
)
_BUNDLE = Path("etc/ssl/certs/ca-certificates.crt")
_TYPE = "application/vnd.oci.image"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer's compressed bytes, and the digest of the tar in it, by which a config names it."""

    data: bytes
    tar_digest: str


def digest(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def layer(folder: Path) -> Layer:
    plain, packed = io.BytesIO(), io.BytesIO()
    pack(folder, plain)
    with compress(packed) as out:
        out.write(plain.getvalue())
    return Layer(data=packed.getvalue(), tar_digest=digest(plain.getvalue()))


def unpack_base(archive: Path, folder: Path) -> None:
    """Unpack what the image needs of a Debian, with the certificates of public authorities."""
    with tarfile.open(archive) as packed:
        for entry in packed:
            name = entry.name.removeprefix("./")
            if name and not _LEFT_OUT.match(name):
                packed.extract(entry, folder, filter="fully_trusted")
    authorities = sorted((folder / "usr/share/ca-certificates").rglob("*.crt"))
    bundle = folder / _BUNDLE
    bundle.parent.mkdir(parents=True, exist_ok=True)
    bundle.write_bytes(b"".join(path.read_bytes() for path in authorities))
    people = folder / "usr/share/base-passwd"
    for name, line in (
        ("passwd", f"kraftool:x:{USER}:{USER}:kraftool:/:/bin/sh\n"),
        ("group", f"kraftool:x:{USER}:\n"),
    ):
        (folder / "etc" / name).write_text((people / f"{name}.master").read_text() + line)


def add_program(program: Path, folder: Path) -> None:
    shutil.copytree(program, folder / "usr/lib/kraftool", symlinks=True)
    (folder / "usr/bin").mkdir()
    (folder / "usr/bin/kraftool").symlink_to("../lib/kraftool/kraftool")
    licenses = folder / "usr/share/doc/kraftool"
    licenses.mkdir(parents=True)
    shutil.copy(ROOT / "LICENSE", licenses / "copyright")


def config(version: str, layers: list[Layer]) -> dict[str, object]:
    created = datetime.fromtimestamp(epoch(), UTC).isoformat().replace("+00:00", "Z")
    return {
        "architecture": _MACHINES[platform.machine()],
        "os": "linux",
        "created": created,
        "config": {
            "User": f"{USER}:{USER}",
            "Entrypoint": ["kraftool"],
            "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"],
            "WorkingDir": "/",
            "Labels": {
                "org.opencontainers.image.title": "kraftool",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [one.tar_digest for one in layers]},
        "history": [
            {"created": created, "created_by": name} for name in ("Debian", f"kraftool {version}")
        ],
    }


def image(version: str, layers: list[Layer], folder: Path) -> None:
    """Write the layout: each blob under its digest, and an index that names the manifest."""
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def blob(data: bytes, media: str, **more: object) -> dict[str, object]:
        (blobs / digest(data).partition(":")[2]).write_bytes(data)
        return {"mediaType": media, "digest": digest(data), "size": len(data), **more}

    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_TYPE}.manifest.v1+json",
        "config": blob(_json(config(version, layers)), f"{_TYPE}.config.v1+json"),
        "layers": [blob(one.data, f"{_TYPE}.layer.v1.tar+gzip") for one in layers],
    }
    names = {"org.opencontainers.image.ref.name": version}
    listed = blob(_json(manifest), f"{_TYPE}.manifest.v1+json", annotations=names)
    index = {"schemaVersion": 2, "mediaType": f"{_TYPE}.index.v1+json", "manifests": [listed]}
    (folder / "index.json").write_bytes(_json(index))
    (folder / "oci-layout").write_bytes(_json({"imageLayoutVersion": "1.0.0"}))


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def main(base: str, program: str, version: str, out: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        debian, own, layout = (Path(folder, name) for name in ("debian", "own", "layout"))
        debian.mkdir()
        unpack_base(Path(base), debian)
        add_program(Path(program), own)
        image(version, [layer(debian), layer(own)], layout)
        with Path(out).open("wb") as file:
            pack(layout, file)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
