"""Writes the lines that install kraftool as they are once a package index has it.

    KRAFTOOL_INDEX=yes python tools/install_lines.py

Without the variable nothing changes: README.md and docs/install.md name files of a release and a
checkout. A release runs this before it builds, so that the packages and the site say the same.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_WHEEL = "./kraftool-0.1.0-cp311-abi3-manylinux_2_28_x86_64.whl"
LINES = {
    "README.md": (
        (
            "`pipx install ./kraftool-VERSION-….whl`, or in a checkout `pipx install .`",
            "`pipx install kraftool`",
        ),
        ("in a checkout: `uvx --from . kraftool --help`", "`uvx kraftool --help`"),
    ),
    "docs/install.md": (
        (
            "Nothing is in a package index yet: take a file of a release,",
            "Take it from the package index, take a file of a release,",
        ),
        (f"pipx install {_WHEEL}", "pipx install kraftool"),
        (f"uv tool install {_WHEEL}", "uv tool install kraftool"),
        (f"'{_WHEEL}[compression,backup]'", "'kraftool[compression,backup]'"),
        (f"--dest wheels {_WHEEL}", "--dest wheels kraftool"),
    ),
}
"""The lines of each document: as they are, and as they are with an index."""


def main() -> int:
    if not os.environ.get("KRAFTOOL_INDEX"):
        return 0
    for name, lines in LINES.items():
        document = ROOT / name
        document.write_text(switched(document.read_text(encoding="utf-8"), lines), encoding="utf-8")
        sys.stdout.write(f"{name}: written\n")
    return 0


def switched(text: str, lines: tuple[tuple[str, str], ...]) -> str:
    """The text with the lines of an index. Each has to be there once."""
    for of_files, of_index in lines:
        assert text.count(of_files) == 1, f"{of_files!r} is there {text.count(of_files)} times"
        text = text.replace(of_files, of_index)
    return text


if __name__ == "__main__":
    raise SystemExit(main())
