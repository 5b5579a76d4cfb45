"""Runs the raft core as a real node: disk, network, clock, configuration, state machine.

`runner.py` owns the one loop in which the core steps and its effects are done in order. Nothing
here decides anything of the protocol.
"""
