"""Simulated elections: runs by seed, every order of a small case, what-ifs."""
