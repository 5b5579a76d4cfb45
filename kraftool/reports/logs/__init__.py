"""Logs and snapshots as records: read, selected, and rendered for dump-log."""
