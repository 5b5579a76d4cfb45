"""A data directory and what was found of it: the value that every judgement of directories takes.

Owns which finding keeps Kafka from starting on a directory. It refuses to find anything.
"""

from __future__ import annotations

from kraftool.decoders.dataclass import dataclass
from kraftool.reports.findings.finding import Finding
from kraftool.reports.voters.node_directory import NodeDirectory
from kraftool.reports.voters.settings_rules import unusable_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedDirectory:
    """A directory with its findings."""

    directory: NodeDirectory
    findings: tuple[Finding, ...] = ()
    of_path: tuple[Finding, ...] = ()
    """Those of the PATH that it was read from, which are of no directory."""

    @property
    def name(self) -> str:
        return self.directory.name

    @property
    def keeps_from_starting(self) -> Finding | None:
        """Why Kafka exits when it starts on the directory; None if it starts."""
        settings = self.directory.settings
        of_settings = unusable_settings(settings) if settings is not None else ()
        found = (*self.findings, *of_settings)
        return next((finding for finding in found if finding.keeps_from_starting), None)
