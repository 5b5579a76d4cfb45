"""`recover collect --kubectl` with the real kubectl, against an API server of our own."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands.kube_server import kube_api
from tests.commands.recover_files import fitting
from tests.commands.test_recover_collect_ssh import surveys, text
from tests.support.places import ROOT

Run = Callable[..., Any]
Asked = list[tuple[str, str]]
WHERE = ROOT / "fixtures/kafka-4.3.0/dynamic-quorum/node-11/server.properties"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    with kube_api(tmp_path) as calls:
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "config"))
        monkeypatch.setenv("HOME", str(tmp_path))
        yield calls


def collect(kraftool: Run, *words: object) -> tuple[int, dict[str, Any]]:
    options = ("--kubectl", "app=kafka", "--namespace", "prod", "-o", "json")
    ran = kraftool("recover", "collect", *options, *words)
    return ran.code, {node["name"]: node for node in fitting(text(ran))["nodes"]}


# The words that kubectl refuses are refused by kubectl alone, so no stand-in has this test.
if shutil.which("kubectl"):

    def test_pods_send_what_collect_finds_there(
        kraftool: Run, asked: Asked, tmp_path: Path
    ) -> None:
        assert kraftool("recover", "collect", WHERE, "--out", tmp_path / "here.collect").code == 0
        code, nodes = collect(kraftool, WHERE, "--out", tmp_path / "c")
        assert code == 3
        assert set(asked) == {(pod_name, "kafka") for pod_name in ("broken", "kafka-0", "kafka-1")}
        for pod in ("kafka-0", "kafka-1"):
            assert nodes[pod]["reason"] is None
            assert surveys(tmp_path / f"c/{pod}.collect") == surveys(tmp_path / "here.collect")
        assert "container not found" in nodes["broken"]["reason"]
        assert "same volume" in nodes["broken"]["advice"]

    def test_a_container_is_named_and_its_reason_is_shown(
        kraftool: Run, asked: Asked, tmp_path: Path
    ) -> None:
        code, nodes = collect(kraftool, "/none", "--container", "sidecar", "--out", tmp_path / "c")
        assert code == 3
        assert {container for _, container in asked} == {"sidecar"}
        assert nodes["kafka-0"]["reason"].startswith("/none: no such file or directory")

    def test_no_pod_has_the_labels(kraftool: Run, asked: Asked, tmp_path: Path) -> None:
        options = ("--namespace", "prod", "--out", tmp_path / "c")
        ran = kraftool("recover", "collect", "--kubectl", "app=none", *options, "/x")
        assert ran.code == 3
        assert "no pod has the labels app=none" in ran.err
