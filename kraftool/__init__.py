"""Inspect and repair Apache Kafka's KRaft state."""

__version__ = "0.1.0"
