"""One data directory whole: its report, its findings, and itself as a source of voters."""
