"""Errors of the raft core that the transcripts below tests/raft notice, and the simulator cannot.

Owns that part of the table. For each error there are at least two transcripts that fail.
"""

from __future__ import annotations

from mutant import TRANSCRIPTS, mutant

TRANSCRIPT_MUTANTS = (
    mutant(
        "takes batches of an epoch that it has not heard of",
        TRANSCRIPTS,
        ("following", "        if batch.epoch > raft.epoch:\n            break\n", ""),
    ),
    mutant(
        "truncates to the leader's offset, whatever the epochs are",
        TRANSCRIPTS,
        (
            "log_view",
            (
                "return min(end.offset, diverging.offset)"
                " if end.epoch == diverging.epoch else end.offset"
            ),
            "return min(diverging.offset, self.end_offset)",
        ),
    ),
    mutant(
        "truncates to the end of the epoch, whatever the leader's offset is",
        TRANSCRIPTS,
        (
            "log_view",
            (
                "return min(end.offset, diverging.offset)"
                " if end.epoch == diverging.epoch else end.offset"
            ),
            "return end.offset",
        ),
    ),
    mutant(
        "truncates below its newest snapshot after a restart",
        TRANSCRIPTS,
        (
            "log_view",
            "return max(self.high_watermark, self.start_offset, newest.offset if newest else 0)",
            "return max(self.high_watermark, self.start_offset)",
        ),
    ),
    mutant(
        "replaces committed records by a snapshot",
        TRANSCRIPTS,
        ("log_view", "        self.refuse_loss(snapshot.offset)\n", ""),
    ),
    mutant(
        "compares a snapshot with its log by offset alone",
        TRANSCRIPTS,
        (
            "log_view",
            (
                "return snapshot.epoch > end.epoch or (\n"
                "            snapshot.epoch == end.epoch and snapshot.offset > end.offset\n"
                "        )"
            ),
            "return snapshot.offset > end.offset",
        ),
    ),
    mutant(
        "grants a pre-vote after half the fetch timeout, though its leader is alive",
        TRANSCRIPTS,
        (
            "vote",
            "return is_up_to_date and not role.has_fetched",
            (
                "half = raft.timing.fetch_timeout_ms // 2\n"
                "                is_late = raft.now_ms >= role.fetch_deadline_ms - half\n"
                "                return is_up_to_date and (is_late or not role.has_fetched)"
            ),
        ),
    ),
    mutant(
        "stays in its epoch when a pre-vote names a higher one",
        TRANSCRIPTS,
        (
            "vote",
            "if asked.replica_epoch > raft.epoch:",
            "if asked.replica_epoch > raft.epoch and not asked.pre_vote:",
        ),
    ),
    mutant(
        "adds a voter that has not caught up",
        TRANSCRIPTS,
        (
            "voter_changes",
            "if not leader.replicas.is_caught_up(change.voter.key, raft.now_ms):",
            "if False:",
        ),
    ),
    mutant(
        "acknowledges a new voter on append, though the caller waits for the commit",
        TRANSCRIPTS,
        (
            "voter_changes",
            "if not change.ack_when_committed and change.request_id is not None:",
            "if change.request_id is not None:",
        ),
    ),
    mutant(
        "acknowledges a new voter on commit, though the caller waits for the append",
        TRANSCRIPTS,
        (
            "voter_changes",
            "if not change.ack_when_committed and change.request_id is not None:",
            "if change.request_id is None:",
        ),
    ),
    mutant(
        "a witness that has a leader counts refusals",
        TRANSCRIPTS,
        ("last_resort", "if has_leader or candidate", "if candidate"),
    ),
    mutant(
        "a witness goes on counting after a grant",
        TRANSCRIPTS,
        (
            "last_resort",
            "if granted:\n        raft.refusals.clear()\n        return",
            "if granted:\n        return",
        ),
    ),
    mutant(
        "hands leadership to a controller that lacks records",
        TRANSCRIPTS,
        ("hand_over", "voter.end_offset >= raft.log.end_offset", "True"),
    ),
    mutant(
        "hands leadership to a voter without a controller",
        TRANSCRIPTS,
        ("hand_over", "voter.key.id in leader.controllers", "True"),
    ),
    mutant(
        "does not wait before it hands over again",
        TRANSCRIPTS,
        ("hand_over", "if raft.now_ms < leader.hand_over_deadline_ms:", "if False:"),
    ),
)
