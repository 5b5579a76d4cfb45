"""`kraftool simulate-election`: what would happen if these nodes started now."""

from __future__ import annotations

from kraftool.commands.exit_code import ExitCode, UsageError
from kraftool.commands.options import RowFormat
from kraftool.commands.simulate_election_options import SimulateElectionOptions


def simulate_election(options: SimulateElectionOptions) -> None:
    """Simulate the next election from the nodes' disks.

    Example: kraftool simulate-election /var/lib/kafka/data --assume-up 3

    Give one directory (or server.properties) for each node. kraftool shows who can win, who refuses
    whom and why, how likely each leader is, and how long an election takes. It shows which records
    are lost if a node leads without them, which nodes you may restart, and how many more failures
    the quorum can tolerate. A voter without a directory counts as down. Without -v the report has
    the verdict, the advice, the nodes, and the proof that the verdict depends on most.

    Exits 1 if no leader is possible, if no run had a leader, or if a possible leader may lack
    committed records (DATA LOSS). These are records that another node has, or any records beyond
    the leader's log unless you gave the directories of a majority of the voters.

    A scenario describes nodes instead of directories: "nodes: {1: {end: 120}, 2: {end: 120}, 3:
    {end: 90, down: true}}". docs/simulate-election.md has all keys. The same seed gives the same
    output, whatever --jobs is. On a terminal the verdict is printed before the runs start. Ctrl-C
    stops them: the report then covers the runs that were made, and says so.

    Nothing is written or locked. A running Kafka is not disturbed. Nothing is sent to any node: the
    protocol runs in memory, on copies of what was read.
    """
    from kraftool.commands.election_question import asked

    if bool(options.paths) == bool(options.scenario):
        raise UsageError("name either directories or a scenario", hint="--scenario FILE")
    if options.paths.count("-") > 1:
        raise UsageError("stdin can be read only once", hint="name - once")
    to = options.printing.open(options.out)
    with to.task_progress("simulate-election") as progress:
        case, conditions = asked(options)
        from kraftool.sim.report import with_runs, without_runs

        early = without_runs(case, conditions, seed=options.seed)
    is_early = options.output is RowFormat.TABLE and to.to_terminal
    if is_early:
        from kraftool.commands.simulate_election_view import write_verdict

        write_verdict(to, early)
        to.line()
    with to.task_progress("simulate-election") as progress:
        report = with_runs(
            early,
            options.runs,
            options.jobs,
            progress,
            is_stoppable=options.output is RowFormat.TABLE,
        )
    if options.output is RowFormat.TABLE:
        from kraftool.commands.simulate_election_view import write_election

        write_election(to, report, early if is_early else None, verbose=options.verbose)
    else:
        from kraftool.sim.document import simulate_election_document

        to.document(simulate_election_document(report), options.output)
    if not report.is_fine:
        to.raise_code(ExitCode.FINDING)
    if any(finding.undecoded for finding in case.findings):
        to.raise_code(ExitCode.UNREADABLE)
    if report.stopped_before:
        to.problem("interrupted", code=ExitCode.INTERRUPTED)
    to.finish()
