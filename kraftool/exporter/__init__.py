"""Live quorums as metrics: what only somebody outside sees, for Prometheus.

`cluster_watch.py` polls one cluster again and again and judges it, as the dashboard and `quorum
health` do. `metrics.py` has every metric in one table; the docs, the alert rules and the Grafana
dashboard are made of it. Nothing here judges: a value that is not known has no sample.
"""
