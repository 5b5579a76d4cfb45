"""The words of a plan for a lost majority: why one node leads, and why old voters stay away.

Owns the sentences. The steps are `majority_steps.py`'s.
"""

from __future__ import annotations

from kraftool.decoders.names import METADATA_FOLDER
from kraftool.repair.plan import Method
from kraftool.repair.ranking import Host
from kraftool.repair.seed_choice import Choice
from kraftool.repair.surveyed_quorum import SurveyedQuorum
from kraftool.reports.text.words import listed


def summary(choice: Choice) -> tuple[str, ...]:
    """Return what happened and what is done about it, in a few sentences."""
    quorum, seed = choice.quorum, choice.voter.id
    sentences = [_what_happened(quorum)]
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


def _what_happened(quorum: SurveyedQuorum) -> str:
    ids = listed(voter.id for voter in quorum.voters)
    lost, gone = quorum.lost, quorum.without_log
    if len(quorum.voters) == 1:
        if quorum.is_lost:
            return f"The only voter, {ids}, is lost."
        if gone:
            return f"The only voter, {ids}, has no whole log any more."
        return f"The only voter, {ids}, is not lost. It leads alone, because you asked for it."
    if quorum.is_lost:
        are = f"{listed(voter.id for voter in lost)} {'are' if len(lost) > 1 else 'is'}"
        return (
            f"Of the voters {ids}, {are} lost. The others are not a majority and cannot elect"
            " a leader."
        )
    if len(gone) == len(quorum.voters):
        return f"Of the voters {ids}, none has a whole log any more."
    if len(quorum.voters) - len(gone) < quorum.majority:
        have = f"{listed(voter.id for voter in gone)} {'have' if len(gone) > 1 else 'has'}"
        return f"Of the voters {ids}, {have} no whole log any more. The others are not a majority."
    return (
        f"No majority of the voters {ids} is lost. One is to lead alone anyway, because you"
        " asked for it."
    )


def why_seed(choice: Choice) -> str:
    """Why this one."""
    end = choice.seed.survey.end
    if choice.quorum.request.seed is not None:
        return f"you asked for it; it {_end(choice.seed)}"
    others = [host for host in choice.quorum.present if host is not choice.seed]
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
    old = choice.quorum
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
    leads = f"once node {choice.voter.id} leads"
    is_broker = node_id in choice.quarantined_brokers
    if choice.static:
        empty = f"move its {METADATA_FOLDER} away" if is_broker else f"empty its {METADATA_FOLDER}"
        returns = (
            f"{leads}: {empty}, add it to controller.quorum.voters on all nodes"
            " (a controller that is not named there does not start), and restart all of them."
            " Do this for one at a time, and for the next one only when it has caught up: two"
            " empty ones are a majority of three without any records"
        )
        return f"{returns}. {_broker_too(choice)}" if is_broker else returns
    if is_broker:
        return (
            f"with an empty metadata partition, {leads}: move its {METADATA_FOLDER} away, start it,"
            " and once it has caught up add it with kraftool quorum add-controller."
            f" {_broker_too(choice)}"
        )
    recreated = (
        "format an empty directory for this cluster (kraftool format -N), start it, and once it has"
        " caught up add it with kraftool quorum add-controller"
    )
    if choice.is_fenced or not choice.jumps:
        return f"only wiped: {recreated}"
    return (
        f"wiped: {recreated}. You can also start its old directory while node {choice.voter.id}"
        " leads and can be reached. Start one old voter after another, each when the previous"
        " one follows. It fetches the checkpoint. Then run add-controller"
    )


def _broker_too(choice: Choice) -> str:
    """Return what must stay of a node that is a broker too."""
    text = (
        "It is also a broker: do not format it. Keep meta.properties, which has its directory.id,"
        " and the folders of all topics, also in the directory from which you move the metadata"
    )
    if choice.is_fenced:
        text += (
            f". Write cluster.id={choice.cluster_id} into the meta.properties of each of its log"
            " directories that this plan does not change"
        )
    return text
