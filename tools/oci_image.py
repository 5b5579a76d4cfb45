#!/usr/bin/env python3
"""Writes an OCI image of kraftool from folders, each of which becomes a layer.

    tools/oci_image.py IMAGE.tar VERSION USER FOLDER...

packaging/image.sh says what the folders have. Owns the form of the archive. It needs no daemon, and
the same folders give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from stable_tar import compress, epoch, pack

_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
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


def config(version: str, user: str, layers: list[Layer]) -> dict[str, object]:
    created = datetime.fromtimestamp(epoch(), UTC).isoformat().replace("+00:00", "Z")
    return {
        "architecture": _MACHINES[platform.machine()],
        "os": "linux",
        "created": created,
        "config": {
            "User": f"{user}:{user}",
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
        "history": [{"created": created, "created_by": "packaging/image.sh"} for _ in layers],
    }


def image(version: str, user: str, layers: list[Layer], folder: Path) -> None:
    """Write the layout: each blob under its digest, and an index that names the manifest."""
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)

    def blob(data: bytes, media: str, **more: object) -> dict[str, object]:
        (blobs / digest(data).partition(":")[2]).write_bytes(data)
        return {"mediaType": media, "digest": digest(data), "size": len(data), **more}

    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_TYPE}.manifest.v1+json",
        "config": blob(_json(config(version, user, layers)), f"{_TYPE}.config.v1+json"),
        "layers": [blob(one.data, f"{_TYPE}.layer.v1.tar+gzip") for one in layers],
    }
    names = {"org.opencontainers.image.ref.name": f"kraftool:{version}"}
    listed = blob(_json(manifest), f"{_TYPE}.manifest.v1+json", annotations=names)
    index = {"schemaVersion": 2, "mediaType": f"{_TYPE}.index.v1+json", "manifests": [listed]}
    (folder / "index.json").write_bytes(_json(index))
    (folder / "oci-layout").write_bytes(_json({"imageLayoutVersion": "1.0.0"}))


def _json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def main(out: str, version: str, user: str, *folders: str) -> int:
    with tempfile.TemporaryDirectory() as layout:
        image(version, user, [layer(Path(folder)) for folder in folders], Path(layout))
        with Path(out).open("wb") as file:
            pack(Path(layout), file)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
