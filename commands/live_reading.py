"""A live quorum read for a command that takes it beside directories, with its options and codes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from kraftool.commands.exit_code import UnreachableError, UsageError
from kraftool.commands.output import Output
from kraftool.commands.quorum_options import LiveOptions, tell_unreached
from kraftool.decoders.errors import KraftoolError

if TYPE_CHECKING:
    from kraftool.client.capture import Captured
    from kraftool.client.live import LiveQuorum
    from kraftool.client.model import NodeAnswer, QuorumView


def refuse_nothing(paths: list[str] | None, bootstrap: str, what: str) -> None:
    """There has to be something to look at."""
    if not paths and not bootstrap:
        raise UsageError(f"no {what}", hint="name a data directory, or --bootstrap-controller")


def refuse_both(paths: list[str], bootstrap: str) -> None:
    """One thing is looked at: files, or a live quorum."""
    refuse_nothing(paths, bootstrap, "PATH")
    if paths and bootstrap:
        raise UsageError(
            "a PATH and --bootstrap-controller are two things to look at", hint="name one of them"
        )


@contextmanager
def live_quorum(
    to: Output,
    options: LiveOptions,
    *,
    judged: bool = False,
    committed: bool = False,
    with_history: bool = False,
    shown: Callable[[QuorumView], Sequence[NodeAnswer]] | None = None,
) -> Iterator[LiveQuorum | None]:
    """Yields the quorum and its log, or None without --bootstrap-controller; then removes the log.

    The run exits 4 if no node was reached. With `committed` the log ends at the high watermark.
    With `with_history` it begins at the start of the leader's log, not at its newest snapshot.
    `shown` gives the nodes whose problems the command prints as findings; stderr does not repeat
    these.
    """
    if not options.bootstrap_controller:
        options.refuse_without_quorum()
        yield None
        return

    import asyncio

    from kraftool.client.capture import Capturing
    from kraftool.client.live import read_live

    target = options.target()
    with Capturing() as capturing:
        with to.task_progress("the leader's log") as progress:
            reading = read_live(
                target,
                capturing,
                judged=judged,
                committed=committed,
                with_history=with_history,
                progress=progress,
            )
            live = asyncio.run(reading)
        if live.now.reached and live.unobserved and shown is None:
            to.note(f"the leader's log could not be read: {live.unobserved}")
        tell_unreached(to, live.now, shown=() if shown is None else shown(live.now))
        yield live


def leader_log(to: Output, live: LiveQuorum) -> Captured:
    """The leader's committed log. Raises UnreachableError or KraftoolError where there is none."""
    from kraftool.client.model import leader_end

    if live.captured is None:
        unavailable(live)
    mark = live.captured.location.high_watermark
    end = leader_end(live.now) if live.now.quorum is not None else -1
    if mark is not None and end > mark:
        to.note(
            f"the leader has records up to offset {end - 1} that are not committed yet: the high"
            f" watermark is {mark}, and what follows it is not shown"
        )
    if live.captured.lacking:
        to.note(live.captured.lacking)
    return live.captured


def unavailable(live: LiveQuorum) -> NoReturn:
    """There is no log of a leader."""
    if not live.now.reached:
        # Why is on stderr already.
        raise UnreachableError("no node could be reached")
    raise KraftoolError(
        "no leader's log could be read, and no PATH is named",
        hint="name a controller's data directory",
    )
