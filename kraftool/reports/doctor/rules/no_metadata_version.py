"""A log with records and no metadata.version: the first activation of a controller was aborted."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.image.metadata_version import METADATA_VERSION
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "NO-METADATA-VERSION",
    Severity.WARNING,
    "The metadata log has records, but no record sets metadata.version. Kafka 4 exits as soon as"
    " it has read such metadata. Kafka 3 uses the lowest level that it knows, and exits if the"
    " state does not fit that level. A Kafka writes the level in its first activation. If that is"
    " aborted, the next one finds a log that is not empty, and writes no level.",
    "see which level the brokers use with kafka-features.sh describe. Then upgrade it with"
    " kafka-features.sh upgrade --release-version",
    references=("apache/kafka #22954",),
    note="Clusters that Kafka 3.0 to 3.2 formatted have no such record either.",
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        if state.image.features.metadata_version is not None or not state.records:
            continue
        if not (state.has_its_beginning and state.is_whole) or state.open_transaction is not None:
            continue
        image = state.image
        if not (image.cluster.brokers or image.cluster.controllers or image.topics.by_id):
            continue  # what was begun was aborted, and nothing came after it yet
        controller = tools.controller(examination, examined)
        yield Diagnosis(
            finding=KIND.at(
                examined.path,
                f"{state.records} records up to offset {state.end_offset - 1}, and no record sets"
                f" {METADATA_VERSION}",
            ),
            directory=examined.path,
            evidence=(Evidence(file=examined.path, found="no FeatureLevelRecord"),),
            commands=(
                shell_text.on(examined.path, "dump-log", "--type", "AbortTransactionRecord"),
                shell_text.line("kafka-features", *controller, "describe"),
            ),
        )
