"""Quorums at rest: what nodes have on their disks, and what an election would make of it."""
