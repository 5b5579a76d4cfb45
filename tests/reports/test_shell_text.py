"""Commands to run next: words as a shell takes them, and places that Kafka does not look at."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kraftool.reports.text import shell_text

BASH = shutil.which("bash")


@pytest.mark.skipif(BASH is None, reason="$'…' is tried with bash")
@pytest.mark.parametrize(
    "word",
    [
        b"plain",
        b"two words",
        b"",
        b"it's",
        b"$(id)",
        b"back\\slash",
        b"bad\xff.log",
        b"\x1b[31m'\\",
        b"a\nb\\c'd",
        "é\u202eü".encode(),
    ],
)
def test_a_shell_reads_back_every_word(word: bytes) -> None:
    line = shell_text.line("printf", "%s", os.fsdecode(word))
    assert line.isprintable()
    done = subprocess.run(
        [str(BASH), "-c", line], capture_output=True, check=True, env={"LC_ALL": "C"}
    )
    assert done.stdout == word


@pytest.mark.parametrize(
    "given", ["data", "data/", "data/__cluster_metadata-0", "data/__cluster_metadata-0/"]
)
def test_a_copy_goes_beside_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    target = shell_text.keep_copy(given).split()[-1]
    assert (tmp_path / target) == tmp_path / "data.copy"


def test_a_copy_of_the_folder_one_is_in_goes_beside_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "data/__cluster_metadata-0"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert shell_text.keep_copy(".") == f"cp -a . {tmp_path / 'data.copy'}"
    assert shell_text.aside("quorum-state") == f"mv quorum-state {tmp_path / 'data.quorum-state'}"
