"""Builds the native module, where Rust is there to build it; without it kraftool is pure Python.

Everything else is in pyproject.toml. Owns what a wheel is called: one without the module fits every
platform. Owns the version, too: packages of a tagged commit have that of the tag, as `kraftool
--version` then says. All others, and a checkout, have that of kraftool/__init__.py.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
VERSION_FILE = Path("kraftool", "__init__.py")
VERSION = re.compile(r'(?<=^__version__ = ")[^"]+', re.MULTILINE)
MODULE = "kraftool.decoders._native"
CRATE = "decoders/native/binding/Cargo.toml"


def version() -> str:
    """The newest tag of this commit, as v1.2.3; without one, what the sources say."""
    tags = ""
    if (ROOT / ".git").exists() and shutil.which("git"):
        ask = ["git", "tag", "--points-at", "HEAD", "--sort=-v:refname", "v[0-9]*"]
        for name in ("a", "b", "rc"):  # these come before the release
            ask[1:1] = ["-c", f"versionsort.suffix={name}"]
        tags = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    written = VERSION.search((ROOT / VERSION_FILE).read_text(encoding="utf-8"))
    assert written is not None, "the sources have a version"
    return tags.partition("\n")[0].removeprefix("v") or written[0]


def write_version(folder: str) -> None:
    """Give the copy of the sources in this folder the version of the package."""
    file = Path(folder) / VERSION_FILE
    text = file.read_text(encoding="utf-8")
    file.unlink()  # it may be a link to the source
    file.write_text(VERSION.sub(version(), text), encoding="utf-8")


class BuildPy(build_py):
    """Copies the sources, with the version, and the site's address if KRAFTOOL_SITE names one."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        write_version(self.build_lib)
        if site := os.environ.get("KRAFTOOL_SITE"):
            address = Path(self.build_lib, "kraftool", "commands", "site.txt")
            address.write_text(f"{site.rstrip('/')}\n", encoding="utf-8")


class Sdist(sdist):
    """The same in the sdist, of which no git knows a tag."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        write_version(base_dir)


class BdistWheel(bdist_wheel):
    """Names the wheel after what is in it."""

    def _is_pure(self) -> bool:
        built = (path.suffix for path in Path(self.bdist_dir).rglob("_native.*"))
        return not {".so", ".pyd"} & set(built)

    def get_tag(self) -> tuple[str, str, str]:
        return ("py3", "none", "any") if self._is_pure() else super().get_tag()

    def write_wheelfile(self, *arguments: object, **options: object) -> None:
        self.root_is_pure = self._is_pure()
        super().write_wheelfile(*arguments, **options)


def extensions() -> list[object]:
    """The module, if there is a Rust to build it, and it is wanted."""
    if shutil.which("cargo") is None or os.environ.get("KRAFTOOL_PURE") == "1":
        return []
    try:
        from setuptools_rust import Binding, RustExtension
    except ImportError:
        return []
    module = RustExtension(
        MODULE,
        path=CRATE,
        binding=Binding.PyO3,
        args=["--locked"],
        debug=False,
        optional=True,
        py_limited_api=True,
    )
    return [module]


setup(
    version=version(),
    rust_extensions=extensions(),
    cmdclass={"bdist_wheel": BdistWheel, "build_py": BuildPy, "sdist": Sdist},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
