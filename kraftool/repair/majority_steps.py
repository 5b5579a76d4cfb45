"""The steps of a plan for a lost majority: what to do on each host, and in which order.

Owns their order: everything is stopped first, brokers come last, and an old voter starts only after
it has lost its metadata. That no step contradicts another is `plan_check.py`'s.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.names import METADATA_FOLDER
from kraftool.image.metadata_version import level_name
from kraftool.raft.endpoints import static_voter
from kraftool.repair.cases import log_dirs
from kraftool.repair.plan import Action, PlanStep
from kraftool.repair.ranking import Host
from kraftool.repair.seed_choice import Choice
from kraftool.repair.step_commands import copy_step, source_option
from kraftool.reports.text.words import numbered

_PLAN = "plan.yaml"


def majority_steps(choice: Choice) -> tuple[PlanStep, ...]:
    """Return what to do, in order."""
    return tuple(_steps(choice))


def _steps(choice: Choice) -> Iterator[PlanStep]:
    names = _node_names(choice)
    lost_ids = [voter.id for voter in choice.quorum.lost]
    lost = tuple(f"node-{lost_id}" for lost_id in lost_ids if lost_id != choice.voter.id)
    left = tuple(
        host.name
        for host in choice.quorum.hosts
        if choice.quorum.votes(host) and host.node_id not in {choice.voter.id, *lost_ids}
    )
    yield PlanStep(
        action=Action.STOP,
        hosts=names,
        text="stop every controller and every broker, and whatever could start them again: a node"
        " that runs while another epoch begins can exit because of it",
    )
    if lost or left:
        text = (
            "keep any surviving disks of the lost voters offline: they may have committed records"
            f" that the plan does not have. If one is found before node {choice.voter.id} has"
            " started, plan again with it. Later, see quarantine in the plan's file"
        )
        if left:
            text = (
                "keep the old voters offline, including the surviving ones:"
                f" {choice.quorum.majority} of them can elect a leader. See quarantine"
                " in the plan's file for how each comes back"
            )
        if choice.voter.id in lost_ids:
            text += (
                f". Keep the old disk of node {choice.voter.id} offline too: it starts on a new one"
            )
        yield PlanStep(action=Action.KEEP_STOPPED, hosts=(*lost, *left), text=text)
    if choice.static:
        yield PlanStep(
            action=Action.CONFIGURE,
            hosts=names,
            text=f"set controller.quorum.voters={static_voter(choice.voter)} in every"
            " server.properties before you start anything, also on nodes that are not in this"
            f" plan{_of_old_brokers(choice)}",
        )
    yield from _apply(choice)
    yield from _fenced_log_dirs(choice)
    seed = choice.seed
    yield PlanStep(
        action=Action.START,
        hosts=(seed.name,),
        text=f"start node {choice.voter.id}; it leads within seconds"
        + (". It is also a broker" if choice.voter.id in choice.brokers else ""),
    )
    yield PlanStep(
        action=Action.CHECK,
        hosts=(seed.name,),
        text="it must lead, as the only voter, before you start anything else",
        commands=(f"kraftool quorum describe --status --bootstrap-controller {_address(choice)}",),
    )
    yield from _more_controllers(choice)
    if not choice.static:
        yield _bootstrap(choice)
    yield from _brokers(choice)
    verify = f"kraftool recover verify {_PLAN} --dir {seed.survey.directory}"
    yield PlanStep(
        action=Action.CHECK,
        hosts=(seed.name,),
        text="everything is as planned, on all nodes",
        commands=(seed.survey.command(f"{verify} --bootstrap-controller {_address(choice)}"),),
    )


def _of_old_brokers(choice: Choice) -> str:
    """Return what else a broker needs before it starts with other static voters."""
    if not choice.brokers - choice.quarantined_brokers - {choice.voter.id}:
        return ""
    return (
        f". With Kafka before 3.9, also move {METADATA_FOLDER}/quorum-state of each broker away:"
        " it names the old voters, and Kafka exits. A broker has given no vote"
    )


def _apply(choice: Choice) -> Iterator[PlanStep]:
    source = ""
    if choice.source is not choice.seed:
        yield copy_step(choice.source, choice.seed, "; the plan makes the state from it")
        source = source_option(choice.source)
    for host in _edited(choice):
        own = source if host is choice.seed else ""
        yield PlanStep(
            action=Action.APPLY,
            hosts=(host.name,),
            text="run it as the user that Kafka runs as. It keeps a backup, and you can undo it"
            " until a node has run on the directory",
            commands=(
                host.survey.command(
                    f"kraftool recover apply {_PLAN} --dir {host.survey.directory}{own}"
                ),
            ),
        )


def _fenced_log_dirs(choice: Choice) -> Iterator[PlanStep]:
    """Yield what gives the further log directories of a node the cluster id that apply writes."""
    by_node: dict[int | None, list[str]] = {}
    for log_dir in choice.fenced_log_dirs:
        command = log_dirs.cluster_id_command(log_dir, choice.cluster_id)
        by_node.setdefault(log_dir.node_id, []).append(command)
    for node_id, commands in by_node.items():
        yield PlanStep(
            action=Action.RUN,
            hosts=(f"node-{node_id}",),
            text="write the new cluster id into its other log directories too, as the user that"
            " Kafka runs as: it exits on directories of two clusters",
            commands=tuple(commands),
        )


def _edited(choice: Choice) -> Iterator[Host]:
    """The seed first."""
    yield choice.seed
    if choice.is_fenced:
        yield from (host for host in choice.quorum.hosts if host is not choice.seed)


def _more_controllers(choice: Choice) -> Iterator[PlanStep]:
    format_ = f"kraftool format -N -c controller.properties -t {choice.cluster_id}"
    # What is formatted for another release than the cluster's an older Kafka does not start on.
    release = level_name(choice.state.metadata_version or 0)
    if release:
        format_ += f" -r {release}"
    add = f"kraftool quorum add-controller --bootstrap-controller {_address(choice)}"
    add += " -c controller.properties"
    if choice.static:
        yield PlanStep(
            action=Action.RUN,
            text="to have three controllers again, see quarantine in the plan's file for how each"
            " comes back",
        )
        return
    yield PlanStep(
        action=Action.RUN,
        text="for each new controller: format an empty directory, start it, and add it once it has"
        " caught up. Two voters cannot lose one. Add a third",
        commands=(
            format_,
            add,
        ),
    )


def _node_names(choice: Choice) -> tuple[str, ...]:
    """One name for each node: a broker's second log directory is not a node to stop."""
    hosts = choice.quorum.hosts
    seen: set[int] = set()
    names = []
    for host in sorted(hosts, key=lambda host: not host.has_metadata):
        if host.node_id is None or host.node_id not in seen:
            names.append(host.name)
        seen |= {host.node_id} if host.node_id is not None else set()
    return tuple(host.name for host in hosts if host.name in names)


def _bootstrap(choice: Choice) -> PlanStep:
    return PlanStep(
        action=Action.CONFIGURE,
        hosts=_node_names(choice),
        text="name the current controllers in controller.quorum.bootstrap.servers of every"
        " server.properties: brokers find a new leader only through this setting",
    )


def _brokers(choice: Choice) -> Iterator[PlanStep]:
    ids = choice.brokers - choice.quarantined_brokers - {choice.voter.id}
    stray = (
        f"Partitions of topics that the state does not have (it has {choice.state.topics}) are"
        " renamed to -stray folders: keep those"
    )
    if ids:
        yield PlanStep(
            action=Action.RESTART,
            hosts=tuple(f"node-{broker}" for broker in sorted(ids)),
            text=f"start {numbered('broker', sorted(ids))} last. Restart one that still runs,"
            f" because the controller refuses its epoch forever. {stray}",
        )
    old = sorted(choice.quarantined_brokers)
    if old:
        yield PlanStep(
            action=Action.RUN,
            hosts=tuple(f"node-{broker}" for broker in old),
            text=f"{numbered('node', old)} {'are brokers' if len(old) > 1 else 'is a broker'} too,"
            " and must not start with the old metadata. If the disks survive, bring back one node"
            " at a time, as quarantine in the plan's file says: move the metadata partition away,"
            f" and keep meta.properties and the topic folders. {stray}",
            commands=tuple(dict.fromkeys(_move_away(choice, broker) for broker in old)),
        )


def _move_away(choice: Choice, node_id: int) -> str:
    """Return the command that keeps the metadata of an old voter, where Kafka does not look."""
    host = choice.quorum.host_of(node_id)
    if host is None:
        return f"# replace data-directory: {_moved('data-directory')}"
    survey = host.survey
    if survey.log is None and not survey.snapshots and survey.quorum_state.missing:
        return f"# {survey.directory} has no metadata to move away"
    return survey.command(_moved(survey.directory))


def _moved(directory: str) -> str:
    return f"mv {directory}/{METADATA_FOLDER} {directory}-old-metadata"


def _address(choice: Choice) -> str:
    return str(choice.voter.endpoint)
