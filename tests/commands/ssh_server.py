"""An SSH server on this machine, for the real ssh client. The user is how a host behaves."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from tests.support.server_thread import in_thread

_TOOLS = ("sh", "sed", "grep", "ls", "sort", "tail", "dirname", "cat")


@dataclass
class Hosts:
    """The folder with ssh's config, and the port of the server."""

    folder: Path
    port: int

    def program(self) -> Path:
        """A folder with an `ssh` that uses this config, and no file of the user's own; and with a
        `sudo` for the hosts."""
        config = self.folder / "config"
        key, known = self.folder / "key", self.folder / "known"
        config.write_text(
            f"Host down\n Port 1\nHost stranger\n UserKnownHostsFile /dev/null\n"
            f"Host * !nokey\n IdentityFile {key}\nHost nokey\n IdentityFile {self.folder}/none\n"
            f"Host *\n HostName 127.0.0.1\n Port {self.port}\n"
            f" IdentitiesOnly yes\n IdentityAgent none\n UserKnownHostsFile {known}\n"
            " GlobalKnownHostsFile /dev/null\n"
        )
        folder = self.folder / "bin"
        folder.mkdir()
        ssh = folder / "ssh"
        # ssh_config cannot take the user from the name of the host.
        ssh.write_text(
            "#!/bin/sh\n"
            "for each do case $prior in --) name=$each ;; esac; prior=$each; done\n"
            f'exec {shutil.which("ssh")} -F {config} -l "$name" "$@"\n'
        )
        sudo = folder / "sudo"
        sudo.write_text(
            '#!/bin/sh\nwhile :; do case $1 in -*) shift ;; *) exec "$@" ;; esac; done\n'
        )
        for path in (ssh, sudo):
            path.chmod(0o755)
        return folder


class _Server(asyncssh.SSHServer):
    """Shows a banner before the login, as many companies do: ssh prints it on stderr."""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._conn = conn

    def begin_auth(self, username: str) -> bool:
        self._conn.send_auth_banner("Authorised use only\n")
        return True


@contextmanager
def ssh_hosts(folder: Path) -> Iterator[Hosts]:
    """Run the server in a thread, for every host name."""
    host_key, key = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    key.write_private_key(folder / "key")
    (folder / "key").chmod(0o600)
    (folder / "authorized").write_bytes(key.export_public_key())
    tools = folder / "tools"
    tools.mkdir()
    for tool in _TOOLS:
        program = shutil.which(tool)
        assert program, tool
        (tools / tool).symlink_to(program)
    home = folder / "home"
    home.mkdir()
    grows = folder / "grows"
    grows.mkdir()
    (grows / "tar").write_text(
        f'#!/bin/sh\n{shutil.which("tar")} "$@"\necho >>"$DATA/meta.properties"\n'
    )
    (grows / "tar").chmod(0o755)

    async def pump(source: asyncio.StreamReader, target: asyncssh.SSHWriter[bytes]) -> None:
        while data := await source.read(1 << 16):
            target.write(data)
            await target.drain()

    async def feed(source: asyncssh.SSHReader[bytes], target: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncssh.Error):
            while data := await source.read(1 << 16):
                target.write(data)
                await target.drain()
            target.close()

    async def run(process: asyncssh.SSHServerProcess[bytes]) -> None:
        user = process.get_extra_info("username")
        command = process.command or ""
        env = dict(os.environ)
        match user:
            case "hangs":
                command = "exec sleep 600"
            case "notar":
                env["PATH"] = str(tools)
            case "noisy":
                command = f"echo welcome; echo 'not a reason' >&2; {command}"
            case "grows":
                env["PATH"] = f"{grows}:{env['PATH']}"
                env["DATA"] = (folder / "growing").read_text()
            case "cut":
                command = f"{command} | head -c 3000"
            case "slow":
                few = "dd bs=1000 count=1 2>/dev/null; n=$((n + 1)); sleep 0.06"
                command = f"{command} | (n=0; while [ $n -lt 60 ]; do {few}; done)"
        child = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", command, env=env,
            cwd=home, stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert child.stdin
        assert child.stdout
        assert child.stderr
        feeding = asyncio.ensure_future(feed(process.stdin, child.stdin))
        try:
            await asyncio.gather(
                pump(child.stdout, process.stdout), pump(child.stderr, process.stderr)
            )
            process.exit(await child.wait())
        except (OSError, asyncssh.Error):
            """The client went away."""
        finally:
            feeding.cancel()
            if child.returncode is None:
                child.kill()
                await child.communicate()  # its pipes are closed by that

    async def begin() -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            "127.0.0.1", 0, server_host_keys=[host_key], encoding=None, process_factory=run,
            server_factory=_Server,
            authorized_client_keys=str(folder / "authorized"),
        )  # fmt: skip

    with in_thread(begin) as server:
        port = server.get_port()
        public = host_key.export_public_key().decode().strip()
        (folder / "known").write_text(f"[127.0.0.1]:{port} {public}\n")
        yield Hosts(folder, port)
