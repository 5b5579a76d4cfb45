"""The audit of a fleet: each directory by itself, and what all nodes of a cluster show together."""
