"""The forms of values in reports: words, times, CSV, JSON and YAML."""
