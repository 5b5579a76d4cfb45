"""Builds the native module, where Rust is there to build it; without it kraftool is pure Python.

Everything else is in pyproject.toml. Owns what a wheel is called: one without the module fits every
platform.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

MODULE = "kraftool.decoders._native"
CRATE = "decoders/native/binding/Cargo.toml"


class BuildPy(build_py):
    """Writes the site's address into the package, if KRAFTOOL_SITE names one."""

    def run(self) -> None:
        super().run()
        if (site := os.environ.get("KRAFTOOL_SITE")) and not self.editable_mode:
            address = Path(self.build_lib, "kraftool", "commands", "site.txt")
            address.write_text(f"{site.rstrip('/')}\n", encoding="utf-8")


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
    rust_extensions=extensions(),
    cmdclass={"bdist_wheel": BdistWheel, "build_py": BuildPy},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
