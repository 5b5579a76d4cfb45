"""A quorum watched over time: live nodes asked again and again, directories looked at again.

It gives frozen pictures. Whoever shows them (dashboard, text, JSON) is above.

`watching/watcher.py` gives a `Picture` a second: what nodes said, and a poll at each directory that
costs the same whatever its size. A view of `tui/screens/` shows pictures and asks for nothing
itself. What takes longer than a few milliseconds runs in a thread (`View.work`); what decodes or
simulates for seconds runs in a process of its own (`watching/child_process.py`: a plain child, a
pickle each way, killed when its result is no longer needed), so that keys are answered meanwhile.
`watching/pool.py` keeps the connections: the last answer of a slow node remains until the next one
comes, `NodeAnswer.waiting_ms` says that it is overdue, and `lateness.py` knows when this process
itself was late. `Task` carries progress and partial results out, and the request to stop in.
`watching/events.py` compares each poll with the one before it. Log and State use `reports/browse/`:
a log in blocks that are found from anywhere (`blocks.py`; a batch border is where a CRC holds, no
index is trusted), rows made when they are seen (`window.py`, `feed.py`), and states read on from
the nearest that is kept (`history.py`). `--serve` starts such a dashboard for each browser window
(`commands/watch_serve*.py`); of textual-serve only the terminal in the browser is used, because its
server checks neither the client nor its origin.
"""
