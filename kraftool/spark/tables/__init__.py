"""The tables that `kraftool pipeline tables` writes: what is in them, and how they are kept.

`tables/` lets workers write Parquet themselves: each record is decoded once for all tables
(`extract.py`, by the columns of the sources). delta-rs commits the files (`delta.py`); `state.py`
is one more Delta table, which has what was read (`memory.py`). A run commits one table after the
other, and the state last (`commit.py`): it names the version of each table. A table that is ahead
of it was left by a run that was killed, and gets the files of that version back. So no step of a
run has to be finished by another one. `replaced_rows.py` finds the rows that new ones replace by
their columns, since an OPTIMIZE may have put any rows into one file. Very many files are several
runs. A commit never retries by itself: it makes the next version that its run saw, or fails.

A run is two jobs: one reads the headers of logs that have changed, and the other does all the work.
A third job writes the files again that have rows of units that changed, and others too. If the
clusters with changes have more than 20,000 files together, kraftool makes several runs of about
20,000 files each, one after the other. Each is committed by itself. Logs are cut into ranges of at
most 64 MB. Tasks are sorted by the time that they will take, the longest first. Each range is
decoded once for all tables. A Python worker keeps up to 32 MB of columns that wait to be assembled
and 64 MB that wait to be written, and has at most 48 files open, however many clusters and days
there are.

The history and the state of a directory are one task, and so are a cluster's events. Such a task
keeps one image in memory, however long the log is. No run is faster than its longest task.

The driver sees the names of files, and where logs end. It keeps a listing of the fleet, and for
each new file of a run the line for the table's log.
"""
