"""The file of --clusters: the quorums that one exporter watches, with how each is reached.

Owns its form. A key that is not known is an error: a typing mistake must not switch off an option.
"""

from __future__ import annotations

import os
from typing import Any

from kraftool.client.target import target_of
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.safe_yaml import YamlError, YamlLimits, load_yaml
from kraftool.exporter.cluster_watch import WatchedCluster

_KEYS = ("name", "bootstrap-controller", "command-config", "resolve", "expect-voters", "timeout")
_LIMITS = YamlLimits(bytes=256 << 10, events=20_000, depth=4)
_EXAMPLE = """such as
  clusters:
    - name: payments
      bootstrap-controller: ctl-1:9093,ctl-2:9093
      command-config: payments.properties
      expect-voters: [1, 2, 3]"""


class ClustersFileError(KraftoolError):
    """A file of clusters that cannot be used."""


def read_clusters(path: str, timeout_s: float) -> tuple[WatchedCluster, ...]:
    """Read the clusters of a file. Paths in it are relative to the file. Raises KraftoolError."""
    path = os.path.expanduser(path)
    try:
        with open(path, "rb") as file:
            document = load_yaml(file.read(), _LIMITS)
    except OSError as error:
        raise ClustersFileError(f"{path}: {error.strerror}") from None
    except YamlError as error:
        raise ClustersFileError(f"{path}: {error.message}") from None
    entries = document.get("clusters") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        raise ClustersFileError(f"{path}: it has no list of clusters", hint=_EXAMPLE)
    folder = os.path.dirname(path)
    clusters = tuple(
        _cluster(entry, f"{path}, cluster {number}", folder, timeout_s)
        for number, entry in enumerate(entries, 1)
    )
    names = [cluster.name for cluster in clusters]
    for name in names:
        if names.count(name) > 1:
            raise ClustersFileError(f"{path}: two clusters have the name {name}")
    return clusters


def _cluster(entry: Any, where: str, folder: str, timeout_s: float) -> WatchedCluster:
    if not isinstance(entry, dict):
        raise ClustersFileError(f"{where}: not a mapping", hint=_EXAMPLE)
    unknown = [str(key) for key in entry if key not in _KEYS]
    if unknown:
        raise ClustersFileError(f"{where}: {unknown[0]} is not one of {', '.join(_KEYS)}")
    name, bootstrap = (str(entry.get(key) or "").strip() for key in _KEYS[:2])
    if not name or not bootstrap:
        raise ClustersFileError(
            f"{where}: it lacks {'a name' if not name else 'bootstrap-controller'}", hint=_EXAMPLE
        )
    config = str(entry.get("command-config") or "")
    resolve = entry.get("resolve") or []
    voters = entry.get("expect-voters") or []
    if not isinstance(resolve, list) or not isinstance(voters, list):
        raise ClustersFileError(f"{where}: resolve and expect-voters are lists", hint=_EXAMPLE)
    if not all(isinstance(voter, int) and not isinstance(voter, bool) for voter in voters):
        raise ClustersFileError(f"{where}: expect-voters is not a list of ids")
    timeout = entry.get("timeout", timeout_s)
    if not isinstance(timeout, int | float) or isinstance(timeout, bool) or timeout <= 0:
        raise ClustersFileError(f"{where}: timeout {timeout} is not a number of seconds")
    try:
        target = target_of(
            bootstrap,
            [str(address) for address in resolve],
            os.path.join(folder, os.path.expanduser(config)) if config else "",
            float(timeout),
        )
    except KraftoolError as error:
        raise ClustersFileError(f"{where}: {error.message}", hint=error.hint) from None
    return WatchedCluster(name=name, target=target, expected_voters=tuple(voters))
