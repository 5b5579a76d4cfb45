"""The nodes behind `--ssh` and `--kubectl`, each with the command that reads it.

Owns the command lines of ssh and kubectl. No shell interprets anything on this machine, and the
path is quoted for the remote shell. ssh never asks a question: where it would, it exits.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kraftool.commands.remote_script import remote_command
from kraftool.decoders.errors import KraftoolError
from kraftool.reports.text.printable import printable

_SSH_OPTIONS = (
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=15",
    # What a host has in ssh_config for people's logins.
    "RequestTTY=no",
    "RemoteCommand=none",
    "ClearAllForwardings=yes",
)
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteNode:
    """A node, and the command that sends its head and tar stream."""

    name: str
    command: tuple[str, ...]


def ssh_nodes(hosts: str, path: str, *, sudo: bool = False) -> tuple[RemoteNode, ...]:
    """HOST,HOST:/PATH,… as nodes."""
    nodes = []
    for host in hosts.split(","):
        name, colon, own = host.strip().partition(":/")
        if not name or name.startswith("-"):
            raise KraftoolError(
                f"{printable(host)!r} is not a host", hint="name HOST or HOST:/PATH"
            )
        if not colon and not path:
            raise KraftoolError(
                f"no path for {printable(name)}", hint="name PATH for all hosts, or HOST:/PATH"
            )
        remote = shlex.join(remote_command(f"/{own}" if colon else path, sudo=sudo))
        options = (word for ssh_option in _SSH_OPTIONS for word in ("-o", ssh_option))
        nodes.append(RemoteNode(name=name, command=("ssh", *options, "--", name, remote)))
    return tuple(nodes)


def pod_nodes(
    selector: str, path: str, *, namespace: str = "", container: str = "", seconds: float
) -> tuple[RemoteNode, ...]:
    """The pods of a selector as nodes; of each the container that is named, or its default."""
    where = (f"--namespace={namespace}",) if namespace else ()
    command = ("kubectl", "get", "pods", *where, f"--selector={selector}", "-o", "json")
    try:
        ran = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except OSError as error:
        raise KraftoolError(f"kubectl cannot be run: {error.strerror or error}") from None
    except subprocess.TimeoutExpired:
        raise KraftoolError(
            f"kubectl get pods did not answer within {seconds:g} s", hint="check kubectl config"
        ) from None
    if ran.returncode:
        error_lines = ran.stderr.decode("utf-8", "replace").strip().splitlines() or ["it failed"]
        raise KraftoolError(f"kubectl get pods: {error_lines[-1]}")
    try:
        pods = [
            (load["metadata"]["name"], container or _default_container(load))
            for load in json.loads(ran.stdout)["items"]
        ]
    except (ValueError, KeyError, IndexError, TypeError):
        raise KraftoolError("kubectl get pods: its JSON lists no pods") from None
    if not pods:
        raise KraftoolError(
            f"no pod has the labels {selector}", hint="check --kubectl and --namespace"
        )
    return tuple(
        RemoteNode(
            name=pod,
            command=("kubectl", "exec", *where, pod, "-c", chosen, "--", *remote_command(path)),
        )
        for pod, chosen in pods
    )


def _default_container(pod: Mapping[str, Any]) -> str:
    """The container that kubectl takes if none is named."""
    named = (pod["metadata"].get("annotations") or {}).get(_DEFAULT_CONTAINER)
    return str(named or pod["spec"]["containers"][0]["name"])
