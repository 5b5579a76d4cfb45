"""A deterministic simulator of quorums: the same raft core, with all else made of chance.

Time is virtual, and all chance comes from one seeded generator, so that a seed is a whole history.
It is an instrument of tests: `tools/simulate.py` runs it by hand.
"""
