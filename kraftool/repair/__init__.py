"""Repair of directories and quorums: what was found, a plan, and what comes of it.

Nothing is changed but by `apply` and `undo`, which do what a plan says.

`repair/surveying.py` reads a directory into a `Survey` (`survey.py`), which is also what a collect
file holds, so that a plan from carried files is the one from directories. `surveyed_quorum.py`
assesses the quorum; a lost majority goes to `seed_choice.py` and `majority.py`, all else to the
cases in `cases/`, one file each, asked in order by `mending.py`; `shortfall.py` finds what shows
only between directories. No action is needed only if `reports/election/assessment.py` says so, the
one judgement of a quorum at rest: it tries every set of voters and every leader (`judging.py` gives
it the surveys; `start_order.py` finds the order of starts on what a plan leaves);
`memory.py` has the evidence that a voter forgot records. doctor, recover, simulate-election and
watch show it by `assessment_words.py` and `assessment_json.py`. A `Plan` (`plan.py`) names files by
kind and name, and new content by slices of files whose hashes it states; a checkpoint is a recipe
(`state_records.py`) that the host computes itself, since no state with secrets is carried.
`document.py` is the one mapping between values and files. An append goes into a new segment: no
existing byte changes.

`decoders/bit_flip.py` finds the one flipped bit of a batch; `bit_survey.py` those of a log or a
checkpoint. If they explain all of its damage, the directory is surveyed once more with the bits put
back (`Survey.put_back`), and every plan is made from that survey (`ranking.hosts_of`), unless
another directory has other bytes there (`bit_evidence.py`). In the same way `run_survey.py` surveys
a damaged log with the good batches of other nodes (`Survey.restored`): `log_runs.py` proves by
Raft's log matching that the damaged log had them. Last, `on_disk.py` turns the plan into one for
the bytes that the disks have.

`leadership.py` checks each plan last: on the directories as the plan leaves them, no epoch that a
directory has led or voted in can get another leader.

`repair/apply.py` carries out a plan in one directory, under its lock, and `undo.py` undoes it.
Nothing changes before every original is copied and every new file is made, verified and durable, in
a folder of the metadata partition's own (`backup.py`: there Kafka ignores folders). Then files only
change names, in an order that `edits.py` owns, each step in the journal
(`storage/repair_journal.py`, `record.py`) before it is done; the files themselves show which steps
are left. Every write goes through `storage/files.py`: tests kill it at each one, and play back each
loss of power. A node has run on a directory if a segment, checkpoint, quorum-state or
meta.properties is neither as it was nor as planned; nothing is finished or undone then. The
journal's form and its stages are `storage/repair_journal.py`'s, so that `directory/repairs.py`
finds a plan that is half done, whichever command reads the directory.

`repair/rehearsal.py` runs a plan on copies (`rehearsal_copies.py`): apply as it is, then
`sim/returning.py`, which lets old voters come back to a quorum that leads, then real
processes (`rehearsal_nodes.py`). `rehearsal_local.py` alone decides whom those reach: it rewrites
the copies' voters and writes their settings from nothing. A run of simulate-election plays the
core; an exchange that changes nothing is played once and then repeated without it
(`sim/repetition.py`).

`commands/recover_guide*.py` only ask and run these commands, and keep in guide.json what was done.
For `collect --ssh` and `--kubectl`, `commands/remote_nodes.py` has the command lines,
`remote_script.py` what runs on a node, `remote_head.py` the lines that it sends first,
`remote_fetch.py` the process, and `remote_copy.py` the copies, which are surveyed like directories
of this host. A node may be hostile: only files that the script asked for are written, no more bytes
than the head announced, and no path of a node is opened here. `tests/fuzz/remote_checks.py` sends
mutated heads, streams and lists of pods next to a sound node.
"""
