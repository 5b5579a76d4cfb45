"""The words of a plan for a lost majority: why, what to do on each host, what must stay away.

Owns the sentences, and the order of the steps: everything is stopped first, brokers come last. It
refuses to decide.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.image.metadata_version import level_name
from kraftool.raft.endpoints import static_voter
from kraftool.repair.plan import Action, Method, PlanStep
from kraftool.repair.quorum_assessment import QuorumAssessment
from kraftool.repair.ranking import Host
from kraftool.repair.seed_choice import Choice
from kraftool.repair.step_commands import copy_step, source_option
from kraftool.reports.text.words import listed

_PLAN = "plan.yaml"


def summary(choice: Choice) -> tuple[str, ...]:
    """Return what happened and what is done about it, in a few sentences."""
    standing, seed = choice.standing, choice.voter.id
    sentences = [_what_happened(standing)]
    if choice.method is Method.APPEND:
        sentences.append(
            f"Node {seed} gets a record at the end of its log, in the new epoch"
            f" {choice.frame.epoch}, that makes it the only voter. No node given here is ahead"
            " of it."
        )
    elif choice.method is Method.SNAPSHOT_JUMP:
        sentences.append(
            f"Node {seed} continues as the only voter from a checkpoint of the whole state at"
            f" offset {choice.state_offset}. It is stored as offset {choice.frame.offset},"
            f" epoch {choice.frame.epoch}: higher than on any node. Every other node fetches"
            " it from there."
        )
    else:
        sentences.append(
            "kraft.version is 0: the voters are the setting controller.quorum.voters. From"
            f" now on it names only node {seed}, on every controller and broker."
        )
        if choice.jumps:
            sentences.append(
                "Its log may not be the right one to continue with. It continues from a"
                f" checkpoint of the whole state at offset {choice.state_offset}, stored as"
                f" offset {choice.frame.offset}, epoch {choice.frame.epoch}."
            )
    if choice.source is not choice.seed:
        sentences.append(
            f"The state is {choice.source.name}'s, up to offset {choice.state_offset} of epoch"
            f" {choice.state.last_epoch}. Node {seed} itself {_end(choice.seed)}."
        )
    sentences += [
        f"The record at offset {misfit.offset} does not fit the state ({misfit.text}), and may be"
        " what stops controllers. The checkpoint does not include it."
        for misfit in choice.left_out
    ]
    if choice.is_fenced:
        sentences.append(
            f"All kept nodes get the cluster id {choice.cluster_id}, so nodes with the old one"
            " cannot join them. Nodes that are not in this plan must be formatted again."
        )
    return tuple(sentences)


def _what_happened(standing: QuorumAssessment) -> str:
    ids = listed(voter.id for voter in standing.voters)
    lost, gone = standing.lost, standing.without_log
    if standing.is_lost:
        are = f"{listed(voter.id for voter in lost)} {'are' if len(lost) > 1 else 'is'}"
        return (
            f"Of the voters {ids}, {are} lost. The others are not a majority and cannot elect"
            " a leader."
        )
    if len(gone) == len(standing.voters):
        return f"Of the voters {ids}, none has a whole log any more."
    if len(standing.voters) - len(gone) < standing.majority:
        have = f"{listed(voter.id for voter in gone)} {'have' if len(gone) > 1 else 'has'}"
        return f"Of the voters {ids}, {have} no whole log any more. The others are not a majority."
    return (
        f"No majority of the voters {ids} is lost. One is to lead alone anyway, because you"
        " asked for it."
    )


def why_seed(choice: Choice) -> str:
    """Why this one."""
    end = choice.seed.survey.end
    if choice.standing.request.seed is not None:
        return f"you asked for it; it {_end(choice.seed)}"
    others = [host for host in choice.standing.present if host is not choice.seed]
    if not others:
        return (
            "it is the only voter whose directory is left; it is readable up to offset"
            f" {end.offset} of epoch {end.epoch}"
        )
    rest = ", ".join(f"{other.name} {_end(other)}" for other in others)
    return (
        f"of the remaining voters it has the last valid epoch {end.epoch}, and the longest"
        f" intact log in it, up to offset {end.offset}; {rest}"
    )


def _end(host: Host) -> str:
    end = host.survey.end
    if end.offset == 0:
        return "has no record"
    return f"ends at offset {end.offset} of epoch {end.epoch}"


def why_quarantined(choice: Choice) -> str:
    """Why an old voter must not simply run."""
    old = choice.standing
    if old.kraft_version == 0:
        return (
            "with its old settings it and others of the old voters can elect a leader among"
            f" themselves ({old.majority} of {len(old.voters)} are enough), and node"
            f" {choice.voter.id} exits when it reads their records"
        )
    why = (
        f"it uses the old voter set, of which {old.majority} of {len(old.voters)} can elect a"
        f" leader without node {choice.voter.id}"
    )
    if choice.is_fenced:
        return f"{why}. With the old cluster id that quorum stays separate from this one"
    if choice.jumps:
        return (
            f"{why}, as long as it cannot reach that node. Once it can, it fetches the"
            " checkpoint and is no longer a voter"
        )
    return f"{why}. An appended record does not prevent that"


def how_it_returns(choice: Choice, node_id: int) -> str:
    """Return what makes it safe again."""
    if choice.static:
        return (
            "empty its __cluster_metadata-0, add it to controller.quorum.voters on all nodes"
            " (a controller that is not named there does not start), and restart all of them."
            " Do this for one at a time, and for the next one only when it has caught up: two"
            " empty ones are a majority of three without any records"
        )
    anew = (
        "format an empty directory for this cluster (kraftool format -N), start it, and once it has"
        " caught up add it with kraftool quorum add-controller"
    )
    if choice.is_fenced or not choice.jumps:
        return f"only wiped: {anew}"
    return (
        f"wiped: {anew}. You can also start its old directory while node {choice.voter.id}"
        " leads and can be reached. Start one old voter after another, each when the previous"
        " one follows. It fetches the checkpoint. Then run add-controller"
    )


# --- steps -----------------------------------------------------------------------------------


def steps(choice: Choice) -> tuple[PlanStep, ...]:
    """Return what to do, in order."""
    return tuple(_steps(choice))


def _steps(choice: Choice) -> Iterator[PlanStep]:
    names = _node_names(choice)
    lost_ids = [voter.id for voter in choice.standing.lost]
    lost = tuple(f"node-{lost_id}" for lost_id in lost_ids)
    left = tuple(
        host.name
        for host in choice.standing.hosts
        if choice.standing.votes(host) and host.node_id not in {choice.voter.id, *lost_ids}
    )
    yield PlanStep(
        action=Action.STOP,
        hosts=names,
        text="stop every controller and every broker, and whatever could start them again: a node"
        " that runs while another epoch begins can exit because of it",
    )
    if lost or left:
        text = "keep any surviving disks of the lost voters offline; see quarantine"
        if left:
            text = (
                "keep the old voters offline, including the surviving ones:"
                f" {choice.standing.majority} of them can elect a leader. See quarantine for"
                " how each comes back"
            )
        yield PlanStep(action=Action.KEEP_STOPPED, hosts=(*lost, *left), text=text)
    if choice.static:
        yield PlanStep(
            action=Action.CONFIGURE,
            hosts=names,
            text=f"set controller.quorum.voters={static_voter(choice.voter)} in every"
            " server.properties before you start anything, also on nodes that are not in this"
            " plan",
        )
    yield from _apply(choice)
    seed = choice.seed
    yield PlanStep(
        action=Action.START,
        hosts=(seed.name,),
        text=f"start node {choice.voter.id}; it leads within seconds",
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


def _edited(choice: Choice) -> Iterator[Host]:
    """The seed first."""
    yield choice.seed
    if choice.is_fenced:
        yield from (host for host in choice.standing.hosts if host is not choice.seed)


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
            text="to have three controllers again, see quarantine for how each comes back",
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
    hosts = choice.standing.hosts
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
    brokers = listed(choice.state.brokers)
    if not brokers:
        return
    yield PlanStep(
        action=Action.RESTART,
        hosts=tuple(f"node-{broker}" for broker in choice.state.brokers),
        text=f"start broker {brokers} last. Restart one that still runs, because the controller"
        " refuses its epoch forever. Partitions of topics that the state does not have (it"
        f" has {choice.state.topics}) are renamed to -stray folders: keep those",
    )


def _address(choice: Choice) -> str:
    return str(choice.voter.endpoint)
