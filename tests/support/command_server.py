"""Runs kraftool's commands in processes of their own, without the imports of each start.

A start of Python with kraftool's modules takes most CPU of a short command. `run` has a process
with these modules loaded, which no thread or command has ever touched, fork a child for each
command. The child runs `python -m kraftool` from there on: its own arguments, folder, standard
streams and end. What a start imports, and that it can, is for tests/commands/test_start.py and
for the tests that start a process themselves.

The modules read settings from the environment when they are imported. So a caller whose
environment has changed gets a process from scratch, except for variables that no module reads.
"""

from __future__ import annotations

import atexit
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from tests.support.places import ROOT

_TOO_BIG = ("kraftool.spark", "kraftool.tui", "kraftool.commands.generated")
"""What few commands import, and what takes long to load."""
_CHANGES = ("PYTEST_CURRENT_TEST", "SPARK_CONF_DIR")
"""Variables that kraftool's modules do not read. The first is different in each test. The second
changes at a worker's first test with Spark, whose programs read it: a child gets today's value."""


def run(
    *arguments: object, cwd: Path = ROOT, timeout: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run kraftool in a process of its own; stdin is empty."""
    words = [*map(str, arguments)]
    server = _server()
    if server is None or server.environment != _environment():
        return subprocess.run(
            [sys.executable, "-m", "kraftool", *words],
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
    return server.run(words, cwd, timeout)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _CHANGES}


def _changing() -> dict[str, str]:
    return {name: os.environ[name] for name in _CHANGES if name in os.environ}


@functools.cache
def _server() -> _Server | None:
    """The one of this process. Only Linux and its like can fork a child safely."""
    return _Server() if sys.platform == "linux" else None


class _Server:
    """The process that forks, from outside."""

    def __init__(self) -> None:
        self.environment = _environment()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "tests.support.command_server", str(theirs.fileno())],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._lock = threading.Lock()
        atexit.register(self._close)

    def _close(self) -> None:
        self._socket.close()
        self._popen.wait()

    def run(
        self, words: list[str], cwd: Path, timeout: float | None
    ) -> subprocess.CompletedProcess[bytes]:
        out, their_out = os.pipe()
        err, their_err = os.pipe()
        status, their_status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        request = {"words": words, "cwd": str(cwd), "environment": _changing()}
        question = json.dumps(request).encode()
        fds = (their_out, their_err, their_status.fileno())
        try:
            with self._lock:
                socket.send_fds(self._socket, [question], fds)
        finally:
            os.close(their_out)
            os.close(their_err)
            their_status.close()
        with status, open(out, "rb") as stdout, open(err, "rb") as stderr:
            status.settimeout(timeout)
            pid = int(_received(status))
            killer = None if timeout is None else threading.Timer(timeout, os.kill, (pid, 9))
            if killer is not None:
                killer.start()
            shown = _read_both(stdout.fileno(), stderr.fileno())
            status.settimeout(None)
            code = int(_received(status))
            if killer is not None:
                killer.cancel()
                if code == -signal.SIGKILL:
                    raise subprocess.TimeoutExpired(words, timeout or 0, *shown)
        return subprocess.CompletedProcess(["kraftool", *words], code, *shown)


def _received(status: socket.socket) -> bytes:
    data = status.recv(64)
    if not data:
        raise AssertionError("the process that runs kraftool's commands has ended")
    return data


def _read_both(stdout: int, stderr: int) -> tuple[bytes, bytes]:
    """Everything that is written to two pipes, until both are closed."""
    shown: dict[int, list[bytes]] = {stdout: [], stderr: []}
    with selectors.DefaultSelector() as selector:
        for fd in shown:
            selector.register(fd, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, 1 << 16)
                if data:
                    shown[key.fd].append(data)
                else:
                    selector.unregister(key.fd)
    return b"".join(shown[stdout]), b"".join(shown[stderr])


# --- in the process that forks ------------------------------------------------------------------


def _load() -> None:
    """Import what commands import, in this one thread."""
    packages = [importlib.import_module("kraftool")]
    while packages:
        package = packages.pop()
        for module_info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if module_info.name.startswith(_TOO_BIG) or module_info.name.endswith(".__main__"):
                continue
            module = importlib.import_module(module_info.name)
            if module_info.ispkg:
                packages.append(module)
    gc.collect()
    gc.freeze()  # a child's collector does not copy the pages of these objects


def _serve(requests: socket.socket) -> list[str]:
    """Fork until the caller is gone; return in each child, with the arguments of its command."""
    waiting: dict[int, socket.socket] = {}
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno())
    with selectors.DefaultSelector() as selector:
        selector.register(requests, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is wake:
                    wake.recv(4096)
                    _report_ends(waiting)
                    continue
                data, fds, _, _ = socket.recv_fds(requests, 1 << 20, 3)
                if not data:
                    os._exit(0)
                question = json.loads(data)
                out, err, status = fds
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    os.dup2(out, 1)
                    os.dup2(err, 2)
                    os.closerange(3, max(out, err, status, *_open_fds()) + 1)
                    os.chdir(question["cwd"])
                    os.environ.update(question["environment"])
                    return list(question["words"])
                os.close(out)
                os.close(err)
                waiting[pid] = socket.socket(fileno=status)
                waiting[pid].send(str(pid).encode())


def _open_fds() -> list[int]:
    return [int(name) for name in os.listdir("/proc/self/fd")]


def _report_ends(waiting: dict[int, socket.socket]) -> None:
    while waiting:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with waiting.pop(pid) as caller:
            caller.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(words: Sequence[str]) -> NoReturn:
    """Go on as `python -m kraftool` with these arguments, to its end."""
    sys.argv[1:] = words
    code: object = 0
    try:
        runpy.run_module("kraftool", run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        code = ending.code or 0
    if not isinstance(code, int):  # it has a text for stderr
        raise SystemExit(code)
    for thread in threading.enumerate():  # Python's end waits for them, too
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # without taking every module apart, which is half of the CPU


if __name__ == "__main__":
    _load()
    _become(_serve(socket.socket(fileno=int(sys.argv[1]))))
