"""A static voter without a directory id, which the upgrade to kraft.version 1 needs."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.kinds import FileKind
from kraftool.image.metadata_version import FEATURES, KRAFT_VERSION, METADATA_VERSION
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.finding import Severity
from kraftool.reports.findings.kinds import SIGNATURES
from kraftool.reports.text import shell_text

KIND = SIGNATURES.kind(
    "UPGRADE-DIRECTORY-ID",
    Severity.WARNING,
    "A voter of a static quorum has no directory.id in meta.properties. kraft.version cannot"
    " be upgraded to 1 while any voter lacks it.",
    "start that node once with Kafka 3.7 or later, which writes a directory.id",
    references=(
        "KIP-853",
        "KIP-858",
    ),
)


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined in examination.directories:
        node, voters = examined.summary.node, examination.voters_of(examined)
        level = examined.summary.feature(METADATA_VERSION)
        if node.node_id is None or node.directory_id is not None or voters is None:
            continue
        if examined.source.is_live:  # which tells no directory ids while kraft.version is 0
            continue
        # With an older metadata.version nobody is about to upgrade kraft.version.
        if level is None or level.level < FEATURES[KRAFT_VERSION][0].default_from:
            continue
        if examined.summary.finalized_kraft_version.level or voters.of(node.node_id) is None:
            continue
        file = next(
            (report.file for report in examined.files if report.kind is FileKind.META_PROPERTIES),
            "",
        )
        yield Diagnosis(
            finding=KIND.at(
                file, f"voter {node.node_id} has no directory id", field="directory.id"
            ),
            directory=examined.path,
            evidence=(
                Evidence(file=file, found="no directory.id"),
                Evidence(
                    file=level.file,
                    offset=level.offset,
                    found=f"metadata.version {level.level}, kraft.version 0",
                ),
            ),
            commands=(
                shell_text.line(
                    "kafka-storage",
                    "info",
                    "--config",
                    examined.settings_file or "server.properties",
                ),
            ),
        )
