"""A Kafka log directory: read as it lies on disk or in a tar stream, kept by a node that runs.

`paths.open_path` turns the PATH that a user gave into a `Location`; what follows from there is
`Entry` and `EntryProblem` values, and opens nothing for writing. `metadata_log.MetadataLog` is the
log that a running node appends to; all its writes go through `files.py`. Nothing here prints.
"""
