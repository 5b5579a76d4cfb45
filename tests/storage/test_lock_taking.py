"""The directory's lock: one process at a time, as Kafka takes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.entry import Entry
from kraftool.storage.lock import Lock, LockState, lock_holder, program_of
from kraftool.storage.lock_taking import DirectoryLock
from kraftool.storage.paths import open_path
from tests.storage.metadata_logs import opened

ASK = "import sys; from kraftool.storage.lock import lock_holder; \
print(lock_holder(sys.argv[1]).state)"
TAKE = "import sys; from kraftool.storage.lock_taking import DirectoryLock; \
DirectoryLock(sys.argv[1]); print('taken')"


def elsewhere(code: str, directory: Path) -> subprocess.CompletedProcess[str]:
    """Run it in a process of its own."""
    command = [sys.executable, "-c", code, str(directory)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_others_see_it_held_and_cannot_take_it(tmp_path: Path) -> None:
    with DirectoryLock(str(tmp_path)) as lock:
        assert lock.is_held
        assert elsewhere(ASK, tmp_path).stdout.strip() == LockState.HELD
        refused = elsewhere(TAKE, tmp_path)
        assert "is in use: another process holds its lock" in refused.stderr
    assert not lock.is_held
    assert elsewhere(TAKE, tmp_path).stdout.strip() == "taken"
    assert lock_holder(str(tmp_path)).state is LockState.FREE
    assert (tmp_path / ".lock").read_bytes() == b""


def test_the_same_process_cannot_take_it_twice(tmp_path: Path) -> None:
    """The system would allow it, and drop both with the first that is released."""
    lock = DirectoryLock(str(tmp_path))
    for _ in range(2):
        with pytest.raises(KraftoolError, match="this process"):
            DirectoryLock(str(tmp_path))
        assert lock_holder(str(tmp_path)) == Lock(LockState.HELD, os.getpid())
    assert elsewhere(ASK, tmp_path).stdout.strip() == LockState.HELD
    lock.release()
    lock.release()
    DirectoryLock(str(tmp_path)).release()


def test_a_directory_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(KraftoolError, match="cannot be opened: No such file"):
        DirectoryLock(str(tmp_path / "nowhere"))


def test_an_open_log_holds_it_until_it_is_closed(tmp_path: Path) -> None:
    log = opened(tmp_path)
    assert elsewhere(ASK, tmp_path).stdout.strip() == LockState.HELD
    log.close()
    assert elsewhere(ASK, tmp_path).stdout.strip() == LockState.FREE
    with DirectoryLock(str(tmp_path)):
        log.close()  # does nothing, as it is closed
        assert elsewhere(ASK, tmp_path).stdout.strip() == LockState.HELD


@pytest.mark.parametrize(
    ("words", "program"),
    [
        (("java", "-cp", "x.jar", "kafka.Kafka", "server.properties"), "Kafka"),
        (("kraftool", "node", "run"), "kraftool"),
        (("cat", "kafka.Kafka.txt"), ""),
    ],
)
def test_who_holds_a_lock_is_told_by_its_command_line(words: tuple[str, ...], program: str) -> None:
    """A process that waits, with the words of another one."""
    code = "import sys; print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        holder = Lock(LockState.HELD, running.pid).holder
        assert program_of(running.pid) == program
        assert holder == f"{program or 'Kafka or kraftool'} as process {running.pid}"
        running.kill()


def test_reading_the_directory_does_not_give_it_back(tmp_path: Path) -> None:
    """POSIX drops a lock when its process closes any descriptor of the file."""
    opened(tmp_path).close()
    with DirectoryLock(str(tmp_path)):
        entries = [
            entry for entry in open_path(str(tmp_path)).entries() if isinstance(entry, Entry)
        ]
        assert ".lock" in {entry.basename for entry in entries}
        for entry in entries:
            with entry.open() as source:
                source.read_at(0, 100)
        assert elsewhere(ASK, tmp_path).stdout.strip() == LockState.HELD
