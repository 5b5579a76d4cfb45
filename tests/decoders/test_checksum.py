"""The checksum is that of the package crc32c, however it was loaded."""

from __future__ import annotations

import subprocess
import sys

import crc32c as package

from kraftool.decoders.checksum import crc32c, load

CHECK = b"123456789"
"""RFC 3720 has the value for these bytes."""


def test_it_is_crc_32c() -> None:
    assert crc32c(CHECK) == 0xE3069283
    assert crc32c(CHECK[4:], crc32c(CHECK[:4])) == crc32c(CHECK)
    assert crc32c(memoryview(CHECK)) == package.crc32c(CHECK)


def _says(lines: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_the_package_around_it_is_not_imported() -> None:
    lines = "import kraftool.decoders.checksum, sys; print('email' in sys.modules)"
    assert _says(lines) == "False"


def test_where_the_compiled_module_is_not_found_the_package_is_imported() -> None:
    assert load("crc32c._no_such_module") is package.crc32c
