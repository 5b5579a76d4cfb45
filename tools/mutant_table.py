"""All mutants, as edits of the source, and who has to notice.

Owns the table, and the mutants of the raft core that the simulator notices: `tools/mutants.py`
makes each edit in memory and plays seeds until the named invariant is violated.
"""

from __future__ import annotations

from mutant import mutant
from mutant_rooms import UNIT_MUTANTS
from mutant_transcripts import TRANSCRIPT_MUTANTS

MUTANTS = (
    mutant(
        "votes twice in an epoch",
        "votes",
        ("vote", "return asked.replica.is_known_as(role.voted)", "return is_up_to_date"),
    ),
    mutant(
        "votes for a shorter log",
        "votes",
        ("vote", "is_up_to_date = nominee.is_at_least(raft.log.end)", "is_up_to_date = True"),
    ),
    mutant(
        "grants every pre-vote",
        "votes",
        ("vote", "return is_up_to_date and not role.has_fetched", "return is_up_to_date"),
    ),
    mutant(
        "a leader grants pre-votes",
        "votes",
        (
            "vote",
            "case Leader():\n                return False",
            "case Leader():\n                return is_up_to_date",
        ),
        faults="slow-disk,delay,duplication,pause",
    ),
    mutant(
        "votes in an epoch that is over",
        "durability",
        (
            "rules",
            (
                "if epoch < raft.epoch:\n        return Error.FENCED_LEADER_EPOCH\n"
                "    return Error.INVALID_REQUEST if sender_id"
            ),
            (
                "if False:\n        return Error.FENCED_LEADER_EPOCH\n"
                "    return Error.INVALID_REQUEST if sender_id"
            ),
        ),
        faults="delay,crash,partition",
    ),
    mutant(
        "tells a vote that it does not write down",
        "durability",
        (
            "transitions",
            "_to(raft, after, durable=True, resets=False)",
            "_to(raft, after, durable=False, resets=False)",
        ),
    ),
    mutant(
        "writes quorum-state after it has answered",
        "durability",
        (
            "core",
            "    raft.emit(SetDeadline(at_ms=raft.wake_ms))\n    return raft.effects",
            (
                "    raft.effects.sort(key=lambda each: hasattr(each, 'state'))\n"
                "    raft.emit(SetDeadline(at_ms=raft.wake_ms))\n    return raft.effects"
            ),
        ),
    ),
    mutant(
        "a follower does not flush what it fetched",
        "durability",
        (
            "following",
            "            raft.emit(Flush(end_offset=raft.log.end_offset))",
            "            pass",
        ),
    ),
    mutant(
        "forgets its vote at a restart",
        "quorum-state",
        (
            "startup",
            "leader_id=stored.leader_id,\n        voted=stored.voted,",
            "leader_id=stored.leader_id,\n        voted=None,",
        ),
    ),
    mutant(
        "keeps a new epoch to itself",
        "quorum-state",
        (
            "transitions",
            (
                "election_deadline_ms=_unattached_deadline(raft, role),\n"
                "        ),\n        durable=True,"
            ),
            (
                "election_deadline_ms=_unattached_deadline(raft, role),\n"
                "        ),\n        durable=False,"
            ),
        ),
    ),
    mutant(
        "leads on in its epoch after a restart",
        "single-leader",
        (
            "startup",
            (
                "        return Resigned(\n            epoch=stored.epoch,\n"
                "            local=key,\n            endpoints=raft.settings.listeners,\n"
                "            unacknowledged=set(raft.control.voters.ids) - {key.id},\n"
                "            successors=(),\n            election_deadline_ms=deadline,\n        )"
            ),
            (
                "        return Candidate(epoch=stored.epoch, local=key,\n"
                "            tally=Tally({key.id}, key.id), election_deadline_ms=deadline)"
            ),
        ),
        (
            "startup",
            (
                "    if raft.key is not None and raft.stands"
                " and raft.control.voters.is_only(raft.key):"
            ),
            (
                "    if isinstance(role, Candidate) or (\n"
                "        raft.key is not None and raft.control.voters.is_only(raft.key)):"
            ),
        ),
    ),
    mutant(
        "is elected by one vote less than a majority",
        "elections",
        ("tally", "return majority_of(len(self._answers))", "return (len(self._answers) + 1) // 2"),
    ),
    mutant(
        "begins an epoch without asking before",
        "elections",
        (
            "candidacy",
            "    transitions.to_prospective(raft)\n    forward(raft)",
            "    transitions.to_prospective(raft)\n    become_candidate(raft)",
        ),
    ),
    mutant(
        "begins the epoch after the next",
        "epochs",
        (
            "transitions",
            "            epoch=role.epoch + 1,\n            local=raft.key,",
            "            epoch=role.epoch + 2,\n            local=raft.key,",
        ),
    ),
    mutant(
        "commits before anything of its own epoch is committed",
        "high-watermark",
        ("replicas", "return offset if offset > epoch_start_offset else None", "return offset"),
    ),
    mutant(
        "lowers the high watermark when a voter comes that is behind",
        "high-watermark",
        (
            "fetch",
            "leader.high_watermark is not None and committed <= leader.high_watermark",
            "leader.high_watermark is not None and committed == leader.high_watermark",
        ),
    ),
    mutant(
        "takes the high watermark of a follower for that of a leader",
        "high-watermark",
        (
            "transitions",
            "        granting=role.tally.granting,",
            "        high_watermark=role.high_watermark,\n        granting=role.tally.granting,",
        ),
    ),
    mutant(
        "forgets in another role what was committed",
        "truncation",
        ("log_view", "self.high_watermark = max(self.high_watermark, offset)", "pass"),
    ),
    mutant(
        "counts its own records before they are flushed",
        "majority",
        (
            "fetch",
            "own.end_offset = max(own.end_offset or 0, raft.log.flushed_offset)",
            "own.end_offset = raft.log.end_offset",
        ),
    ),
    mutant(
        "commits with half of the voters",
        "majority",
        (
            "replicas",
            "offset = offsets[majority_of(len(offsets)) - 1]",
            "offset = offsets[(len(offsets) - 1) // 2]",
        ),
    ),
    mutant(
        "commits what observers have",
        "majority",
        (
            "replicas",
            "            for voter in self.voters.values()\n        )[::-1]",
            (
                "            for voter in (*self.voters.values(), *self.observers.values())\n"
                "        )[::-1]"
            ),
        ),
    ),
    mutant(
        "serves a fetch of an epoch that is over",
        "fetches",
        (
            "rules",
            (
                "if epoch < raft.epoch:\n        return Error.FENCED_LEADER_EPOCH\n"
                "    if epoch > raft.epoch:"
            ),
            "if epoch > raft.epoch:",
        ),
    ),
    mutant(
        "fetches while another fetch is under way",
        "fetches",
        (
            "fetching",
            "    elif not connections.has_request_in_flight(now):",
            "    elif connections.is_ready(role.leader_id, now):",
        ),
    ),
    mutant(
        "serves any position, whatever epoch it follows on",
        "log-matching",
        (
            "log_view",
            "if end.epoch != last_epoch or end.offset < offset:",
            "if end.offset < 0:",
        ),
        faults="crash,slow-disk,partition",
    ),
    mutant(
        "cuts off more than it has to",
        "committed",
        (
            "following",
            (
                "    offset = log.truncation_point(diverging)\n"
                "    if offset < log.committed_offset or"
                " (known is not None and diverging.offset < known):"
            ),
            "    offset = max(log.end_offset - 8, log.start_offset)\n    if False:",
        ),
        ("log_view", "        if offset < self.committed_offset:", "        if False:"),
    ),
    mutant(
        "takes over a high watermark that its log does not reach",
        "committed",
        (
            "following",
            "commit(raft, role, min(raft.log.end_offset, answer.high_watermark))",
            "commit(raft, role, answer.high_watermark)",
        ),
    ),
    mutant(
        "goes by the voters before the newest",
        "voter-sets",
        (
            "control_history",
            "return entries[-1][1] if entries else self.static_voters",
            "return entries[-2:][0][1] if entries else self.static_voters",
        ),
    ),
    mutant(
        "keeps voters that were cut off from the log",
        "voter-sets",
        ("following", "    raft.control.truncate(offset)\n", ""),
    ),
    mutant(
        "writes the oldest voters that it knows into a snapshot",
        "voter-sets",
        (
            "control_history",
            "return self.entries[index - 1][1] if index else None",
            "return self.entries[0][1] if index else None",
        ),
    ),
    mutant(
        "changes the voters twice at once",
        "voter-sets",
        (
            "voter_rules",
            (
                "    if leader.change is not None:\n        return Error.REQUEST_TIMED_OUT,"
                ' "another change of the voters is under way"\n'
            ),
            "",
        ),
        (
            "voter_rules",
            "offset is None or leader.high_watermark is None or offset >= leader.high_watermark",
            "offset is None",
        ),
        faults="voters,slow-disk,delay,loss,partition",
    ),
    mutant(
        "changes the voters before anything of its epoch is committed",
        "voter-sets",
        (
            "voter_rules",
            (
                "    if leader.high_watermark is None:\n"
                "        return Error.REQUEST_TIMED_OUT,"
                ' "the leader has not committed anything yet"\n'
            ),
            "",
        ),
        (
            "voter_rules",
            "offset is None or leader.high_watermark is None or offset >= leader.high_watermark",
            "offset is None",
        ),
        faults="voters,slow-disk,resign,partition",
    ),
    mutant(
        "takes two voters out at once",
        "voter-sets",
        (
            "voter_changes",
            "    voters = raft.control.voters.without(asked.voter)\n",
            (
                "    voters = raft.control.voters.without(asked.voter)\n"
                "    for other in sorted(voters.keys if voters else ())[1:2]:\n"
                "        voters = voters.without(other)\n"
            ),
        ),
        faults="voters",
    ),
    mutant(
        "never doubts that it is heard",
        "check-quorum",
        (
            "leading",
            "is_lost = len(raft.control.voters) > 1 and",
            "is_lost = False and",
        ),
        faults="partition",
    ),
    mutant(
        "forgets the snapshot that its log starts with",
        "log-start",
        (
            "log_view",
            "snapshot for snapshot in self.snapshots if snapshot.offset >= start_offset",
            "snapshot for snapshot in self.snapshots if snapshot.offset > start_offset",
        ),
    ),
    mutant(
        "installs a snapshot of which slices are missing",
        "snapshots",
        (
            "snapshots",
            "if download.position == answer.size:",
            "if download.position >= answer.size // 2:",
        ),
    ),
    mutant(
        "gives its state machine a snapshot while it leads",
        "machines",
        (
            "state_machine",
            "self.next_offset < log.start_offset",
            "self.next_offset <= (newest.offset if newest else -1)",
        ),
        faults="kill,pause",
    ),
    mutant(
        "shows the state machine what is not committed",
        "machines",
        (
            "state_machine",
            "Deliver(from_offset=start, to_offset=committed)",
            "Deliver(from_offset=start, to_offset=log.end_offset)",
        ),
    ),
    mutant(
        "says that it leads before the state machine is ready",
        "machines",
        ("state_machine", "(self.next_offset or 0) <= role.epoch_start_offset", "False"),
        faults="crash,kill,resign,shutdown,slow-disk,pause",
    ),
    mutant(
        "waits for ever for a leader to appear",
        "liveness",
        (
            "candidacy",
            "if raft.now_ms >= role.election_deadline_ms:\n            become_prospective",
            "if False:\n            become_prospective",
        ),
    ),
    mutant(
        "never asks again who did not answer",
        "liveness",
        (
            "connections",
            (
                "        if connection is not None and now_ms >= connection.ends_ms:\n"
                "            del self._busy[destination]\n            return True\n"
            ),
            "",
        ),
        (
            "connections",
            "        for key in over:\n            del self._busy[key]",
            "        for key in over[:0]:\n            del self._busy[key]",
        ),
        faults="loss",
    ),
    mutant(
        "tells 0 for a high watermark that it does not know",
        "core",
        (
            "fetch",
            "committed = UNKNOWN if known is None or error",
            "committed = 0 if known is None or error",
        ),
    ),
    *TRANSCRIPT_MUTANTS,
    *UNIT_MUTANTS,
)
