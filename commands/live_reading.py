"""A live quorum read for a command that takes it beside directories, with its options and codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kraftool.commands.output import Output, UsageError
from kraftool.commands.quorum_options import TIMEOUT_S, tell_unreached
from kraftool.commands.quorum_options import target as target_of

if TYPE_CHECKING:
    from kraftool.client.live import LiveQuorum
    from kraftool.client.model import NodeAnswer, QuorumView


def refuse_nothing(paths: list[str] | None, bootstrap: str, what: str) -> None:
    """There has to be something to look at."""
    if not paths and not bootstrap:
        raise UsageError(f"no {what}", hint="name a data directory, or --bootstrap-controller")


def options_again(
    bootstrap: str, command_config: str, timeout: float, resolve: list[str] | None
) -> tuple[str, ...]:
    """The options that lead to the quorum, for commands that are told to be run next."""
    options = ["--bootstrap-controller", bootstrap]
    options += ["--command-config", command_config] if command_config else []
    options += ["--timeout", f"{timeout:g}"] if timeout != TIMEOUT_S else []
    for each in resolve or ():
        options += ["--resolve", each]
    return tuple(options)


def refuse_quorum_options(command_config: str, resolve: list[str] | None) -> None:
    """Options that lead to a quorum have no use without one."""
    if command_config or resolve:
        raise UsageError(
            "--command-config and --resolve are for a live quorum",
            hint="name --bootstrap-controller too",
        )


@contextmanager
def live_quorum(
    to: Output,
    bootstrap: str,
    command_config: str,
    timeout: float,
    resolve: list[str] | None,
    *,
    judged: bool = False,
    shown: Callable[[QuorumView], Sequence[NodeAnswer]] | None = None,
) -> Iterator[LiveQuorum | None]:
    """Yields what was had, None where no quorum is asked for; its log is gone afterwards.

    The run ends with 4 where no node was reached. `shown`: the nodes whose problems are among the
    findings that the command prints, where it prints any; stderr does not repeat them.
    """
    if not bootstrap:
        refuse_quorum_options(command_config, resolve)
        yield None
        return

    import asyncio

    from kraftool.client.capture import Capturing
    from kraftool.client.live import look

    target = target_of(bootstrap, command_config, timeout, resolve)
    with Capturing() as capturing:
        with to.task_progress("the leader's log") as progress:
            live = asyncio.run(look(target, capturing, judged=judged, progress=progress))
        if live.now.reached and live.unobserved and shown is None:
            to.note(f"the leader's log could not be read: {live.unobserved}")
        tell_unreached(to, live.now, shown=() if shown is None else shown(live.now))
        yield live
