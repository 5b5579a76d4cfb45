"""Metrics as a page for Prometheus, in the format that the scrape asks for.

Owns the call of the library. It knows no metric.
"""

from __future__ import annotations

from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry


def page_of(collector: Collector, accept: str) -> tuple[bytes, str]:
    """Return the samples of a collector in the text format, or in OpenMetrics if that is accepted,
    and the type of the page."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(collector)
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type
