"""Errors of all rooms of the product, which the unit tests of the same room notice.

Owns that part of the table. Each names the file of tests in which at least one fails.
"""

from __future__ import annotations

from mutant import unit_mutant

UNIT_MUTANTS = (
    unit_mutant(
        "undo looks at earlier plans instead of later ones",
        "repair.undo",
        "other.begin.time_ms <= began_ms",
        "other.begin.time_ms >= began_ms",
        caught_by="repair/test_undo.py",
    ),
    unit_mutant(
        "--set epoch may be the highest known epoch",
        "repair.seed_choice",
        "if not least < wanted < LARGEST_EPOCH:",
        "if not least <= wanted < LARGEST_EPOCH:",
        caught_by="repair/test_seed_choice.py",
    ),
    unit_mutant(
        "a voter ranks before a longer log",
        "repair.ranking",
        "(host.rank, is_voter(host, voters), host.survey.intact)",
        "(is_voter(host, voters), host.rank, host.survey.intact)",
        caught_by="repair/test_ranking.py",
    ),
    unit_mutant(
        "a snapshot of a later epoch proves a commit",
        "repair.shortfall",
        "if whole_snapshot.offset <= end.offset and whole_snapshot.epoch <= end.epoch",
        "if whole_snapshot.offset <= end.offset",
        caught_by="repair/test_shortfall.py",
    ),
    unit_mutant(
        "a node starts on a plan with a vote in the epoch of its log",
        "repair.leadership",
        "return EpochMemory(epoch=of_log, has_voted=False)",
        "return EpochMemory(epoch=of_log, has_voted=True)",
        caught_by="repair/test_leadership.py",
    ),
    unit_mutant(
        "a step may start a node before the plan is applied to it",
        "repair.plan_check",
        "if other.action is Action.APPLY",
        "if other.action is Action.STOP",
        caught_by="repair/test_plan_check.py",
    ),
    unit_mutant(
        "a controller that is far behind may become a voter",
        "client.voter_changes",
        "if observer.last_caught_up_timestamp < 0 or lag > LAG_RECORDS:",
        "if observer.last_caught_up_timestamp < 0 and lag > LAG_RECORDS:",
        caught_by="client/test_adding.py",
    ),
    unit_mutant(
        "a voter that lacks one committed record counts",
        "client.grades",
        "if missing > 0:",
        "if missing > 1:",
        caught_by="client/test_judgement.py",
    ),
    unit_mutant(
        "a node is registered where any node is",
        "client.readiness",
        "if node_id in leader.controllers:",
        "if leader.controllers:",
        caught_by="client/test_readiness.py",
    ),
    unit_mutant(
        "a lag of exactly 1000 records is a finding",
        "reports.doctor.rules.lag",
        "behind <= _MOST_RECORDS",
        "behind < _MOST_RECORDS",
        caught_by="reports/doctor/test_lag.py",
    ),
    unit_mutant(
        "a snapshot of all records can be too old",
        "reports.doctor.rules.old_snapshot",
        "if not late or newest.offset >= log.end:",
        "if not late:",
        caught_by="reports/doctor/test_old_snapshot.py",
    ),
    unit_mutant(
        "records of a minority count as on a majority",
        "reports.election.losses",
        "return self.weighs and self is not CommitStatus.MINORITY",
        "return self.weighs",
        caught_by="reports/test_assessment.py",
    ),
    unit_mutant(
        "a batch with fewer records than offsets is well formed",
        "reports.verify.log_form",
        "    elif header.last_offset_delta != header.record_count - 1:",
        "    elif header.last_offset_delta < header.record_count - 1:",
        caught_by="reports/test_verify_log_rules.py",
    ),
    unit_mutant(
        "damage that --fail-on counts is an ordinary finding",
        "commands.finding_options",
        "ExitCode.UNREADABLE if finding.undecoded else ExitCode.FINDING",
        "ExitCode.FINDING",
        caught_by="commands/test_exit_codes.py",
    ),
    unit_mutant(
        "--fail-on error counts warnings",
        "commands.finding_options",
        "severities.index(fail_on.value) + 1]",
        "severities.index(fail_on.value) + 2]",
        caught_by="commands/test_doctor.py",
    ),
    unit_mutant(
        "a refusal exits as damage does",
        "commands.exit_code",
        "ExitCode.REFUSED if isinstance(error, RefusedError) else ExitCode.UNREADABLE",
        "ExitCode.UNREADABLE",
        caught_by="commands/test_exit_code.py",
    ),
    unit_mutant(
        "an option takes a number beyond its bound",
        "commands.parameter_values",
        "self._most is not None and not value <= self._most",
        "self._most is not None and not value <= self._most + 1",
        caught_by="commands/test_parameters.py",
    ),
    unit_mutant(
        "snapshots that go count in the size for cleaning",
        "storage.cleaning",
        "        del sizes[snapshot]\n",
        "",
        caught_by="storage/test_cleaning.py",
    ),
    unit_mutant(
        "the oldest snapshot stays where the next one is no later than the log's start",
        "storage.cleaning",
        "if snapshot.offset >= start]",
        "if snapshot.offset > start]",
        caught_by="storage/test_metadata_log_snapshots.py",
    ),
    unit_mutant(
        "a segment that a log never continued is read on",
        "storage.recovery",
        "if segment.log.size() or base_offset < before.next_offset:",
        "if segment.log.size():",
        caught_by="storage/test_recovery.py",
    ),
    unit_mutant(
        "a leader hears itself",
        "raft.check_quorum",
        "        if replica.id == leader.local.id:\n            return\n",
        "",
        caught_by="raft/test_transcripts.py",
    ),
    unit_mutant(
        "an epoch that began without a record keeps its place",
        "raft.log_view",
        (
            "        while self.epochs and self.epochs[-1].start_offset >= self.end_offset:\n"
            "            self.epochs.pop()\n"
            "        self.epochs.append("
        ),
        "        self.epochs.append(",
        caught_by="raft/test_log_view.py",
    ),
    unit_mutant(
        "the release that brought SCRAM records cannot hold them",
        "image.scram",
        "if metadata_version < SCRAM_LEVEL:",
        "if metadata_version <= SCRAM_LEVEL:",
        caught_by="image/test_writer.py",
    ),
    unit_mutant(
        "a feature of level 0 stays finalized",
        "image.features",
        "            if level == 0:\n",
        "            if level < 0:\n",
        caught_by="image/test_aspects.py",
    ),
    unit_mutant(
        "a broker stays in the ELR after an unclean shutdown",
        "controller.partition_changes",
        " - set(self.isr) - {self.unclean_shutdown}",
        " - set(self.isr)",
        caught_by="controller/test_partitions.py",
    ),
    unit_mutant(
        "a smaller set of replicas is complete before all of it is in sync",
        "controller.partition_changes",
        "if len(self.adding) < len(self.removing) and not set(replicas) <= set(isr):",
        "if False:",
        caught_by="controller/test_reassignments.py",
    ),
    unit_mutant(
        "a cancelled reassignment keeps the leader epoch",
        "controller.partition_changes",
        "not set(self.replicas).issuperset(self.partition.replicas)",
        "False",
        caught_by="controller/test_reassignments.py",
    ),
    unit_mutant(
        "a broker is unfenced before it has read its registration",
        "controller.heartbeats",
        'request["currentMetadataOffset"] >= registered_at',
        'request["currentMetadataOffset"] >= registered_at - 1',
        caught_by="controller/test_brokers.py",
    ),
    unit_mutant(
        "a session ends a millisecond early",
        "controller.heartbeats",
        "return heard_ms + self._timeout_ms < now_ms",
        "return heard_ms + self._timeout_ms <= now_ms",
        caught_by="controller/test_brokers.py",
    ),
    unit_mutant(
        "a partition's second replica is in its leader's rack",
        "controller.placement",
        "if at == leads and not is_skipped:",
        "if False:",
        caught_by="controller/test_partitions.py",
    ),
    unit_mutant(
        "a header may count two records more than its offsets",
        "decoders.segment",
        "0 <= header.record_count <= header.last_offset_delta + 1",
        "0 <= header.record_count <= header.last_offset_delta + 2",
        caught_by="decoders/test_segment.py",
    ),
)
