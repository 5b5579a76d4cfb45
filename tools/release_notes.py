#!/usr/bin/env python3
"""Prints what CHANGELOG.md says of a version: the notes of its release.

    tools/release_notes.py 0.1.0

Exits 1 if the version has no section, so that nothing is released without one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parent.parent / "CHANGELOG.md"


def notes(version: str, text: str) -> str | None:
    """Return the section of a version, without its heading; None if there is no such section."""
    heading = rf"^## \[{re.escape(version)}\].*\n(?P<body>(?:(?!## ).*\n?)*)"
    found = re.search(heading, text, re.MULTILINE)
    return found["body"].strip() + "\n" if found else None


def main(version: str) -> int:
    # A release candidate has the notes of its release.
    release = re.sub(r"(a|b|rc)\d+$", "", version)
    text = notes(release, CHANGELOG.read_text(encoding="utf-8"))
    if text is None:
        sys.stderr.write(f"CHANGELOG.md has no section [{release}]\n")
        return 1
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
