"""The metadata image: what the cluster looks like at an offset, made by replaying records.

Pure: records go in as values, an immutable image comes out. One file per aspect holds the aspect's
image, its delta and how it is written back as records; `delta.py` hands each record to its aspect.

An aspect of the image (`image/topics.py`, say) has its frozen values, a delta whose methods replay
records (`@replays("TopicRecord")`), and the records that a snapshot of it holds. `delta.py` finds
the method; a test asks for one for each record of the catalogue. `loader.py` adds transactions: at
Begin it keeps the visible image and begins a new delta, so that an abort only drops the delta.
`layers.py` is the mapping of an aspect: a commit adds what changed over a base that all versions
share, so that its cost does not grow with the image (`make bench-changes`), and the order never
depends on hashes. A record that does not fit raises `ReplayError` and changes nothing, as strictly
as a controller, which stops. `writer.py` writes an image as Kafka 4.3 would; `state_hash.py` adds
up the hashes of those records, so that neither order nor version matters.

Real Kafka judges: the trees of kafka-metadata-shell for every fixture
(`tests/interop/test_shell.py`), random histories through Kafka's own image (`test_image.py`),
controllers started on our snapshots.
"""
