"""Runs the raft core as a real node: disk, network, clock, configuration, state machine.

`runner.py` owns the one loop in which the core steps and its effects are done in order. Nothing
here decides anything of the protocol.

`node/runner.py` has the one loop: an event goes into the core, its effects are done in order, disk
work on one thread, and only then comes the next event. Everything that waits is outside and posts
events: `peers.py` (a connection for each destination), `serving.py` (Kafka's requests to the core's
and back), `machine.py` (replays what is committed, in a thread), `snapshotting.py`. `raft_wait.py`
measures how long the core waits for its loop and the disk. `registration.py` posts nothing: it
waits for steps, and registers this run with the active controller. `standby.py` has what every node
does with its log, `active.py` what one does that can be the active controller; `process.py` opens
all of it in order and closes it again, and `ending.py` has the signals. `storage/metadata_log.py`
is the log on the disk: every write goes through `storage/files.py`, so that a test can play back
what a loss of power leaves. A message that the core finds impossible is refused there
(`core.refuse`); any other broken invariant stops the node. So does a request to truncate committed
records: `LogView`, which both the core and `MetadataLog` have, knows the highest high watermark of
the process and refuses it.
"""
