"""Backups of the metadata: made, listed, verified, removed.

A backup is a folder with a manifest (`manifest.py`) and a checkpoint that Kafka itself can start
from. `create.py` makes it of any PATH or of a captured leader: the state up to a transaction's
border, written as Kafka would write a snapshot of it. If the state is that of the newest backup,
the new one has a manifest only, which names the checkpoint of the older one.

`storage/backup_files.py` owns the names and the files, so that `open_path` reads a backup like any
other file. `verify.py` compares bytes and state with the manifest, `prune.py` decides what goes.
"""
