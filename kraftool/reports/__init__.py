"""Read models: what commands, the dashboard and pipelines show, as values without a user interface."""
