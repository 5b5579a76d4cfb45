"""`recover collect --ssh` and `--kubectl` with hosts and pods that are hostile or broken.

In each call a sound host is collected too. The fuzzer of `tests/fuzz/remote_checks.py` mutates the
same answers.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kraftool.commands import remote_copy
from kraftool.commands.remote_head import RemoteHead
from kraftool.commands.remote_nodes import ssh_nodes
from kraftool.commands.remote_script import SCRIPT, remote_command
from kraftool.decoders.errors import KraftoolError
from kraftool.repair import collect_file
from kraftool.repair.plan_yaml import plan_from_yaml
from tests.fuzz import remote_cases, remote_checks
from tests.fuzz.remote_cases import ODD_MEMBERS, ODD_PODS, PARTITION, REMOTE, SEGMENT, odd_heads
from tests.support.places import FIXTURES

pytestmark = pytest.mark.slow

Run = Callable[..., Any]
FILES = remote_cases.files_of(remote_checks.SOUND)
SOUND = remote_cases.head(FILES) + remote_cases.tar_stream(FILES)
_SSH = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
cat "$(dirname "$0")/$2.sent"
[ ! -e "$(dirname "$0")/$2.then" ] || . "$(dirname "$0")/$2.then"
"""
_KUBECTL = """#!/bin/sh
echo "$*" >>"$(dirname "$0")/calls"
case $1 in
config) echo prod-eu ;;
get) cat "$(dirname "$0")/pods" ;;
exec) cat "$(dirname "$0")/sound.sent" ;;
esac
"""


@pytest.fixture
def sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of what hosts send, with an ssh and a kubectl that answer with it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("ssh", _SSH), ("kubectl", _KUBECTL)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "sound.sent").write_bytes(SOUND)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def collect(kraftool: Run, sent: Path, answer: bytes) -> tuple[int, str, str]:
    """Collect from a sound host and from one that sends this; its reason and advice."""
    (sent / "odd.sent").write_bytes(answer)
    out = sent.parent / "c"
    words = ("--ssh", "sound,odd", REMOTE, "--out", out, "-o", "json")
    ran = kraftool("recover", "collect", *words)
    assert_sound(out / "sound.collect")
    nodes = {node["name"]: node for node in json.loads(ran.text)["nodes"]}
    assert (out / "odd.collect").exists() is (nodes["odd"]["reason"] is None)
    return ran.code, nodes["odd"]["reason"] or "", nodes["odd"]["advice"] or ""


def assert_sound(file: Path) -> None:
    (survey,) = collect_file.read(str(file)).surveys
    assert survey.end.offset > 0
    assert survey.path == REMOTE


REASONS: Mapping[str, str] = {
    "a hard link to an absent member": "sent data/none, which kraftool did not ask for",
    "a hard link to an asked-for absent member": "the tar stream has no /data/",
    "a hard link to a file of this host": "sent /etc/passwd, which kraftool did not ask for",
    "a loop of hard links": "the tar stream has no /data/",
    "an absolute path": "sent /etc/kraftool-fuzz, which kraftool did not ask for",
    "a path out of the archive": "sent ../../../escaped, which kraftool did not ask for",
    "a folder in place of a file": "it is a directory",
    "a symbolic link": "it is a symbolic link",
    "a device": "it is a device",
    "an mtime beyond time_t": "",
    "an mtime long before 1970": "",
    "an mtime of 1e30": "",
    "an infinite mtime": "",
    "an mtime of minus infinity": "",
    "3,000 folders": "which kraftool did not ask for",
    "3,000 folders in the partition": "which kraftool did not ask for",
    "a name of 300 letters": "File name too long",
    "a file and a folder of one name": "which kraftool did not ask for",
    "a file in the partition's place": "exists",
    "200 GB of holes": "absurd holes",
    "3 GB of holes": "announced",
}


@pytest.mark.parametrize("odd", ODD_MEMBERS)
def test_a_stream_with_an_odd_member_costs_only_its_host(
    kraftool: Run, sent: Path, odd: str
) -> None:
    answer = remote_cases.head(FILES) + remote_cases.tar_stream(FILES, ODD_MEMBERS[odd])
    code, reason, _ = collect(kraftool, sent, answer)
    assert REASONS[odd].lower() in reason.lower()
    assert code == (3 if REASONS[odd] else 0), reason
    assert "TMPDIR" not in reason
    assert not list(sent.parent.rglob("escaped"))


def test_the_base_256_form_of_a_time_that_no_file_can_have_is_no_problem(
    kraftool: Run, sent: Path
) -> None:
    stream = remote_cases.with_long_mtime(remote_cases.tar_stream(FILES))
    assert collect(kraftool, sent, remote_cases.head(FILES) + stream)[:2] == (0, "")


def test_a_file_with_two_names_arrives_under_both(kraftool: Run, sent: Path) -> None:
    """As tar sends the files of two log directories, one of them a link to the other."""
    files = {f"{REMOTE}/x{name.removeprefix(REMOTE)}": data for name, data in FILES.items()}
    links = [
        remote_cases.add(name, b"1", linkname=f"{REMOTE}/x{name.removeprefix(REMOTE)}".lstrip("/"))
        for name in FILES
    ]

    stream = remote_cases.tar_stream(files, then=lambda archive: [add(archive) for add in links])
    head = remote_cases.head({**FILES, **files}, f"log-dir {REMOTE}/x")
    assert collect(kraftool, sent, head + stream)[:2] == (0, "")
    (survey,) = collect_file.read(str(sent.parent / "c/odd.collect")).surveys
    (sound,) = collect_file.read(str(sent.parent / "c/sound.collect")).surveys
    assert survey.files == sound.files


HEADS: Mapping[str, str] = {
    "a setting that is none of the quorum": "",
    "a setting that swallows the next line": "",
    "a key with an escape": "",
    "a known setting that swallows the next line": "",
    "a carriage return in a setting": "",
    "a log directory that is two": "which the node did not send",
    "a log directory that is relative": "which cannot be a path there",
    "a log directory that climbs": "",
    "a properties file in place of a segment": "exists",
    "a pipe in place of the properties file": "exists",
    "a pipe that exists": "exists",
    "a pipe elsewhere": "did not ask for",
    "a folder elsewhere": "did not ask for",
    "a folder that exists as a file": "exists",
    "a lock elsewhere": "bait",
    "a path with NUL": "which cannot be a path there",
    "a path of 3,000 folders": "which cannot be a path there",
    "a name of 300 letters": "File name too long",
    "a name that is not UTF-8": "",
    "a form feed in a line": "",
}


@pytest.mark.parametrize("odd", HEADS)
def test_a_head_never_leads_to_a_file_of_this_host(
    kraftool: Run, sent: Path, tmp_path: Path, odd: str
) -> None:
    """The bait is a data directory here, of another node."""
    bait = tmp_path / "bait"
    node = FIXTURES / "kafka-4.3.0/dynamic-quorum/node-1/data"
    shutil.copytree(node, bait)
    answer = remote_cases.head(FILES, *odd_heads(str(bait))[odd]) + remote_cases.tar_stream(FILES)
    with remote_checks.unopened(bait):
        code, reason, advice = collect(kraftool, sent, answer)
    assert HEADS[odd].lower() in reason.lower()
    assert code == (3 if HEADS[odd] else 0), reason
    assert "TMPDIR" not in advice
    if not HEADS[odd]:
        surveys = collect_file.read(str(tmp_path / "c/odd.collect")).surveys
        assert {survey.node_id for survey in surveys} == {3}


def test_all_odd_heads_are_tried() -> None:
    assert HEADS.keys() == odd_heads("").keys()
    assert REASONS.keys() == ODD_MEMBERS.keys()


def test_of_a_setting_that_is_given_twice_the_last_one_counts(kraftool: Run, sent: Path) -> None:
    """As in Kafka. A property that is no setting of the quorum is left out."""
    lines = (
        f"properties {REMOTE}/server.properties",
        "setting controller.quorum.voters=1@old:9093",
        "setting controller.quorum.voters = 1@a:9093,\\",
        "setting controller.quorum.voters = 1@new:9093\r",
        "setting ssl.key.password=hunter2",
    )
    answer = remote_cases.head(FILES, *lines) + remote_cases.tar_stream(FILES)
    assert collect(kraftool, sent, answer)[0] == 0
    (survey,) = collect_file.read(str(sent.parent / "c/odd.collect")).surveys
    assert survey.settings is not None
    assert survey.settings.static_voters == "1@new:9093"
    assert survey.settings.file == f"{REMOTE}/server.properties"


@pytest.mark.parametrize("total", ["9" * 5000, "²", "-1", "", "1 2"])
def test_a_total_that_is_no_number_costs_only_its_host(
    kraftool: Run, sent: Path, total: str
) -> None:
    head = remote_cases.head(FILES).replace(b"total ", f"total {total}\nx ".encode())
    code, reason, _ = collect(kraftool, sent, head + remote_cases.tar_stream(FILES))
    assert code == 3
    assert "where a number belongs" in reason


def test_a_stream_that_does_not_end_is_cut_off_where_its_announced_size_ends(
    kraftool: Run, sent: Path
) -> None:
    (sent / "odd.then").write_text("cat /dev/zero")
    code, reason, advice = collect(kraftool, sent, SOUND)
    assert code == 3
    assert f"more came than the {sum(map(len, FILES.values()))} bytes" in reason
    assert "stop Kafka there" in advice


def test_a_host_that_announces_more_than_there_is_room_for_is_refused_at_once(
    kraftool: Run, sent: Path
) -> None:
    (sent / "odd.then").write_text("cat /dev/zero")
    answer = remote_cases.head(FILES, total="999999999999999") + remote_cases.tar_stream(FILES)
    code, reason, advice = collect(kraftool, sent, answer)
    assert code == 3
    assert "it announced 999999999999999 bytes" in reason
    assert "TMPDIR" in advice


def test_a_host_that_complains_without_end_fills_no_disk(kraftool: Run, sent: Path) -> None:
    (sent / "odd.then").write_text("yes 'no reason' | head -c 9999999 >&2; exit 3")
    code, reason, _ = collect(kraftool, sent, SOUND)
    assert (code, reason) == (3, "no reason")


def test_a_stream_with_fewer_files_than_were_announced_is_not_taken_for_all(
    kraftool: Run, sent: Path
) -> None:
    kept = {name: data for name, data in FILES.items() if name != SEGMENT}
    answer = remote_cases.head(FILES) + remote_cases.tar_stream(kept)
    code, reason, _ = collect(kraftool, sent, answer)
    assert code == 3
    assert reason == f"it announced {len(FILES)} files, and sent {len(kept)}"


def test_an_error_that_nobody_expected_costs_only_its_host(
    kraftool: Run, sent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpack = remote_copy._unpack

    def broken(file: Path, head: RemoteHead, root: str) -> None:
        if head.log_dirs[-1].endswith("odd"):
            raise RecursionError(f"{root}/data")
        unpack(file, head, root)

    monkeypatch.setattr(remote_copy, "_unpack", broken)
    answer = remote_cases.head(FILES, f"log-dir {REMOTE}/odd") + remote_cases.tar_stream(FILES)
    code, reason, advice = collect(kraftool, sent, answer)
    assert code == 3
    assert reason == "its files cannot be read: RecursionError: /data"
    assert "on that host" in advice


def test_the_script_announces_the_files_that_tar_sends(sent: Path, tmp_path: Path) -> None:
    """Sockets are none of them, since tar sends none."""
    data = tmp_path / "data"
    shutil.copytree(remote_checks.SOUND, data)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(data / "__cluster_metadata-0/s"))
        ran = subprocess.run(remote_command(str(data)), capture_output=True, check=True)
    head = ran.stdout.partition(b"\n\n")[0].split(b"\n")
    assert f"files {len(FILES)}".encode() in head
    assert f"total {sum(map(len, FILES.values()))}".encode() in head


def test_a_setting_of_a_file_with_windows_line_ends_keeps_its_next_lines(tmp_path: Path) -> None:
    properties = tmp_path / "server.properties"
    properties.write_bytes(
        b"listeners=CONTROLLER://a:1,\\\r\n  PLAINTEXT://a:2\r\nlog.dirs=%s\r\n"
        % str(remote_checks.SOUND).encode()
    )
    ran = subprocess.run(remote_command(str(properties)), capture_output=True, check=True)
    assert b"setting listeners=CONTROLLER://a:1,PLAINTEXT://a:2\n" in ran.stdout


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "a,-v", "root@-v", "a b", "a\0b", "", "@a"])
def test_a_host_that_ssh_could_take_for_an_option_is_refused(host: str) -> None:
    with pytest.raises(KraftoolError, match="is not a host"):
        ssh_nodes(host, REMOTE)
    assert ssh_nodes("me@corp.example@a", REMOTE)[0].name == "me@corp.example@a"


PODS: Mapping[str, str] = {
    "a name that is an option": "pod 2 of 2: kubectl listed a pod that has no name",
    "a name that is a number": "pod 2 of 2: kubectl listed a pod that has no name",
    "a name with NUL": "pod 2 of 2: kubectl listed a pod that has no name",
    "a name with a lone surrogate": "pod 2 of 2: kubectl listed a pod that has no name",
    "no name": "pod 2 of 2: kubectl listed a pod that has no name",
    "no object": "pod 2 of 2: kubectl listed a pod that has no name",
    "the name of another pod": "pod 2 of 2: kubectl listed a pod that is kafka-0 again",
    "a container that is an option": "kafka-1: kubectl listed it without a name of a container",
    "no containers": "kafka-1: kubectl listed it without a name of a container",
    "a namespace that is an option": "kafka-1: kubectl listed it without a name of a namespace",
    "annotations that are a number": "",
    "deep nesting": "",
}


@pytest.mark.parametrize("odd", ODD_PODS)
def test_an_odd_pod_costs_only_itself(kraftool: Run, sent: Path, tmp_path: Path, odd: str) -> None:
    (sent / "pods").write_bytes(remote_cases.pod_list(ODD_PODS[odd]))
    words = ("--kubectl", "app=kafka", REMOTE, "--out", tmp_path / "c", "-o", "json")
    ran = kraftool("recover", "collect", *words)
    assert ran.code == (3 if PODS[odd] else 0), ran.err
    assert_sound(tmp_path / "c/kafka-0.collect")
    nodes = json.loads(ran.text)["nodes"]
    reasons = [f"{node['name']}: {node['reason']}" for node in nodes if node["reason"]]
    assert (reasons or [""])[0].startswith(PODS[odd])


@pytest.mark.parametrize(
    "answer", [b"", b"5", b"[]", b'{"items": 5}', b"[" * 100_000, b'{"items":', b"\xff\xfe"]
)
def test_an_answer_that_lists_no_pods_is_reported_in_words(
    kraftool: Run, sent: Path, tmp_path: Path, answer: bytes
) -> None:
    (sent / "pods").write_bytes(answer)
    ran = kraftool("recover", "collect", "--kubectl", "app=kafka", REMOTE, "--out", tmp_path / "c")
    assert ran.code == 3
    assert "its JSON lists no pods" in ran.err


@pytest.mark.parametrize("option", ["--namespace", "--container"])
def test_a_namespace_and_a_container_are_no_options(
    kraftool: Run, sent: Path, tmp_path: Path, option: str
) -> None:
    words = ("--kubectl", "app=kafka", option, "--kubeconfig=/x", REMOTE, "--out", tmp_path / "c")
    ran = kraftool("recover", "collect", *words)
    assert ran.code == 3
    assert "is not a name of a" in ran.err
    assert not (sent / "calls").exists()


def test_the_context_and_the_namespace_are_in_each_command_the_report_and_the_plan(
    kraftool: Run, sent: Path, tmp_path: Path
) -> None:
    """Another context may become the current one meanwhile."""
    (sent / "pods").write_bytes(remote_cases.pod_list())
    out = tmp_path / "c"
    ran = kraftool("recover", "collect", "--kubectl", "app=kafka", REMOTE, "--out", out)
    assert ran.code == 0, ran.err
    assert "kubectl context prod-eu, namespace prod" in ran.words
    for call in (sent / "calls").read_text().replace(SCRIPT, "").splitlines()[1:]:
        if call.startswith(("get", "exec")):
            assert "--context=prod-eu" in call
    file = tmp_path / "plan.yaml"
    kraftool("recover", "plan", out / "kafka-0.collect", "--set", "lost=2,4", "--out", file)
    (host,) = plan_from_yaml(file.read_bytes()).hosts
    assert host.origin == "pod kafka-0, namespace prod, kubectl context prod-eu"
    assert b"kubectl context prod-eu" in file.read_bytes()


def test_a_folder_with_a_slash_at_its_end_is_named_without(
    kraftool: Run, sent: Path, tmp_path: Path
) -> None:
    ran = kraftool("recover", "collect", "--ssh", "sound", REMOTE, "--out", f"{tmp_path}/c/")
    assert f"kraftool recover plan {tmp_path}/c/*.collect" in ran.narration


def test_mutated_streams_heads_and_lists_of_pods_cost_only_their_own(tmp_path: Path) -> None:
    """`make soak` tries other seeds; this one once met a time that no file can have."""
    counts = remote_checks.run(seed=2069365626, cases=96, folder=tmp_path)
    assert counts["failed"] > 0
    assert counts["lists of pods"] == 96


def test_the_copies_of_a_host_are_its_metadata_only(kraftool: Run, sent: Path) -> None:
    """A topic's folder was not asked for."""
    files = {**FILES, f"{REMOTE}/topic-0/00000000000000000000.log": b""}
    answer = remote_cases.head(files) + remote_cases.tar_stream(files)
    code, reason, _ = collect(kraftool, sent, answer)
    assert code == 3
    assert "topic-0" in reason
    assert PARTITION not in reason
