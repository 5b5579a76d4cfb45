"""Metadata logs as tables of Apache Spark, for what outgrows one machine.

Owns all that knows Spark. Spark is the engine, `kraftool.decoders` the parser. Heavy packages are
imported where they are used, so that no other command waits for them.

`kraftool/spark/` is a thin adapter over it: `source.py` and `stream.py` are what Spark asks for.
Damage is a row, never a failed job. Work is a DataFrame of pickled units (`values.py`), so that
Spark Connect can do it (`connect.py`). `engine.py` makes the session: it finds Java (`java.py`),
ships the package to workers (`shipping.py`: those of this machine import the driver's files, others
a zip, from which `native_archive.py` loads the native module) and leaves no JVM behind. Nothing
else imports it, and no other command starts a JVM. `pyspark_kraft/` is the one other import root:
Spark finds a format without registration only by such a package. A table of Spark's catalog keeps
its options in the metadata of its first column (`catalog.py`). A stream's offset names the
entry of `live/state_log.py` that has the exact byte ranges of its micro-batch, so that a replay
gives the same rows. `live/following.py` lists the fleet once for a micro-batch, for records
and findings together.

`live/` joins the streams of records and of findings and has the sinks. Directories behind URLs are
copied to a worker for the parts that need all of one (`local_copy.py`).
"""
