"""How values of reports are written: words, times, CSV, JSON and YAML."""
