#!/usr/bin/env python3
"""Write what comes with the exporter: alert rules, their tests, a Grafana dashboard, the table of
metrics in docs/exporter.md.

    tools/monitoring.py             write the files
    tools/monitoring.py --check     print those that are not fresh, and exit 1
    tools/monitoring.py --promtool PATH   also check the rules, and run their tests
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from monitoring_rules import JMX_RULES, RULES, Rule

from kraftool.exporter.metrics import CLUSTER, METRICS

ROOT = Path(__file__).resolve().parents[1]
PROMETHEUS, GRAFANA = Path("packaging/prometheus"), Path("packaging/grafana")
PAGE = Path("docs/exporter.md")
_HEAD = "# Made by `make monitoring`; edit tools/monitoring_rules.py instead.\n"
_MARKS = "<!-- {} -->", "<!-- end of {} -->"


def rule_groups(name: str, rules: tuple[Rule, ...]) -> dict[str, Any]:
    """Rules as Prometheus has them."""
    return {
        "groups": [
            {
                "name": name,
                "rules": [
                    {
                        "alert": rule.name,
                        "expr": rule.expr,
                        "for": rule.wait,
                        "labels": {"severity": rule.severity},
                        "annotations": {"summary": rule.summary, "action": rule.action},
                    }
                    for rule in rules
                ],
            }
        ]
    }


def rule_tests(file: str, rules: tuple[Rule, ...]) -> dict[str, Any]:
    """For each rule one test that fires it, and one that does not."""
    tests: list[dict[str, Any]] = []
    for rule in rules:
        for series, expected in ((rule.fires, [_expected(rule)]), (rule.quiet, [])):
            tests.append(
                {
                    "interval": "15s",
                    "name": f"{rule.name} {'fires' if expected else 'stays quiet'}",
                    "input_series": [{"series": one, "values": values} for one, values in series],
                    "alert_rule_test": [
                        {"eval_time": rule.at, "alertname": rule.name, "exp_alerts": expected}
                    ],
                }
            )
    return {"rule_files": [file], "evaluation_interval": "15s", "tests": tests}


def _expected(rule: Rule) -> dict[str, Any]:
    labels = dict(rule.labels)
    summary = _filled(rule.summary, labels, rule.value)
    return {
        "exp_labels": {**labels, "severity": rule.severity},
        "exp_annotations": {"summary": summary, "action": rule.action},
    }


def _filled(text: str, labels: dict[str, str], value: str) -> str:
    text = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda match: labels.get(match[1], ""), text)
    return text.replace("{{ $value }}", value)


# --- the dashboard --------------------------------------------------------------------------------

_LEADERLESS = "kraftool_quorum_leaderless_timestamp_seconds"
_EXPIRY = "kraftool_endpoint_certificate_expiry_timestamp_seconds"
_STAT, _LINES, _TABLE = "stat", "timeseries", "table"
_PANELS: tuple[tuple[str, str, str, int, tuple[tuple[str, str], ...]], ...] = (
    ("Leader", _STAT, "none", 3, (("kraftool_quorum_leader_id", "node"),)),
    ("Voters that may fail", _STAT, "none", 3, (("kraftool_quorum_failures_tolerated", ""),)),
    ("Voters ready", _STAT, "none", 3, (("kraftool_quorum_voters_ready", ""),)),
    ("Leaders claimed", _STAT, "none", 3, (("kraftool_quorum_leaders_claimed", ""),)),
    (
        "Without a leader for",
        _STAT,
        "s",
        4,
        ((f"(time() - {_LEADERLESS}) * ({_LEADERLESS} > bool 0)", ""),),
    ),
    (
        "Leader since",
        _STAT,
        "s",
        4,
        (("time() - kraftool_quorum_leader_changed_timestamp_seconds", ""),),
    ),
    (
        "Certificate that expires first",
        _STAT,
        "s",
        4,
        ((f"min by (cluster) ({_EXPIRY}) - time()", ""),),
    ),
    (
        "Findings",
        _TABLE,
        "none",
        12,
        (('kraftool_finding{severity!="info"}', "{{severity}} {{code}}"),),
    ),
    (
        "Leader by each node's own answer",
        _LINES,
        "none",
        12,
        (("kraftool_node_leader_id", "node {{node_id}}"),),
    ),
    (
        "Epoch by each node's own answer",
        _LINES,
        "none",
        12,
        (("kraftool_node_epoch", "node {{node_id}}"),),
    ),
    (
        "Controllers that are up",
        _LINES,
        "none",
        12,
        (("kraftool_node_up", "node {{node_id}}"),),
    ),
    (
        "Records behind the leader",
        _LINES,
        "none",
        12,
        (("kraftool_node_lag_records", "node {{node_id}}"),),
    ),
    (
        "Time behind the leader",
        _LINES,
        "s",
        12,
        (
            ("kraftool_node_lag_seconds", "node {{node_id}}"),
            ("kraftool_node_last_fetch_age_seconds", "last fetch of {{node_id}}"),
        ),
    ),
    (
        "Records committed a second",
        _LINES,
        "none",
        12,
        (("deriv(kraftool_quorum_high_watermark[2m])", "{{cluster}}"),),
    ),
    (
        "Elections in ten minutes",
        _LINES,
        "none",
        12,
        (("increase(kraftool_quorum_elections_total[10m])", "{{cluster}}"),),
    ),
    (
        "Brokers",
        _LINES,
        "none",
        12,
        (("sum by (cluster, state) (kraftool_brokers)", "{{state}}"),),
    ),
    (
        "Partitions",
        _LINES,
        "none",
        12,
        (
            ("kraftool_partitions_offline", "offline"),
            ("kraftool_partitions_under_min_isr", "under min ISR"),
            ("kraftool_partitions_under_replicated", "under-replicated"),
        ),
    ),
    (
        "Duration of a poll",
        _LINES,
        "s",
        12,
        (("kraftool_poll_duration_seconds", "{{cluster}}"),),
    ),
)
"""Title, kind, unit, width of 24, and expressions with their legends."""


def dashboard() -> dict[str, Any]:
    """The Grafana dashboard."""
    panels: list[dict[str, Any]] = []
    x = y = 0
    for number, (title, kind, unit, width, targets) in enumerate(_PANELS, 1):
        height = 4 if kind == _STAT else 8
        if x + width > 24:
            x, y = 0, y + (4 if panels[-1]["type"] == _STAT else 8)
        panels.append(
            {
                "id": number,
                "title": title,
                "type": kind,
                "datasource": {"type": "prometheus", "uid": "${datasource}"},
                "gridPos": {"x": x, "y": y, "w": width, "h": height},
                "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
                "targets": [
                    {
                        "refId": chr(ord("A") + at),
                        "expr": _of_cluster(expr),
                        "legendFormat": legend,
                        **({"format": "table", "instant": True} if kind == _TABLE else {}),
                    }
                    for at, (expr, legend) in enumerate(targets)
                ],
            }
        )
        x += width
    return {
        "title": "Kafka KRaft quorum, from outside",
        "uid": "kraftool-quorum",
        "tags": ["kafka", "kraft"],
        "schemaVersion": 39,
        "refresh": "15s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {
            "list": [
                {"name": "datasource", "type": "datasource", "query": "prometheus"},
                {
                    "name": CLUSTER,
                    "type": "query",
                    "datasource": {"type": "prometheus", "uid": "${datasource}"},
                    "query": "label_values(kraftool_quorum_nodes_reached, cluster)",
                    "refresh": 2,
                },
            ]
        },
        "panels": panels,
    }


_CHOSEN = f'{CLUSTER}="$cluster"'


def _of_cluster(expr: str) -> str:
    """The expression for the cluster that is chosen."""

    def chosen(match: re.Match[str]) -> str:
        inner = match[2][1:-1] if match[2] else ""
        matchers = ", ".join(filter(None, (_CHOSEN, inner)))
        return f"{match[1]}{{{matchers}}}"

    return re.sub(r"(kraftool_\w+)(\{[^}]*\})?", chosen, expr)


# --- the page -------------------------------------------------------------------------------------


def metric_table() -> str:
    """All metrics as a table."""
    lines = ["| metric | labels | type | meaning |", "|---|---|---|---|"]
    for metric in METRICS:
        labels = ", ".join(f"`{label}`" for label in (CLUSTER, *metric.labels))
        kind = "counter" if metric.is_counter else "gauge"
        lines.append(f"| `{metric.full_name}` | {labels} | {kind} | {metric.help} |")
    return "\n".join(lines)


def alert_table(rules: tuple[Rule, ...]) -> str:
    """Alerts with their first step."""
    lines = ["| alert | after | means | first step |", "|---|---|---|---|"]
    for rule in rules:
        means = re.sub(r"\{\{ \$(?:labels\.)?(\w+) \}\}", r"*\1*", rule.summary)
        wait = "at once" if rule.wait == "0s" else rule.wait
        lines.append(f"| {rule.name} ({rule.severity}) | {wait} | {means} | {rule.action} |")
    return "\n".join(lines)


def _page(text: str) -> str:
    for name, table in (
        ("metrics", metric_table()),
        ("alerts", alert_table(RULES)),
        ("alerts over JMX", alert_table(JMX_RULES)),
    ):
        begin, end = (mark.format(name) for mark in _MARKS)
        head, _, rest = text.partition(begin)
        text = f"{head}{begin}\n{table}\n{end}{rest.partition(end)[2]}"
    return text


def files() -> dict[Path, str]:
    """Every file with its text."""
    made: dict[Path, str] = {}
    for name, rules in (("kraftool", RULES), ("kafka-jmx", JMX_RULES)):
        file = f"{name}-alerts.yml"
        made[PROMETHEUS / file] = _HEAD + _yaml(rule_groups(name, rules))
        made[PROMETHEUS / f"{name}-alerts.test.yml"] = _HEAD + _yaml(rule_tests(file, rules))
    made[GRAFANA / "kraftool-quorum.json"] = json.dumps(dashboard(), indent=2) + "\n"
    made[PAGE] = _page((ROOT / PAGE).read_text())
    return made


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, width=100, allow_unicode=True)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--promtool", default="")
    chosen = parser.parse_args(arguments)
    stale = [path for path, text in files().items() if _read(ROOT / path) != text]
    if chosen.check:
        for path in stale:
            print(f"{path} is not fresh: make monitoring")
        return bool(stale)
    for path, text in files().items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)
    if not chosen.promtool:
        return 0
    folder = ROOT / PROMETHEUS
    rules = [str(path) for path in sorted(folder.glob("*-alerts.yml"))]
    tests = [str(path) for path in sorted(folder.glob("*.test.yml"))]
    codes = [
        subprocess.run([chosen.promtool, *words], check=False).returncode
        for words in (["check", "rules", *rules], ["test", "rules", *tests])
    ]
    return max(codes)


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


if __name__ == "__main__":
    sys.exit(main())
