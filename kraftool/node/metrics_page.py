"""The samples of a node as a page for Prometheus.

Owns their form for the library, which a node without --metrics-listen does not import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from kraftool.net.metrics_page import page_of
from kraftool.node.metrics import MetricSample


class SampleCollector(Collector):
    """Gives the library samples, those of one name together."""

    def __init__(self, samples: Callable[[], Iterator[MetricSample]]) -> None:
        self._samples = samples

    def collect(self) -> Iterator[Family]:
        families: dict[str, Family] = {}
        for sample in self._samples():
            is_total = sample.kind == "counter" and sample.name.endswith("_total")
            # The counters of Kafka's mbeans have no such end, which a counter must have here.
            kind = "gauge" if sample.kind == "gauge" else "counter" if is_total else "unknown"
            name = sample.name.removesuffix("_total") if is_total else sample.name
            family = families.setdefault(sample.name, Family(name, sample.help, kind))
            family.add_sample(sample.name, dict(sample.labels), float(sample.value))
        yield from families.values()


def exposition(samples: Iterator[MetricSample]) -> bytes:
    """Samples in Prometheus' text format."""
    return page_of(SampleCollector(lambda: samples), "")[0]
