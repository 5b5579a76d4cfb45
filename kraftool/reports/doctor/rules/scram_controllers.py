"""Controllers that log in to each other with SCRAM only, which takes a leader to know."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination, ExaminedDirectory
from kraftool.reports.findings.finding import Severity, Stake
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "SCRAM-CONTROLLERS",
    Severity.WARNING,
    "Controllers log in to each other with SCRAM only. Kafka keeps SCRAM credentials in the"
    " metadata log, and a controller that starts knows them only once there is a leader. After"
    " all controllers were stopped, they cannot elect a leader again.",
    "let the controllers log in with PLAIN or with TLS certificates. Change it while a majority"
    " runs, one controller after the other. If no node leads, change it on all of them, and restart"
    " them",
    stake=Stake.NO_QUORUM,
)

_MECHANISM = "sasl.mechanism.controller.protocol"
_ENABLED = "sasl.enabled.mechanisms"
_MAP = "listener.security.protocol.map"
_DEFAULT = "GSSAPI"


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        settings = examined.source.settings
        if settings is None or "controller" not in settings.roles:
            continue
        listener = _items(examined.setting("controller.listener.names"))[:1]
        if not listener or not _protocol(examined, listener[0]).startswith("SASL_"):
            continue
        mechanism = (examined.setting(_MECHANISM) or _DEFAULT).upper()
        own = f"listener.name.{listener[0].lower()}.{_ENABLED}"
        key = own if examined.setting(own) else _ENABLED
        enabled = _items(examined.setting(key)) or [_DEFAULT]
        if not all(name.startswith("SCRAM-") for name in (mechanism, *enabled)):
            continue
        yield Diagnosis(
            finding=KIND.at(
                examined.settings_file,
                f"controllers log in at {listener[0]} with {mechanism}, and no mechanism other than"
                " SCRAM is enabled there",
                field=_MECHANISM,
                expected="PLAIN",
                found=mechanism,
            ),
            directory=examined.path,
            evidence=(
                Evidence(file=examined.settings_file, found=f"{_MECHANISM}={mechanism}"),
                Evidence(file=examined.settings_file, found=f"{key}={','.join(enabled)}"),
            ),
            commands=(
                shell_text.settings(examined.settings_file, _MECHANISM, "PLAIN"),
                shell_text.settings(examined.settings_file, own, ",".join((*enabled, "PLAIN"))),
            ),
        )


def _items(text: str) -> list[str]:
    return [word.strip().upper() for word in text.split(",") if word.strip()]


def _protocol(examined: ExaminedDirectory, listener: str) -> str:
    """Return the security protocol of a listener: by the map, or by its own name."""
    for entry in _items(examined.setting(_MAP)):
        name, _, protocol = entry.rpartition(":")
        if name.strip() == listener:
            return protocol.strip()
    return "" if examined.setting(_MAP) else listener
