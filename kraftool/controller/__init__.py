"""The active controller: what Kafka's QuorumController decides, without disk, network or clock.

A request and the time go in; records, an answer and the time of the next task come out
(`controller.py`). Whoever runs it (the node, the simulator) appends the records and says what is
committed.
"""
