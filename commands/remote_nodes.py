"""The nodes behind `--ssh` and `--kubectl`, each with the command that reads it.

Owns the command lines of ssh and kubectl. No shell interprets anything on this machine, and the
path is quoted for the remote shell. A name of a host, pod, namespace or container is never taken
for an option. ssh never asks a question: where it would, it exits.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from kraftool.commands.remote_script import BundleWish, remote_command
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
_LOG_LINES = 20_000
"""Lines that kubectl logs prints: it knows no number of bytes from the end."""
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,238}[a-z0-9])?\Z")
"""Kubernetes' names of pods, namespaces and containers, as far as a file can have them."""
_HOST = re.compile(r"([^-\s\0][^\s\0]*@)?[^-\s\0@][^\s\0@]*\Z")
"""HOST or USER@HOST."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteNode:
    """A node, and the command that sends its head and tar stream."""

    name: str
    command: tuple[str, ...] = ()
    context: str = ""
    """kubectl's; empty for a host, and in a pod, where kubectl has no context."""
    namespace: str = ""
    """Of a pod."""
    problem: str = ""
    """Why there is no command."""
    is_for_bundle: bool = False
    log_command: tuple[str, ...] = ()
    """The command that prints what a pod's container has logged."""

    @property
    def origin(self) -> str:
        """The pod and where it is, for a plan; empty for a host, which the collect file names."""
        if not self.namespace and not self.context:
            return ""
        words = [f"pod {self.name}"]
        words += [f"namespace {self.namespace}"] if self.namespace else []
        words += [f"kubectl context {printable(self.context)}"] if self.context else []
        return ", ".join(words)


def local_nodes(paths: Sequence[str], bundle: BundleWish) -> tuple[RemoteNode, ...]:
    """Directories of this host as nodes."""
    return tuple(
        RemoteNode(name=path, command=remote_command(path, bundle=bundle), is_for_bundle=True)
        for path in dict.fromkeys(paths)
    )


def ssh_nodes(
    hosts: str, path: str, *, sudo: bool = False, bundle: BundleWish | None = None
) -> tuple[RemoteNode, ...]:
    """HOST,HOST:/PATH,… as nodes."""
    nodes = []
    for host in hosts.split(","):
        name, colon, own = host.strip().partition(":/")
        if _HOST.match(name) is None:
            raise KraftoolError(
                f"{printable(host)!r} is not a host", hint="name HOST or HOST:/PATH"
            )
        if not colon and not path:
            raise KraftoolError(
                f"no path for {printable(name)}", hint="name PATH for all hosts, or HOST:/PATH"
            )
        there = f"/{own}" if colon else path
        remote = shlex.join(remote_command(there, sudo=sudo, bundle=bundle))
        options = (word for ssh_option in _SSH_OPTIONS for word in ("-o", ssh_option))
        command = ("ssh", *options, "--", name, remote)
        nodes.append(RemoteNode(name=name, command=command, is_for_bundle=bundle is not None))
    return tuple(nodes)


def pod_nodes(
    selector: str,
    path: str,
    *,
    namespace: str = "",
    container: str = "",
    seconds: float,
    bundle: BundleWish | None = None,
) -> tuple[RemoteNode, ...]:
    """The pods of a selector as nodes; of each the container that is named, or its default.

    The context is asked for once and then named in each command, so that another one that is chosen
    meanwhile changes nothing.
    """
    for kind, name in (("namespace", namespace), ("container", container)):
        if name and _NAME.match(name) is None:
            raise KraftoolError(f"{printable(name)!r} is not a name of a {kind}")
    ran = _kubectl("config", "current-context", seconds=seconds)
    context = ran.stdout.decode("utf-8", "replace").strip() if not ran.returncode else ""
    where = [f"--context={context}"] if context else []
    chosen = [f"--namespace={namespace}"] if namespace else []
    selection = f"--selector={selector}"
    ran = _kubectl("get", "pods", *where, *chosen, selection, "-o", "json", seconds=seconds)
    if ran.returncode:
        error_lines = ran.stderr.decode("utf-8", "replace").strip().splitlines() or ["it failed"]
        raise KraftoolError(f"kubectl get pods: {error_lines[-1]}")
    try:
        # A number is no name, and Python refuses to convert a very long one.
        text = ran.stdout.decode("utf-8", "replace")
        pods = json.loads(text, parse_int=lambda digits: None)["items"]
    except (ValueError, KeyError, TypeError, RecursionError):
        pods = None
    if not isinstance(pods, list):
        raise KraftoolError("kubectl get pods: its JSON lists no pods")
    if not pods:
        raise KraftoolError(
            f"no pod has the labels {selector}", hint="check --kubectl and --namespace"
        )
    nodes: dict[str, RemoteNode] = {}
    for number, pod in enumerate(pods, 1):
        node = _pod_node(pod, where, path, namespace, container, bundle)
        if node is None or node.name in nodes:
            why = "has no name that a pod can have" if node is None else f"is {node.name} again"
            node = RemoteNode(
                name=f"pod {number} of {len(pods)}", problem=f"kubectl listed a pod that {why}"
            )
        nodes[node.name] = replace(node, context=context)
    return tuple(nodes.values())


def _kubectl(*words: str, seconds: float) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ("kubectl", *words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise KraftoolError(f"kubectl cannot be run: {reason or error}") from None
    except subprocess.TimeoutExpired:
        raise KraftoolError(
            f"kubectl {words[0]} {words[1]} did not answer within {seconds:g} s",
            hint="check kubectl config",
        ) from None


def _pod_node(
    pod: object,
    where: Sequence[str],
    path: str,
    namespace: str,
    container: str,
    bundle: BundleWish | None,
) -> RemoteNode | None:
    """A pod of kubectl's list as a node; None if the list does not name it."""
    name = _at(pod, "metadata", "name")
    if not _is_name(name):
        return None
    own = namespace or _at(pod, "metadata", "namespace") or ""
    containers = _at(pod, "spec", "containers")
    first = containers[0] if isinstance(containers, list) and containers else None
    annotated = _at(pod, "metadata", "annotations", _DEFAULT_CONTAINER)
    # Without a name kubectl takes the annotated container, or the first one.
    chosen = container or annotated or _at(first, "name")
    if not _is_name(chosen) or not (own == "" or _is_name(own)):
        kind = "a container" if own == "" or _is_name(own) else "a namespace"
        return RemoteNode(name=name, problem=f"kubectl listed it without a name of {kind}")
    there = [*where, *([f"--namespace={own}"] if own else [])]
    with_input = ("--stdin",) if bundle is not None else ()
    words = ("kubectl", "exec", *with_input, *there, f"--container={chosen}", name, "--")
    logs = ("kubectl", "logs", *there, f"--container={chosen}", f"--tail={_LOG_LINES}", name)
    return RemoteNode(
        name=name,
        command=(*words, *remote_command(path, bundle=bundle)),
        namespace=own,
        is_for_bundle=bundle is not None,
        log_command=logs,
    )


def _is_name(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and _NAME.match(value) is not None


def _at(value: object, *keys: str) -> Any:
    """The member of an object at a path of keys; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
