"""Configs of topics that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.image.configs import TOPIC
from kraftool.reports.doctor import tools
from kraftool.reports.doctor.model import Diagnosis, Evidence, Examination
from kraftool.reports.findings.kinds import snapshot as kinds
from kraftool.reports.text import shell_text


def find(examination: Examination) -> Iterator[Diagnosis]:
    for examined, state in examination.states():
        known = state.image.topics.by_name
        for resource, configs in state.image.configs.resources.items():
            if resource.type != TOPIC or resource.name in known:
                continue
            keys = ", ".join(sorted(configs))
            server = tools.broker(examined)
            yield Diagnosis(
                finding=kinds.TOPIC_CONFIG.at(
                    examined.path,
                    f"topic {resource.name} does not exist but has configs: {keys}",
                    found=keys,
                ),
                directory=examined.path,
                evidence=(
                    Evidence(
                        file=state.snapshot or examined.path,
                        found=f"ConfigRecord of topic {resource.name}: {keys}",
                    ),
                ),
                commands=(
                    shell_text.line("kafka-topics", *server, "--create", "--topic", resource.name),
                    shell_text.line("kafka-topics", *server, "--delete", "--topic", resource.name),
                ),
            )
