"""A Kafka log directory as it lies on disk or in a tar stream, opened for reading only.

`paths.open_path` turns the PATH that a user gave into a `Location`; what follows from there is
`Entry` and `Problem` values. Nothing here decodes a format, prints, or opens a file for writing.
"""
