"""`kraftool backup`: the metadata as a thing with a name, to keep and to bring back."""

from __future__ import annotations

from kraftool.commands.command_line import group_app

app = group_app("backup")


@app.callback()
def backup() -> None:
    """Keep backups of a cluster's metadata.

    Example: kraftool backup create /backup/prod --bootstrap-controller ctl-1:9093

    A backup is a checkpoint that Kafka itself can start from, and a manifest that describes it. It
    has all metadata: topics, configs, ACLs, quotas, SCRAM users, delegation tokens. It has no
    records of topics and no offsets of consumer groups. All backups of a cluster are in one STORE:
    a folder, or a URL that fsspec knows, such as s3://bucket/prod.

    Every command that reads a PATH also reads a backup: its PATH is STORE/NAME. Nothing is changed
    in the cluster or in its directories.
    """
