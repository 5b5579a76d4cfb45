"""Errors of the raft core that the transcripts below tests/raft notice, and the simulator cannot.

Owns that part of the table. For each error there are at least two transcripts that fail.
"""

from __future__ import annotations

from mutant import TRANSCRIPTS, mutant

TRANSCRIPT_MUTANTS = (
    mutant(
        "takes batches of an epoch that it has not heard of",
        TRANSCRIPTS,
        ("following", "        if each.epoch > raft.epoch:\n            break\n", ""),
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
)
