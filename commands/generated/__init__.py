"""What tools write: see `tools/`."""
