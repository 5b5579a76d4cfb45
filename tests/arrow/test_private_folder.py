"""Temporary folders: private, removed, and swept where a process was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kraftool.arrow.private_folder import private_folder


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def _aged(folder: Path) -> Path:
    long_ago = time.time() - 3600
    os.utime(folder, (long_ago, long_ago))
    return folder


def test_a_folder_is_private_and_gone_in_the_end(room: Path) -> None:
    with private_folder("kraftool-test-") as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "file").write_text("x")
    assert list(room.iterdir()) == []


def test_what_a_killed_process_left_is_removed_by_the_next(room: Path) -> None:
    code = (
        "import sys, time, tempfile; tempfile.tempdir = sys.argv[1]\n"
        "from kraftool.arrow.private_folder import private_folder\n"
        "with private_folder('kraftool-test-') as folder:\n"
        "    (folder / 'file').write_text('x')\n"
        "    (folder / 'link').symlink_to(sys.argv[2])\n"
        "    print(folder, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    package = room / "package"  # as the links for the workers of this machine lead to one
    package.mkdir()
    (package / "module").touch()
    with subprocess.Popen(
        [sys.executable, "-c", code, str(room), str(package)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        left = _aged(Path(process.stdout.readline().strip()))
        with private_folder("kraftool-test-"):
            assert (left / "file").exists()  # its process lives
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (left / "file").exists()
    with private_folder("kraftool-test-"):
        assert not left.exists()
    assert (package / "module").exists()


def test_what_is_young_or_of_another_name_or_a_link_is_left_alone(room: Path) -> None:
    young = room / "kraftool-test-young"
    young.mkdir()
    other = _aged_folder(room / "kraftool-other")
    target = _aged_folder(room / "target")
    (room / "kraftool-test-link").symlink_to(target)
    with private_folder("kraftool-test-"):
        pass
    assert young.is_dir()
    assert other.is_dir()
    assert target.is_dir()


def _aged_folder(path: Path) -> Path:
    path.mkdir()
    return _aged(path)
