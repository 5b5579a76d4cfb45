"""The files of another revision, as git has them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from answers.subjects import ROOT


def archived(revision: str, scratch: Path) -> Path:
    """Return the files of a revision, in a folder of the scratch folder."""
    tree = scratch / "base-tree"
    tree.mkdir()
    archive = subprocess.run(
        ["git", "-C", str(ROOT), "archive", revision], stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive.stdout, check=True)
    return tree
