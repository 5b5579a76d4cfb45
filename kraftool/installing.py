"""The way to install what an extra brings: by the tool that made this installation.

Owns the command that a user is told. `pip install 'kraftool[spark]'` is right in no installation
by pipx or uv, and not where kraftool came from a checkout.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

_OF_EXTRA = re.compile(r"""extra\s*==\s*["'](?P<extra>[\w-]+)["']""")


def install_hint(extra: str) -> str:
    """Return the command that installs what is missing of an extra, or all of it if that is not
    known. The program that needs no Python takes nothing in: it says so."""
    if getattr(sys, "frozen", False):
        return f"this program has no {extra}: install kraftool[{extra}] into a Python"
    needed = list(_requirements(extra))
    packages = [one for one in needed if not _is_installed(one)] or needed
    if not packages:  # run from a folder, without metadata
        packages = [f"kraftool[{extra}]"]
    prefix, words = Path(sys.prefix), " ".join(map(shlex.quote, packages))
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx inject kraftool {words}"
    with_all = " ".join(f"--with {shlex.quote(package)}" for package in packages)
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --force {with_all} {shlex.quote(_source())}"
    if "uv" in prefix.parts and any(part.startswith("archive-") for part in prefix.parts):
        return f"uvx {with_all} --from {shlex.quote(_source())} kraftool"
    python = shlex.quote(sys.executable)
    if importlib.util.find_spec("pip") is None:
        return f"uv pip install --python {python} {words}"
    return f"{python} -m pip install {words}"


def _requirements(extra: str) -> Iterator[str]:
    try:
        required = importlib.metadata.requires("kraftool") or []
    except importlib.metadata.PackageNotFoundError:
        return
    for requirement in required:
        package, _, marker = requirement.partition(";")
        match = _OF_EXTRA.search(marker)
        if match is not None and match["extra"] == extra:
            yield package.replace(" ", "")


def _is_installed(requirement: str) -> bool:
    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _source() -> str:
    """Return what kraftool was installed from: a checkout or a file, else its name."""
    try:
        text = importlib.metadata.distribution("kraftool").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        return "kraftool"
    url = str(json.loads(text).get("url", "")) if text else ""
    return url.removeprefix("file://") or "kraftool"
