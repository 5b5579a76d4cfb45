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

kraftool divides the history of a large log at its snapshots, into parts of at least one range. A
task loads a snapshot, and replays the log up to the next one. If the snapshot of a part is damaged,
the part begins with an older snapshot. It begins with a later one if no older one is whole. A log
without snapshots in between has one part, and a cluster's events are one task. No run is faster
than its longest task.

The driver sees the names of files, and where logs end. It keeps a listing of the fleet, and for
each new file of a run the line for the table's log.

Why Delta. A run has to add and replace files of a table in one commit, on disks and in object
stores, without a service. Delta's log is files next to the data, and a commit is one file that only
one writer can make. delta-rs commits files that others wrote, and the state of a run is in a table
of the same kind. delta-rs 1.6.6 takes `%`, `#` and `?` in a folder's name for parts of a URL;
kraftool refuses such a folder (2).

We tried Iceberg too, with pyiceberg 0.12.0 and a catalog in SQLite, on the files of one run.
`add_files` added all 30 tables in 2.1 s of CPU, and refused a file that was in the table already.
Scans returned every row. `delete` of a cluster removed whole files. There are three reasons against
it. A commit needs the catalog: an object store has no place for a SQLite file, and any other
catalog is a database or a service, which readers must reach too. The metadata has the absolute path
of each file, so you cannot move or copy a folder of tables. A commit is for one table, as with
Delta: the state of a run would still need a table.
"""
