"""What comes with the exporter is fresh, and uses metrics that there are."""

from __future__ import annotations

import re
import sys

import pytest
import yaml

from kraftool.exporter.metrics import METRICS
from kraftool.reports.findings.kinds import KINDS
from tests.support.places import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import monitoring
from monitoring_rules import JMX_RULES, RULES, Rule

NAMES = {metric.full_name for metric in METRICS}


def test_the_files_are_what_their_generator_writes() -> None:
    for path, text in monitoring.files().items():
        assert (ROOT / path).read_text() == text, f"make monitoring writes {path}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_uses_metrics_and_codes_that_there_are(rule: Rule) -> None:
    series = " ".join(name for name, _ in (*rule.fires, *rule.quiet))
    for text in (rule.expr, series):
        used = set(re.findall(r"kraftool_\w+", text))
        assert used <= NAMES, used - NAMES
        assert set(re.findall(r"KT-[A-Z-]+", text)) <= KINDS.keys()


@pytest.mark.parametrize("rule", [*RULES, *JMX_RULES], ids=lambda rule: rule.name)
def test_a_rule_says_what_to_do_and_is_tried_both_ways(rule: Rule) -> None:
    assert rule.summary
    assert re.match(r"[A-Z][a-z]+ ", rule.action), "it begins with an imperative"
    assert rule.fires
    assert rule.quiet
    assert rule.fires != rule.quiet


def test_the_dashboard_uses_metrics_that_there_are() -> None:
    expressions = [
        target["expr"] for panel in monitoring.dashboard()["panels"] for target in panel["targets"]
    ]
    used = {name for expr in expressions for name in re.findall(r"kraftool_\w+", expr)}
    assert used <= NAMES
    assert all('cluster="$cluster"' in expr for expr in expressions)


def test_the_manifests_run_the_command_with_options_that_it_has() -> None:
    options = (ROOT / "commands/generated/completion_table.py").read_text()
    documents = list(yaml.safe_load_all((ROOT / "packaging/kubernetes/exporter.yaml").read_text()))
    deployment = next(one for one in documents if one["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["args"][0] == "exporter"
    unit = (ROOT / "packaging/systemd/kraftool-exporter.service").read_text()
    for option in re.findall(r"--[a-z-]+", " ".join(container["args"]) + unit):
        assert f"'{option}'" in options, option
