"""The cluster's metadata at an offset, from files: the best snapshot below it, then the log.

`reports/state/replay.py` replays batches and makes findings of what does not fit; `load.py` chooses
the newest whole snapshot below the offset asked for, then the log up to that offset or to its first
damage. Every command that needs a state uses these two; `doctor` makes it (`one_pass.py`) while it
reads.

The partitions of a snapshot are not replayed one by one if the native module is there.
`placed_records.py` notes where plain ones are, checks what a replay would check, and
`image/placed.py` is the topic's mapping, which reads up to 64 of them when one is needed. It keeps
the file open, and refuses bytes that have changed since they were found. Everything else, and a
partition that does not fit, is replayed as usual, so findings have one author. `doctor`, `recover`
and `verify-log`, which read a snapshot once, keep its bytes in memory instead. A change copies the
topic's partitions, as with any other mapping. `state_hash.py` hashes the records of a snapshot as
they are, where the newest Kafka would write the same.


"""
