"""Read models: what commands, the dashboard and pipelines show, as plain values."""
