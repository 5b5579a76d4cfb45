"""One data directory judged: its report, its findings, and itself as a source of voters."""
