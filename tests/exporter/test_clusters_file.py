"""The file of --clusters: what it takes, and what it refuses with the place of the mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.exporter.clusters_file import ClustersFileError, read_clusters
from kraftool.raft.names import Endpoint

_ONE = "{name: a, bootstrap-controller: a:1}"


def _file(folder: Path, text: str) -> str:
    path = folder / "clusters.yaml"
    path.write_text(text)
    return str(path)


def test_each_cluster_has_its_own_addresses_config_and_voters(tmp_path: Path) -> None:
    (tmp_path / "client.properties").write_text("security.protocol=PLAINTEXT\n")
    path = _file(
        tmp_path,
        """
clusters:
  - name: payments
    bootstrap-controller: ctl-1:9093,ctl-2:9093
    command-config: client.properties
    expect-voters: [1, 2, 3]
  - name: orders
    bootstrap-controller: 10.0.1.1:9093
    resolve: ["1=127.0.0.1:19093"]
    timeout: 2
""",
    )
    payments, orders = read_clusters(path, 5.0)
    assert payments.target.bootstrap == (Endpoint("ctl-1", 9093), Endpoint("ctl-2", 9093))
    assert payments.expected_voters == (1, 2, 3)
    assert payments.target.access.timeout_s == 5
    assert orders.target.resolved == {1: Endpoint("127.0.0.1", 19093)}
    assert orders.target.access.timeout_s == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no list of clusters"),
        ("clusters: []", "no list of clusters"),
        ("clusters: [", "clusters.yaml: line 1: "),
        ("clusters: [{name: a, name: b, bootstrap-controller: 'a:1'}]", "line 1: name twice"),
        ("clusters: [{name: a}]", "cluster 1: it lacks bootstrap-controller"),
        ("clusters: [{bootstrap-controller: 'a:1'}]", "cluster 1: it lacks a name"),
        ("clusters: [{name: a, bootstrap-controller: 'a:1', intervall: 3}]", "intervall is not"),
        ("clusters: [{name: a, bootstrap-controller: a}]", "cluster 1: "),
        ("clusters: [{name: a, bootstrap-controller: 'a:1', expect-voters: [x]}]", "list of ids"),
        (
            "clusters: [{name: a, bootstrap-controller: 'a:1', command-config: none.txt}]",
            "none.txt",
        ),
        (f"clusters: [{_ONE}, {_ONE}]", "two clusters have the name a"),
    ],
)
def test_a_mistake_is_named_with_its_cluster(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ClustersFileError) as raised:
        read_clusters(_file(tmp_path, text), 5.0)
    assert words in raised.value.message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ClustersFileError, match="No such file"):
        read_clusters(str(tmp_path / "no.yaml"), 5.0)
