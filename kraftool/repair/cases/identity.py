"""Repairs of a directory's identity: meta.properties is lost or damaged, or has another directory
id than the voter; or the directory is another node's than its server.properties says.

Owns where the ids come from: the node id from server.properties, the cluster id from the other
directories, a voter's directory id from the record that made it one, a broker's from its
registration. A directory id is put back
only where the log is the node's own old one, which a person has to say: a directory that was
formatted anew has forgotten its votes.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.meta_properties import NODE_ID, MetaProperties
from kraftool.repair.cases.model import Mend
from kraftool.repair.cases.rebuild import can_be_source
from kraftool.repair.edit_builder import meta_properties_of
from kraftool.repair.plan import Edit, RequiredSetting, Risk
from kraftool.repair.ranking import Host
from kraftool.repair.request import Acceptance
from kraftool.repair.surveyed_quorum import SurveyedQuorum


def meta_properties(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    survey = host.survey
    if not survey.meta_complaint:
        return
    node_id = survey.node_id
    if node_id is None:
        raise KraftoolError(
            f"{survey.path}: meta.properties: {survey.meta_complaint}. The directory does not"
            " show which node it belongs to",
            hint="name the node's server.properties instead of the directory",
        )
    if not quorum.cluster_id:
        raise KraftoolError(
            f"{host.name}: meta.properties: {survey.meta_complaint}. No directory shows the"
            " cluster id",
            hint="give the directory of another node of the cluster too",
        )
    directory_id = survey.identity.directory_id
    if host.has_metadata:
        directory_id = directory_id or _recorded(quorum, node_id) or _registered(host)
    elif host in quorum.renamed and host is quorum.host_of(node_id):
        raise KraftoolError(
            f"{host.name}: {survey.path} belongs to voter {node_id}, but has neither"
            " meta.properties nor metadata. With its old ids it would vote without its old"
            " log and votes",
            hint=f"leave it out, and declare it lost: --set lost={node_id}. Then format it again"
            " (kraftool format), and let it catch up before it is a voter again",
        )
    yield Mend(
        case="meta-properties",
        host=host,
        text=f"{host.name}: meta.properties: {survey.meta_complaint}. The plan writes it again, for"
        f" node {node_id} of cluster {quorum.cluster_id}"
        + (f", with the directory id {directory_id} that it had" if directory_id else ""),
        edits=(_written(quorum, host, directory_id),),
    )


def other_nodes_disk(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    """A directory that the server.properties of another node leads to, as of swapped disks."""
    wanted = own_node_id(host)
    if not wanted:
        return
    settings = host.survey.settings
    assert settings is not None, "or it does not belong to another node"
    yield Mend(
        case="other-nodes-disk",
        host=host,
        text=f"{host.name}: {host.survey.path} is the directory of node {host.node_id}, but"
        f" {settings.file} names it and has node.id={settings.node_id}: Kafka does not start on it",
        settings=wanted,
    )


def own_node_id(host: Host) -> tuple[RequiredSetting, ...]:
    """The node.id that a server.properties must have if it names this directory; empty if the one
    that was given has it."""
    settings, own = host.survey.settings, host.survey.identity.node_id
    if settings is None or own is None or settings.node_id in (None, own, host.node_id):
        return ()
    return (RequiredSetting(key=NODE_ID, value=str(own)),)


def configuring(setting: RequiredSetting, directory: str) -> str:
    """Return what a person does for a setting of a node whose directory this is."""
    if setting.key == NODE_ID:
        return (
            f"mount {directory}, or name it as the log directory only where server.properties"
            f" has node.id={setting.value}. Do not change meta.properties"
        )
    if setting.value:
        return f"in its server.properties set {setting.key}={setting.value}"
    return f"in its server.properties remove {setting.key}"


def directory_id(quorum: SurveyedQuorum, host: Host) -> Iterator[Mend]:
    """A voter's directory that calls itself otherwise than the record of the voters."""
    survey = host.survey
    if host not in quorum.renamed or survey.meta_complaint or not can_be_source(host):
        return  # of a log that is not whole something else is made, and that is not its own
    wanted = _recorded(quorum, host.node_id)
    if not wanted or quorum.kraft_version == 0:
        return
    old_id = survey.identity.directory_id
    yield Mend(
        case="directory-id",
        host=host,
        text=f"{host.name}: its directory.id is {old_id or 'missing'}, but the voter's is {wanted}:"
        " the node observes and does not vote. The plan restores the id",
        edits=(_written(quorum, host, wanted),),
        risks=(
            Risk(
                word=Acceptance.OWN_LOG.value,
                text=f"{host.name}: with the id the directory is a voter again, with the votes in"
                " its quorum-state. That is right only if log and quorum-state are the node's"
                " own old ones, and were not fetched or formatted again",
            ),
        ),
        stops_all=True,
    )


def _recorded(quorum: SurveyedQuorum, node_id: int | None) -> str:
    voter = quorum.voters.get(node_id)
    return (voter.directory_id if voter is not None else None) or ""


def _registered(host: Host) -> str:
    """A broker's, where it has one log directory only: its replicas are said to be in that."""
    known = host.survey.registered_directories
    return known[0] if len(known) == 1 else ""


def _written(quorum: SurveyedQuorum, host: Host, directory_id: str) -> Edit:
    meta = MetaProperties(
        version=1,
        cluster_id=quorum.cluster_id,
        node_id=host.node_id,
        directory_id=directory_id or None,
    )
    return meta_properties_of(
        host.survey, meta, quorum.request.now_ms, "identifies the directory as before"
    )
