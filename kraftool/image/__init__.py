"""The metadata image: what the cluster looks like at an offset, made by replaying records.

Pure: records go in as values, an immutable image comes out. One file per aspect holds the aspect's
image, its delta and how it is written back as records; `delta.py` hands each record to its aspect.
"""
