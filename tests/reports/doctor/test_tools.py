"""Commands that are told can be copied: a shell reads the words that were meant."""

import os
import shutil
import subprocess

import pytest

from kraftool.reports.doctor.tools import quoted

BASH = shutil.which("bash")


@pytest.mark.skipif(BASH is None, reason="$'…' is tried with bash")
@pytest.mark.parametrize(
    "name",
    [
        b"plain",
        b"two words",
        b"it's",
        b"bad\xff.log",
        b"\x1b[31mred",
        b"a\nb\\c'd",
        "é\u202eü".encode(),
    ],
)
def test_a_shell_reads_the_name_that_was_quoted(name: bytes) -> None:
    word = quoted(os.fsdecode(name))
    assert word.isprintable()
    done = subprocess.run(
        [str(BASH), "-c", f"printf %s {word}"], capture_output=True, check=True, env={"LC_ALL": "C"}
    )
    assert done.stdout == name
