"""Writes decoders/native_build.py: the id of the native module's sources.

    python tools/native_id.py            # write
    python tools/native_id.py --check    # fail if it is not fresh

`decoders/native/binding/build.rs` builds the same id into the module, so that kraftool notices a
module that was built from other sources.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "decoders" / "native_build.py"
_CRATES = ROOT / "decoders" / "native"
_FILES = ("Cargo.toml", "Cargo.lock", "core/Cargo.toml", "binding/Cargo.toml", "binding/build.rs")
_FOLDERS = ("core/src", "binding/src")
_OFFSET, _PRIME, _MASK = 0xCBF29CE484222325, 0x100000001B3, 0xFFFFFFFFFFFFFFFF


def build_id() -> str:
    """The FNV-1a hash of the sources, in the order of build.rs."""
    files = [_CRATES / name for name in _FILES]
    for folder in _FOLDERS:
        files += sorted((_CRATES / folder).glob("*.rs"))
    digest = _OFFSET
    for file in files:
        for byte in file.read_bytes():
            digest = (digest ^ byte) * _PRIME & _MASK
    return f"{digest:016x}"


def text() -> str:
    return (
        '"""The id of the native module\'s sources.\n\nWritten by tools/native_id.py.\n"""\n\n'
        f'BUILD_ID = "{build_id()}"\n'
    )


def main() -> int:
    if "--check" in sys.argv[1:]:
        if TARGET.read_text(encoding="utf-8") == text():
            return 0
        sys.stderr.write(f"{TARGET.relative_to(ROOT)} is stale: run make native\n")
        return 1
    TARGET.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
