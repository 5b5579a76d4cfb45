"""The options that all commands on a live quorum share, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Option

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.output import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kraftool.client.model import NodeAnswer, QuorumView
    from kraftool.client.target import Target
    from kraftool.raft.names import Endpoint

Bootstrap = Annotated[
    str,
    Option(
        "--bootstrap-controller",
        metavar="HOST:PORT,…",
        help="Controllers to ask first. kraftool finds the others from there.",
    ),
]
CommandConfig = Annotated[
    str,
    Option(
        "--command-config",
        metavar="FILE",
        help="Kafka client properties: security.protocol, ssl.*, sasl.*.",
    ),
]
Timeout = Annotated[
    float,
    Option("--timeout", metavar="SECONDS", min=0.1, help="Seconds to wait for a node."),
]
TIMEOUT_S = 5.0
"""Where none is given."""
Resolve = Annotated[
    list[str] | None,
    Option(
        "--resolve",
        metavar="ID=HOST:PORT",
        help="Address at which this machine reaches a node, such as a port-forward. Repeat it for"
        " more nodes.",
    ),
]
VoterId = Annotated[
    int,
    Option("--controller-id", "-i", metavar="ID", min=0, help="node.id of the voter."),
]
DryRun = Annotated[
    bool,
    Option("--dry-run", help="Check the change and report what would be done. Change nothing."),
]


@dataclass(frozen=True, kw_only=True)
class AccessOptions:
    """The options for the way to a live quorum, beside its addresses."""

    command_config: CommandConfig = ""
    resolve: Resolve = None
    timeout: Timeout = TIMEOUT_S

    def target_at(self, bootstrap: str) -> Target:
        """Return the quorum that the options name. What they do not take is the user's fault."""
        from kraftool.client.endpoints import EndpointError
        from kraftool.client.target import target_of
        from kraftool.net.settings import SettingsError

        try:
            return target_of(bootstrap, self.resolve or (), self.command_config, self.timeout)
        except (EndpointError, SettingsError) as error:
            raise UsageError(error.message, hint=error.hint) from None

    def refuse_without_quorum(self) -> None:
        """Options that lead to a quorum have no use without one."""
        if self.command_config or self.resolve:
            raise UsageError(
                "--command-config and --resolve are for a live quorum",
                hint="name --bootstrap-controller too",
            )


@dataclass(frozen=True, kw_only=True)
class LiveOptions(AccessOptions):
    """The options of a command that takes a live quorum if its addresses are given."""

    bootstrap_controller: Bootstrap = ""

    def target(self) -> Target:
        """Return the quorum, whose addresses are given."""
        return self.target_at(self.bootstrap_controller)

    @property
    def again(self) -> tuple[str, ...]:
        """The options as they were written, for commands that are told to be run next."""
        options = ["--bootstrap-controller", self.bootstrap_controller]
        options += ["--command-config", self.command_config] if self.command_config else []
        options += ["--timeout", f"{self.timeout:g}"] if self.timeout != TIMEOUT_S else []
        for address in self.resolve or ():
            options += ["--resolve", address]
        return tuple(options)


def addresses(given: list[str] | None) -> dict[int, Endpoint]:
    """Addresses by node id, from words ID=HOST:PORT."""
    from kraftool.client.endpoints import EndpointError, parse_resolved

    try:
        return parse_resolved(given or ())
    except EndpointError as error:
        raise UsageError(error.message, hint=error.hint) from None


def directory_id_of(text: str) -> str | None:
    """A directory id as Kafka writes it; None where none is given."""
    from kraftool.decoders.java_text import read_uuid

    if not text:
        return None
    directory_id = read_uuid(text)
    if directory_id is None:
        raise UsageError(f"{text!r} is not a directory id", hint="it is in meta.properties")
    return directory_id


def tell_unreached(to: Output, view: QuorumView, *, shown: Sequence[NodeAnswer] = ()) -> None:
    """Say which address is a broker's. Exit 4 where no controller was reached.

    `shown`: whose problems the output on stdout has, so that stderr does not repeat them.
    """
    from kraftool.client.not_asked import broker_words, unreached_words

    if view.reached:
        for broker in view.brokers:
            if broker not in shown:
                to.note(broker_words(broker))
        return
    problems, advice = unreached_words(view, shown)
    for number, problem in enumerate(problems, 1):
        hint = advice if number == len(problems) else ""
        to.problem(problem, hint=hint, code=ExitCode.UNREACHABLE)


def tell_agreement(to: Output, view: QuorumView) -> None:
    """End with 1 where there is no leader, or nodes disagree."""
    if view.reached and (view.leader is None or not view.agrees):
        to.raise_code(ExitCode.FINDING)


def tell_reach(to: Output, view: QuorumView, *, shown: Sequence[NodeAnswer] = ()) -> None:
    """Exit 4 if no node was reached; 1 if no node leads, the leader has committed nothing in its
    epoch or runs no controller, or nodes disagree."""
    tell_unreached(to, view, shown=shown)
    tell_agreement(to, view)
    has_committed = view.quorum is None or view.quorum.high_watermark >= 0
    if view.lacks_controller or not has_committed:
        to.raise_code(ExitCode.FINDING)
