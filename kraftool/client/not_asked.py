"""The nodes that a survey did not ask, and addresses of brokers: findings, and words.

Owns how that is reported, for every report on a live quorum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kraftool.client.failures import ANSWERED
from kraftool.client.model import NodeAnswer, QuorumView
from kraftool.client.registrations import is_only_registered
from kraftool.reports.findings.finding import Finding, Severity
from kraftool.reports.findings.kinds import live as kinds

_ELSEWHERE = "if it listens at another address for you, name that with --resolve ID=HOST:PORT"

NOT_MISSED = "nothing to do if you removed or stopped this node: it is not a voter"


def node_findings(
    view: QuorumView, node: NodeAnswer, *, is_fetching: bool = False
) -> Iterator[Finding]:
    """Yield what stood in the way of asking a node; its address is the finding's subject. The
    quorum does not miss a node that is only registered.

    `is_fetching`: it fetches from the leader, so that it runs.
    """
    if not node.problem:
        return
    if not node.is_reached and is_only_registered(view, node.node_id):
        yield kinds.UNREACHED.at(node.name, reason(node), severity=Severity.INFO, advice=NOT_MISSED)
        return
    kind = kinds.REFUSED if node.is_reached else kinds.UNREACHED
    words, advice = reason(node), node.advice
    if is_fetching:
        words = f"it fetches from the leader, but it cannot be reached from here: {words}"
        advice = out_of_reach_advice(node)
    yield kind.at(node.name, words, advice=advice or None)


def out_of_reach_advice(node: NodeAnswer) -> str:
    """Return what to do about a node that fetches from the leader and cannot be reached."""
    elsewhere = "" if node.failure in ANSWERED else _ELSEWHERE
    return "; ".join(filter(None, (node.advice, elsewhere)))


def unobserved_finding(view: QuorumView, file: str, why: str) -> Finding:
    """Return why the leader's log was not read: an INFO if there is no leader, which is a finding
    of its own."""
    severity = Severity.INFO if view.leader is None else None
    return kinds.UNOBSERVED.at(file, why, severity=severity)


def broker_findings(view: QuorumView) -> Iterator[Finding]:
    for broker in view.brokers:
        yield kinds.BROKER.at(
            str(broker.endpoint), broker_words(broker), advice=broker.advice or None
        )


def broker_words(broker: NodeAnswer) -> str:
    """That it is a broker, and which controllers it names, or why it names no controller."""
    where = str(broker.endpoint)
    if not broker.controllers:
        return f"{where} is a broker, and {reason(broker)}"
    named = ", ".join(
        f"{node_id} ({endpoint})" for node_id, endpoint in sorted(broker.controllers.items())
    )
    return f"{where} is a broker; the controllers are {named}"


def reason(node: NodeAnswer) -> str:
    """Its problem without its address, which stands before it."""
    where = str(node.endpoint)
    problem = node.problem.removeprefix(f"{where}: ")
    return f"it {problem.removeprefix(f'{where} ')}" if problem.startswith(f"{where} ") else problem


def unreached_words(
    view: QuorumView, shown: Sequence[NodeAnswer] = ()
) -> tuple[tuple[str, ...], str]:
    """Why no controller was reached: the problems that are not shown elsewhere, and the advice."""
    left = [answer for answer in view.asked if answer not in shown]
    problems = [broker_words(answer) if answer.is_broker else answer.problem for answer in left]
    advice = dict.fromkeys(answer.advice for answer in left if answer.advice)
    return tuple(problems) or ("no controller was reached",), "; ".join(advice)
