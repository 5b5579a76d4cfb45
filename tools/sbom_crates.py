#!/usr/bin/env python3
"""Adds the crates of the native module to a CycloneDX SBOM, which has the Python packages.

    tools/sbom_crates.py PYTHON.json VERSION OUT.json

Crates and their hashes are those of Cargo.lock. The time is SOURCE_DATE_EPOCH, so that the same
release has the same SBOM.
"""

from __future__ import annotations

import json
import os
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "decoders/native/Cargo.lock"


def crates() -> list[dict[str, Any]]:
    """Every crate of somebody else, as a component."""
    packages = tomllib.loads(LOCK.read_text(encoding="utf-8"))["package"]
    return [
        {
            "type": "library",
            "bom-ref": (purl := f"pkg:cargo/{package['name']}@{package['version']}"),
            "name": package["name"],
            "version": package["version"],
            "purl": purl,
            "hashes": [{"alg": "SHA-256", "content": package["checksum"]}],
        }
        for package in packages
        if "checksum" in package
    ]


def main(python: str, version: str, out: str) -> int:
    sbom: dict[str, Any] = json.loads(Path(python).read_text(encoding="utf-8"))
    own = sbom["metadata"]["component"]
    own |= {"version": version, "purl": f"pkg:pypi/kraftool@{version}"}
    created = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    sbom["metadata"]["timestamp"] = created.isoformat()
    added = crates()
    sbom["components"] += added
    for entry in sbom["dependencies"]:
        if entry["ref"] == own["bom-ref"]:
            entry.setdefault("dependsOn", []).extend(crate["bom-ref"] for crate in added)
    sbom["dependencies"] += [{"ref": crate["bom-ref"]} for crate in added]
    text = json.dumps(sbom, indent=1, sort_keys=True, ensure_ascii=False)
    Path(out).write_text(text + "\n", encoding="utf-8")
    print(f"{out}: {len(sbom['components'])} packages, {len(added)} of them crates")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
