"""The options that lead to nodes elsewhere, for the commands that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from typer import Option

from kraftool.commands.exit_code import UsageError
from kraftool.commands.remote_nodes import RemoteNode, pod_nodes, ssh_nodes
from kraftool.commands.remote_script import BundleWish

SILENCE_S = 60.0


@dataclass(frozen=True, kw_only=True)
class RemoteOptions:
    """The nodes to read, if they are not on this host."""

    ssh: Annotated[
        str, Option("--ssh", metavar="HOST[:/PATH],...", help="Read these hosts with ssh.")
    ] = ""
    sudo: Annotated[bool, Option("--sudo", help="With --ssh: read with sudo -n on the hosts.")] = (
        False
    )
    kubectl: Annotated[
        str, Option("--kubectl", metavar="SELECTOR", help="Read the pods that have these labels.")
    ] = ""
    namespace: Annotated[
        str, Option("--namespace", metavar="NAME", help="Namespace of the pods.")
    ] = ""
    container: Annotated[
        str,
        Option(
            "--container", metavar="NAME", help="Container of the pods (default: kubectl's choice)."
        ),
    ] = ""
    timeout: Annotated[
        float,
        Option(
            "--timeout",
            min=0.1,
            metavar="SECONDS",
            help="Seconds of silence after which a node fails.",
        ),
    ] = SILENCE_S

    @property
    def are_given(self) -> bool:
        return bool(self.ssh or self.kubectl)


def refuse_mixed(options: RemoteOptions, paths: Sequence[str]) -> None:
    """Raise UsageError for options that do not belong together."""
    if not options.ssh and (options.sudo or (options.kubectl and len(paths) != 1)):
        hint = "name one PATH for all pods" if options.kubectl else "give --ssh too"
        raise UsageError("--sudo is for --ssh, and --kubectl takes one PATH", hint=hint)
    if not options.kubectl and (options.namespace or options.container):
        raise UsageError("--namespace and --container are for --kubectl")
    if options.ssh and (options.kubectl or len(paths) > 1):
        raise UsageError("--ssh takes one PATH at most", hint="name HOST:/PATH for others")


def remote_nodes(
    options: RemoteOptions, paths: Sequence[str], bundle: BundleWish | None = None
) -> tuple[RemoteNode, ...]:
    """The nodes that the options name."""
    path = next(iter(paths), "")
    if options.ssh:
        return ssh_nodes(options.ssh, path, sudo=options.sudo, bundle=bundle)
    return pod_nodes(
        options.kubectl,
        path,
        namespace=options.namespace,
        container=options.container,
        seconds=options.timeout,
        bundle=bundle,
    )
