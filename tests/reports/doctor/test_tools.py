"""Commands to run next: words as a shell takes them, and places that Kafka does not look at."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kraftool.reports.doctor import tools


@pytest.mark.parametrize(
    "word",
    ["plain", "a b", "it's", "$(id)", "back\\slash", "a\nb", "\x1b[31m'\\", "数\u202e据", ""],
)
def test_a_shell_reads_back_every_word(word: str) -> None:
    told = tools.line("printf", "%s", word)
    assert told.isprintable()
    ran = subprocess.run(["bash", "-c", told], capture_output=True, check=True)
    assert ran.stdout.decode() == word


@pytest.mark.parametrize(
    "given", ["data", "data/", "data/__cluster_metadata-0", "data/__cluster_metadata-0/"]
)
def test_a_copy_goes_beside_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    target = tools.keep_copy(given).split()[-1]
    assert (tmp_path / target) == tmp_path / "data.copy"


def test_a_copy_of_the_folder_one_is_in_goes_beside_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "data/__cluster_metadata-0"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    assert tools.keep_copy(".") == f"cp -a . {tmp_path / 'data.copy'}"
    assert tools.aside("quorum-state") == f"mv quorum-state {tmp_path / 'data.quorum-state'}"
