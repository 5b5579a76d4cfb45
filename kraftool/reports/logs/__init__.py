"""Logs and snapshots as records: read, summed up, selected, and rendered for dump-log."""
