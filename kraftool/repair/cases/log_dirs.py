"""Further log directories of a node: topics, and one small file that Kafka reads at its start.

Owns the commands that change their meta.properties. Apply cannot: it keeps its backup in the folder
of the metadata partition, and Kafka exits if that folder is in a second log directory.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.names import META_PROPERTIES
from kraftool.repair.cases.model import Mend
from kraftool.repair.ranking import Host
from kraftool.repair.surveyed_quorum import SurveyedQuorum

_KEPT = ".before-recovery"


def cluster_id_command(log_dir: Host, cluster_id: str) -> str:
    """The command that gives a further log directory another cluster id."""
    return _changed(log_dir, f"s/^cluster[.]id=.*/cluster.id={cluster_id}/")


def find(quorum: SurveyedQuorum, log_dir: Host) -> Iterator[Mend]:
    """A meta.properties that is lost or damaged, or has the directory.id of another directory of
    its node, as a copied one has: Kafka exits on both."""
    survey = log_dir.survey
    node = quorum.host_of(log_dir.node_id) if log_dir.node_id is not None else None
    if node is None:
        return
    own = [other for other in (node, *quorum.log_dirs) if other.node_id == log_dir.node_id]
    others = [other for other in own if other is not log_dir]
    registered = {known for other in own for known in other.survey.registered_directories}
    left = registered - {other.survey.identity.directory_id for other in others}
    known_id = left.pop() if len(left) == 1 else ""
    if survey.meta_complaint:
        yield Mend(
            case="log-directory",
            host=node,
            text=f"{node.name}: {survey.path}: meta.properties: {survey.meta_complaint}."
            f" {_which(known_id)}",
            commands=tuple(_written(quorum, log_dir, known_id)),
        )
        return
    directory_id = survey.identity.directory_id
    before = [other for other in others if not other.is_log_dir or other.name < log_dir.name]
    for other in before:
        if directory_id and other.survey.identity.directory_id == directory_id:
            change = f"s/^directory[.]id=.*/directory.id={known_id}/"
            yield Mend(
                case="log-directory",
                host=node,
                text=f"{node.name}: {survey.path} has the directory.id of {other.survey.path},"
                f" {directory_id}, and Kafka exits on that. {_which(known_id)}",
                commands=(_changed(log_dir, change if known_id else "/^directory[.]id=/d"),),
            )
            return


def _which(known_id: str) -> str:
    if known_id:
        return f"The broker registered one more directory, {known_id}: it gets that id"
    return "It gets no directory.id: Kafka generates one at its start"


def _changed(log_dir: Host, change: str) -> str:
    survey = log_dir.survey
    return survey.command(f"sed -i{_KEPT} '{change}' {survey.directory}/{META_PROPERTIES}")


def _written(quorum: SurveyedQuorum, log_dir: Host, directory_id: str) -> Iterator[str]:
    survey = log_dir.survey
    file = f"{survey.directory}/{META_PROPERTIES}"
    if any(one.target.path == META_PROPERTIES for one in survey.files):
        yield survey.command(f"cp -p {file} {file}{_KEPT}")
    lines = ["version=1", f"cluster.id={quorum.cluster_id}", f"node.id={log_dir.node_id}"]
    lines += [f"directory.id={directory_id}"] if directory_id else []
    words = " ".join(f"'{line}'" for line in lines)
    yield survey.command(f"printf '%s\\n' {words} > {file}")
