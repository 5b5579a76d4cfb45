"""Generated modules: see `tools/`."""
