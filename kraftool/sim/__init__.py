"""Simulated elections: the real raft core in virtual time, on copies of what the disks say.

All chance comes from one seeded generator, so that a seed is a whole run. `report.py` makes the
runs of one case, and what they show.
"""
