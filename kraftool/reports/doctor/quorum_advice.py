"""The commands to run next for a quorum at rest, with the PATHs that were given.

Owns which command follows from the judgement.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from kraftool.raft.names import Voter
from kraftool.reports.doctor.hosts import is_local, why_unreachable
from kraftool.reports.election.assessment import Assessment, NextStep
from kraftool.reports.election.assessment_words import directories
from kraftool.reports.election.case import ElectionCase, NodeCase
from kraftool.reports.election.memory import forgetful
from kraftool.reports.text import shell_text
from kraftool.reports.text.words import listed, numbered


def quorum_commands(
    assessment: Assessment,
    paths: Sequence[str],
    command: str,
    without_data: Sequence[str] = (),
    *,
    stopping: Sequence[int] = (),
    foreign: Sequence[str] = (),
    own_settings: Mapping[int, str] = MappingProxyType({}),
) -> Iterator[tuple[str, str]]:
    """Yield why to run a command, and the command line. `command` is the one that asks.

    `without_data` are those of the PATHs that lead to no data directory. Commands that read data
    directories do not name them, because they refuse such a PATH. `stopping` are the nodes whose
    controllers exit at a record. `foreign` are PATHs of another cluster, which a plan refuses.
    `own_settings` are the server.properties that were given of voters whose data was not.
    """
    left_out = {*without_data, *foreign}
    given = [path for path in paths if path not in left_out] or [shell_text.NO_PATH]
    without = "".join((_without(without_data, _GONE), _without(foreign, _FOREIGN)))
    absent = assessment.not_given
    if assessment.running_voters.is_majority:
        yield "To ask the controllers that run", health_command(assessment)
    if assessment.next_step in (NextStep.NOTHING, NextStep.ASK_LIVE, NextStep.START_ONE_MORE):
        broken = sorted({*assessment.to_repair, *stopping})
        if broken and command != "recover plan":
            yield (
                f"To plan the repair of {numbered('node', broken)}{without}",
                shell_text.line("kraftool", "recover", "plan", *given, "--out", "plan.yaml"),
            )
        return
    if assessment.next_step is NextStep.GIVE_OTHERS and assessment.voters:
        yield "To ask first if the quorum has a leader", health_command(assessment)
        yield from _with_absent(assessment, given, own_settings)
        ids = ",".join(map(str, absent))
        lost = ("--set", f"lost={ids}")
        yield (
            f"If there is no leader, and {directories(absent)} cannot be read any more{without}",
            shell_text.line("kraftool", "recover", "plan", *given, *lost, "--out", "plan.yaml"),
        )
    elif command != "recover plan":
        yield (
            f"To plan what to do on each node{without}",
            shell_text.line("kraftool", "recover", "plan", *given, "--out", "plan.yaml"),
        )
    if command != "simulate-election":
        yield (
            "To see who can be elected, and which records each leader lacks",
            shell_text.line("kraftool", "simulate-election", *given),
        )


def _with_absent(
    assessment: Assessment, given: Sequence[str], own_settings: Mapping[int, str]
) -> Iterator[tuple[str, str]]:
    """Yield the commands that collect the state of voters that were not given, and the plan."""
    hosts = {
        voter: host
        for voter, host in assessment.not_given_hosts
        if not is_local(host.lower()) and not why_unreachable(host.lower(), 1)
    }
    # Nodes of one cluster often have the same paths. The words say that this is a guess.
    places = (os.path.abspath(path) for path in given if _is_of_a_node(path))
    guess = next(places, shell_text.NO_PATH)
    paths = {voter: os.path.abspath(path) for voter, path in own_settings.items()}
    plan = ["kraftool", "recover", "plan", *given]
    if hosts:
        names = listed(f"{voter} (host {host})" for voter, host in hosts.items())
        places_there = (
            f"{host}:{paths[voter]}" if voter in paths else host for voter, host in hosts.items()
        )
        path = () if hosts.keys() <= paths.keys() else (guess,)
        yield (
            f"To collect the state of voter {names}, if the path there is the same",
            shell_text.line(
                "kraftool", "recover", "collect", "--ssh", ",".join(dict.fromkeys(places_there)),
                *path, "--out", _COLLECTED,
            ),
        )  # fmt: skip
    carried = [voter for voter in assessment.not_given if voter not in hosts]
    for voter in carried:
        file = f"voter-{voter}.collect"
        yield (
            f"On the host of voter {voter}, if the path there is the same, to collect its state",
            shell_text.line(
                "kraftool", "recover", "collect", paths.get(voter, guess), "--out", file
            ),
        )
        plan.append(file)
    files = "its file is" if len(carried) == 1 else "their files are"
    here = f", when {files} here" if carried else ""
    # The shell expands the names of the files, so this word is not quoted.
    fetched = f" {_COLLECTED}/*.collect" if hosts else ""
    yield (
        f"Then, to plan with {directories(assessment.not_given)} too{here}",
        f"{shell_text.line(*plan)}{fetched} --out plan.yaml",
    )


_COLLECTED = "collected"


def _is_of_a_node(path: str) -> bool:
    """True if a node can have this path: not for a tar stream or a collect file of one."""
    return os.path.isdir(path) or path.endswith(".properties")


def _without(paths: Sequence[str], why: tuple[str, str]) -> str:
    """Return which PATHs a command does not name, and why: in words for one, and for several."""
    if not paths:
        return ""
    one, several = why
    are = f"are left out: {several}" if len(paths) > 1 else f"is left out: {one}"
    return f" ({listed(paths)} {are})"


_GONE = (
    "its data directory is missing or empty",
    "their data directories are missing or empty",
)
_FOREIGN = ("it belongs to another cluster", "they belong to another cluster")


def health_command(assessment: Assessment) -> str:
    """Return the command that asks a live quorum, with the addresses of the voters that run."""
    where = (
        ",".join(assessment.running_voters.addresses or assessment.addresses) or shell_text.ANYWHERE
    )
    return shell_text.line("kraftool", "quorum", "health", "--bootstrap-controller", where)


# --- a voter whose log is gone -----------------------------------------------------------------


def wiped_voters(case: ElectionCase) -> Iterator[str]:
    """Yield what each given node with an empty log needs, if it is or may be a voter."""
    known = forgetful(case)
    for node in case.nodes:
        if node.assumed or node.end.offset > 0 or not node.settings.is_controller:
            continue
        if node.is_unread:
            yield f"kraftool could not read the log of node {node.id}, and cannot judge this node."
            continue
        if not case.voters or (node.id in known and node.id in case.voters.ids):
            yield from _needs(case, node)


def emptied_directories(paths: Iterable[str]) -> Iterator[str]:
    """Yield what a voter needs whose whole data directory is empty."""
    for path in dict.fromkeys(paths):
        if _is_empty(path):
            yield f"{path} is empty. If a voter had it, the voter lost its log and its identity."
            yield "Start that node only after the other voters have a leader."
            yield from _static("the node")
            yield from _dynamic(_OLD_NODE_ID, _OLD_DIRECTORY_ID, is_formatted=False)


def _is_empty(path: str) -> bool:
    """True if a folder has nothing in it; a folder that cannot be listed may hold anything."""
    try:
        return os.path.isdir(path) and not os.listdir(path)
    except OSError:
        return False


def _needs(case: ElectionCase, node: NodeCase) -> Iterator[str]:
    who = f"Node {node.id}"
    if not case.voters:
        yield (
            f"{who} has no metadata log, or an empty one. If it has several log directories, give"
            " the one with the metadata, or server.properties. A voter without its log forgot"
            " what it confirmed."
        )
    elif case.is_stranger(node):
        yield f"{who} has an empty log and another directory id than voter {node.id}."
    else:
        voted = "" if node.election is not None else " and how it voted"
        yield f"{who} is a voter with an empty log: it forgot what it confirmed{voted}."
    yield (
        f"Start {node.id} only after the other voters have a leader. With an empty log it"
        " votes for any candidate, even one that lacks committed records."
    )
    is_static = bool(case.voters) and case.kraft_version == 0
    if not case.voters or is_static:
        yield from _static(str(node.id))
    if is_static:
        return
    voter = case.voters.voters.get(node.id)
    known = voter.key.directory_id if voter is not None else None
    others = (other for other in case.voters if other.key.id != node.id)
    where = next((str(other.endpoint) for other in others if _is_real(other)), shell_text.ANYWHERE)
    yield from _dynamic(str(node.id), known or _OLD_DIRECTORY_ID, where, is_formatted=True)


def _is_real(voter: Voter) -> bool:
    return voter.endpoint is not None and voter.endpoint.port > 0


def _static(who: str) -> Iterator[str]:
    yield (
        f"Static voters (controller.quorum.voters): format {who} with its node.id and the cluster"
        " id of the others if meta.properties is missing, then start it. It is a voter again and"
        " fetches the log from the leader."
    )


_OLD_NODE_ID = shell_text.Unknown("old-node-id")
_OLD_DIRECTORY_ID = shell_text.Unknown("old-directory-id")


def _dynamic(
    node_id: str, directory_id: str, where: str = shell_text.ANYWHERE, *, is_formatted: bool
) -> Iterator[str]:
    formatted = "" if is_formatted else " Format it with --no-initial-controllers first."
    yield (
        f"Dynamic voters (kraft.version 1): with directory.id={directory_id} in"
        f" meta.properties, the node is a voter again when it starts.{formatted} With another"
        " directory id it only observes. Then remove the old voter, wait until the lag is 0,"
        " and add the new one:"
    )
    anywhere = ("--bootstrap-controller", where, "-i", node_id)
    old = (*anywhere, "-d", directory_id)
    yield f"  {shell_text.line('kraftool', 'quorum', 'remove-controller', *old)}"
    yield f"  {shell_text.line('kraftool', 'quorum', 'add-controller', *anywhere)}"
