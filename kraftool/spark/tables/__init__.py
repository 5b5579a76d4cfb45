"""The tables that `kraftool pipeline tables` writes: what is in them, and how they are kept.

`tables/` lets workers write Parquet themselves: each record is decoded once for all tables
(`extract.py`, by the columns of the sources). delta-rs commits the files (`delta.py`); `state.py`
is one more Delta table, which has what was read (`memory.py`). A run commits one table after the
other, and the state last (`commit.py`): it names the version of each table. A table that is ahead
of it was left by a run that was killed, and gets the files of that version back. So no step of a
run has to be finished by another one. `replaced_rows.py` finds the rows that new ones replace by
their columns, since an OPTIMIZE may have put any rows into one file. Very many files are several
runs. A commit never retries by itself: it makes the next version that its run saw, or fails.
"""
