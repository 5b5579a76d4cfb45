"""Verification: what contradicts itself in logs and snapshots, file by file and between files."""
