"""The checksum is that of the package crc32c, however it was loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import crc32c as package
import pytest

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


@pytest.mark.parametrize(
    "files",
    [
        {"crc32c.py": "def crc32c(data, value=0): return 7"},
        {"crc32c/__init__.py": "def crc32c(data, value=0): return 7"},
        {
            "crc32c/__init__.py": "from ._other import crc32c",
            "crc32c/_other.py": "def crc32c(data, value=0): return 7",
            "crc32c/_crc32c.py": "",
        },
    ],
    ids=["a module", "no compiled module", "the function elsewhere"],
)
def test_a_package_of_another_layout_is_imported_whole(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "crc32c")
    assert load()(CHECK) == 7
    monkeypatch.delitem(sys.modules, "crc32c")


def test_a_machine_without_the_package_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, "crc32c")
    with pytest.raises(ModuleNotFoundError, match="crc32c"):
        load()
