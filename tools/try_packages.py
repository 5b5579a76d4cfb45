#!/usr/bin/env python3
"""Installs each package of dist/ on a host of its own, as a new user would, and uses it there.

    tools/try_packages.py DIST [NAME...]    such as: tools/try_packages.py dist image

The hosts are folders that mmdebstrap fills with Debian: the wheel gets one with Python, the others
one without, and none has a compiler. Owns what a package has to be able to do: read a directory
and repair a copy of it without a network, and watch a quorum with one. Prints what each costs. It
needs root.
"""

from __future__ import annotations

import fcntl
import os
import platform
import pty
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIRECTORY = ROOT / "fixtures/kafka-4.3.0/dynamic-quorum/node-2/data"
TOOLS = Path(os.environ.get("TOOLS", ROOT / ".venv-packages/bin"))
USER = 65532
_MACHINE = platform.machine()
_DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}[_MACHINE]
_FINE = (0, 1)
"""Exit codes of a command that judges: 1 is a finding."""
_ROUNDS = 10
_WAIT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of package: its file in dist/, the script that makes it, and a host that it fits."""

    name: str
    file: str
    made_by: str
    host: str
    install: Callable[[Path, Path], None]
    user: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A folder with a Debian, in which commands run as on a host of their own."""

    kind: Kind
    package: Path
    folder: Path

    def run(self, *words: str, network: bool = False, codes: Sequence[int] = (0,)) -> str:
        done = subprocess.run(
            self.command(*words, network=network),
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": "/"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in codes:
            shown = " ".join(words)
            sys.exit(f"{self.kind.name}: {shown}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def command(self, *words: str, network: bool) -> list[str]:
        """Without a network a host still has its loopback, as a rehearsal needs."""
        apart = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.folder / 'proc'}"]
        if not network:
            apart += ["--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
        return [
            *apart,
            "chroot",
            f"--userspec={self.kind.user}:{self.kind.user}",
            str(self.folder),
            *words,
        ]


def debian(target: Path, *include: str) -> None:
    suite = os.environ.get("SUITE", platform.freedesktop_os_release()["VERSION_CODENAME"])
    words = ["--quiet", "--variant=apt", *(f"--include={name}" for name in include)]
    subprocess.run(["mmdebstrap", *words, suite, str(target)], check=True)


HOSTS: dict[str, tuple[str, ...]] = {"bare": (), "python": ("python3-venv",)}
"""What each kind of host has in addition to Debian with apt."""


def install_wheel(package: Path, folder: Path) -> None:
    """Install without a network, from a folder of wheels, as docs/install.md says."""
    wheels = folder / "wheels"
    pip = [str(TOOLS / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    needs = str(ROOT / "packaging/runtime.txt")
    subprocess.run(
        [*pip, "download", "--require-hashes", "--requirement", needs, "--dest", str(wheels)],
        check=True,
    )
    shutil.copy(package, wheels)
    _chroot(folder, "python3", "-m", "venv", "/opt/kraftool")
    words = ("--quiet", "--no-index", "--find-links", "/wheels", "kraftool")
    _chroot(folder, "/opt/kraftool/bin/pip", "install", *words)
    _chroot(folder, "ln", "-s", "/opt/kraftool/bin/kraftool", "/usr/bin/kraftool")


def install_file(package: Path, folder: Path) -> None:
    shutil.copy(package, folder / "usr/bin/kraftool")


def install_debian_package(package: Path, folder: Path) -> None:
    shutil.copy(package, folder)
    _chroot(
        folder,
        "apt-get",
        "install",
        "--quiet",
        "--yes",
        "--no-install-recommends",
        f"/{package.name}",
    )
    _chroot(folder, "test", "-e", "/usr/share/man/man1/kraftool-dump.1.gz")
    _chroot(folder, "test", "-e", "/usr/share/bash-completion/completions/kraftool")


def install_image(package: Path, folder: Path) -> None:
    """Unpack the image by umoci, which refuses a layout that is not one."""
    layout = folder / "layout"
    subprocess.run(
        ["skopeo", "copy", "--quiet", f"oci-archive:{package}", f"oci:{layout}:kraftool"],
        check=True,
    )
    bundle = folder / "bundle"
    subprocess.run(
        ["umoci", "unpack", "--image", f"{layout}:kraftool", str(bundle)],
        check=True,
        capture_output=True,
    )
    for path in (bundle / "rootfs").iterdir():
        path.rename(folder / path.name)
    for device in ("null", "random", "urandom", "zero"):  # every container has them
        subprocess.run(["cp", "-a", f"/dev/{device}", str(folder / "dev")], check=True)


def _chroot(folder: Path, *words: str) -> None:
    done = subprocess.run(
        ["unshare", "--net", "chroot", str(folder), *words],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")


KINDS = (
    Kind(
        name="wheel",
        file=f"kraftool-*-manylinux_2_28_{_MACHINE}.whl",
        made_by="packaging/wheels.sh",
        host="python",
        install=install_wheel,
    ),
    Kind(
        name="one file",
        file=f"kraftool-*-linux-{_MACHINE}",
        made_by="packaging/program.sh",
        host="bare",
        install=install_file,
    ),
    Kind(
        name="Debian package",
        file=f"kraftool_*_{_DEBIAN}.deb",
        made_by="packaging/deb.sh",
        host="bare",
        install=install_debian_package,
    ),
    Kind(
        name="image",
        file=f"kraftool-*-image-{_DEBIAN}.tar",
        made_by="packaging/image.sh",
        host="",
        install=install_image,
        user=USER,
    ),
)


def use_offline(host: Host) -> None:
    """Read a directory, and recover a quorum of which it is the last one."""
    data = "/node/data"
    version = host.run("kraftool", "--version")
    if not version.endswith("(native)\n"):
        sys.exit(f"{host.kind.name}: {version}")
    for words in (("dump", data), ("doctor", data), ("watch", "--once", data)):
        if "node 2" not in (shown := host.run("kraftool", *words, codes=_FINE)):
            sys.exit(f"{host.kind.name}: {' '.join(words)} does not name the node\n{shown}")
    host.run("kraftool", "recover", "collect", data, "--out", "/node/2.collect")
    collected = ("/node/2.collect", "--set", "lost=3,4", "--out", "/node/plan.yaml")
    host.run("kraftool", "recover", "plan", *collected, codes=_FINE)
    plan = (host.folder / "node/plan.yaml").read_text()
    plan_id = plan.partition("\n")[0].removeprefix("id: ")
    words = ("/node/plan.yaml", "--dir", data)
    host.run("kraftool", "recover", "rehearse", *words)
    host.run("kraftool", "recover", "apply", *words, "--yes", plan_id)
    host.run("kraftool", "recover", "verify", *words, codes=_FINE)
    host.run("kraftool", "recover", "undo", *words, "--yes", plan_id)


@contextmanager
def quorum(host: Host) -> Iterator[str]:
    """A controller that the package runs, on a port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    words = ("kraftool", "node", "standalone", "/node/controller", "--listen", address)
    process = subprocess.Popen(
        host.command(*words, network=True),
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield address
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def use_online(host: Host) -> None:
    with quorum(host) as address:
        words = ("kraftool", "watch", "--once", "--bootstrap-controller", address, "-o", "json")
        end = time.monotonic() + _WAIT_S
        while '"leaderId": 1' not in (shown := host.run(*words, network=True, codes=(0, 1, 3, 4))):
            if time.monotonic() > end:
                sys.exit(f"{host.kind.name}: the quorum has no leader\n{shown}")


def use_dashboard(host: Host) -> None:
    """Open the dashboard until doctor, which works in a process of its own, has examined."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    process = subprocess.Popen(
        host.command("kraftool", "watch", "/node/data", network=False),
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    shown, end = b"", time.monotonic() + _WAIT_S
    while b"1 error" not in shown:
        if select.select([screen], [], [], 0.1)[0]:
            shown += os.read(screen, 65536)
        if time.monotonic() > end:
            sys.exit(f"{host.kind.name}: the dashboard has no result of doctor\n{shown!r}")
    os.write(screen, b"q")
    if process.wait(_WAIT_S):
        sys.exit(f"{host.kind.name}: the dashboard ended with {process.returncode}")
    os.close(screen)
    os.close(terminal)


def start_cost(hosts: Sequence[Host], *words: str) -> list[float]:
    """CPU seconds of a command on each host: the median of rounds in which each has its turn."""
    spent: list[list[float]] = [[] for _ in hosts]
    for _ in range(_ROUNDS):
        for seconds, host in zip(spent, hosts, strict=True):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            host.run("kraftool", *words, codes=_FINE)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            user = after.ru_utime - before.ru_utime
            seconds.append(user + after.ru_stime - before.ru_stime)
    return [sorted(seconds)[len(seconds) // 2] for seconds in spent]


def main(dist: Path, *names: str) -> int:
    with tempfile.TemporaryDirectory(prefix="kraftool-hosts-") as place:
        kinds = [kind for kind in KINDS if kind.name in names or not names]
        for name in {kind.host for kind in kinds if kind.host}:
            debian(Path(place, f"{name}.tar"), *HOSTS[name])
        hosts = []
        for kind in kinds:
            (package,) = dist.glob(kind.file)
            folder = Path(place, kind.name.replace(" ", "-"))
            folder.mkdir()
            if kind.host:
                archive = Path(place, f"{kind.host}.tar")
                subprocess.run(["tar", "-C", folder, "-xf", archive], check=True)
            kind.install(package, folder)
            (folder / "proc").mkdir(exist_ok=True)
            shutil.copytree(DIRECTORY, folder / "node/data")
            subprocess.run(["chown", "-R", f"{kind.user}:{kind.user}", folder / "node"], check=True)
            host = Host(kind=kind, package=package, folder=folder)
            use_dashboard(host)
            use_offline(host)
            use_online(host)
            print(f"{kind.name}: tried without and with a network", flush=True)
            hosts.append(host)
        starts = start_cost(hosts, "--version")
        dumps = start_cost(hosts, "dump", "/node/data")
    print("| package | file | MB | --version, CPU s | dump, CPU s | made by |")
    print("|---|---|---|---|---|---|")
    for host, start, dump in zip(hosts, starts, dumps, strict=True):
        size = host.package.stat().st_size / 1e6
        cells = (host.kind.name, host.package.name, f"{size:.1f}", f"{start:.2f}", f"{dump:.2f}")
        print(f"| {' | '.join(cells)} | {host.kind.made_by} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
