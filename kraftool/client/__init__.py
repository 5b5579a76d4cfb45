"""A live quorum as seen from outside: every node is asked itself, with or without a leader.

`client/survey.py` asks every node itself. A `Target` keeps what a poll learned (`Known`), and every
later poll asks those nodes too, so that no single node has to stay up. A broker is recognized by
the APIs that it offers; it is asked only for the controllers' addresses, and is not a node of the
view. `net/errors.py` says what failed (`Failure`), `failures.py` what to do about it,
`not_asked.py` how it is reported. `client/observing.py` is the one reader of a leader's log:
fetches that name no replica, an end that is known at the beginning, and a receiver for the content.
`earlier_log.py` reads the leader's log before its newest snapshot, for commands that show the past.
`observer.py` makes an image of it, and keeps that up to date; `capture.py` makes files: a
`Location` of kind LIVE, whose entries are in unnamed temporary files, so that every report that
reads a directory reads a leader too. `state`, `diff-state`, `timeline`, `dump-log` and `shell`
capture only committed records; `tail.py` continues from there for `--follow`. The nodes' other
answers are `NodeDirectory` values (`live_sources.py`). So rules know nothing of connections:
doctor's rules examine a running leader's state like any other, and `cluster_health.py` adds what
only fetches show. `active_controller.py` has the words on witnesses: voters whose ApiVersions shows
that they run no controller. A directory shows it by the file kraftool-witness
(`storage/witness_marker.py`, which owns when that counts). `judgement.py` is the one judgement of a
live quorum, by one poll or two: it grades each replica (`grades.py`), and says how many voters may
be lost, or that this is not known. `health.py` makes findings of it, `stopping.py` the answer of
`quorum may-stop`, and `watching/safety.py` what the dashboard shows. So a voter that fetches but
cannot be reached counts for none of them, and a late answer is not a failure.
"""
