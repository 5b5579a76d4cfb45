"""A broker that advertises localhost among brokers elsewhere, or another broker's endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.addresses import shown_address
from kraftool.image.cluster import BrokerRegistration
from kraftool.reports.doctor.hosts import is_local, why_unreachable
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "BROKER-ENDPOINT",
    Severity.WARNING,
    "A broker's advertised listener is an address of the machine itself or another broker's."
    " Clients on other machines cannot reach it, or reach the wrong broker.",
    "set advertised.listeners on that broker and restart it",
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        brokers = sorted(state.image.cluster.brokers.values(), key=lambda broker: broker.id)
        local = [registration for registration in brokers if _is_local(registration)]
        for broker in local if len(local) < len(brokers) else ():
            text = f"broker {broker.id} advertises an address of its own machine"
            yield _diagnosis(examined, broker, text)
        seen: dict[tuple[str, int], int] = {}
        for broker in brokers:
            for listener in broker.listeners:
                if is_local(listener.host):
                    continue
                first = seen.setdefault((listener.host.lower(), listener.port), broker.id)
                if first != broker.id and not broker.fenced:
                    text = f"brokers {first} and {broker.id} advertise the same endpoint"
                    yield _diagnosis(examined, broker, text)
                    break
            wrong = [
                why_unreachable(registered_endpoint.host, registered_endpoint.port)
                for registered_endpoint in broker.listeners
            ]
            if any(wrong):
                why = next(reason for reason in wrong if reason)
                yield _diagnosis(examined, broker, f"broker {broker.id} cannot be reached: {why}")


def _is_local(broker: BrokerRegistration) -> bool:
    """True if every listener is: one of several may be meant for the machine itself."""
    return bool(broker.listeners) and all(is_local(listener.host) for listener in broker.listeners)


def _diagnosis(examined: ExaminedDirectory, broker: BrokerRegistration, text: str) -> Diagnosis:
    listeners = ", ".join(f"{listener.name}://{shown_address(listener.host, listener.port)}"
                     for listener in broker.listeners)  # fmt: skip
    starts = [start for start in examined.statistics.starts if start.broker_id == broker.id]
    evidence = tuple(
        Evidence(file=start.file, position=start.position, offset=start.offset, found=listeners)
        for start in starts[-1:]
    )
    names = [listener.name for listener in broker.listeners]
    value = f"{names[0] if names else 'listener'}://{shell_text.ANYWHERE}"
    return Diagnosis(
        finding=KIND.at(
            examined.path, text, offset=broker.epoch, field="listeners", found=listeners
        ),
        directory=examined.path,
        evidence=evidence,
        commands=(
            shell_text.settings(
                f"server.properties of node {broker.id}", "advertised.listeners", value
            ),
        ),
    )
