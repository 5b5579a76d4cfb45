"""Every form of PATH leads to the same files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.entry import Entry, EntryPlace, EntryProblem, Severity
from kraftool.storage.lock import LockState, lock_holder
from kraftool.storage.paths import LocationKind, open_path
from tests.support.locks import held_by_another_process

NODE = "kafka-4.3.0/static-single/node-1"


@pytest.fixture
def node(fixtures_dir: Path) -> Path:
    return fixtures_dir / NODE


def entries(path: object) -> list[Entry]:
    return [item for item in open_path(str(path)).entries() if isinstance(item, Entry)]


def contents(path: object) -> dict[str, bytes]:
    """What a PATH holds, read while it passes, as a stream must be."""
    data_by_path = {}
    for item in open_path(str(path)).entries():
        assert isinstance(item, Entry), item
        with item.open() as source:
            data_by_path[item.path] = source.read_at(0, 10 << 20)
    return data_by_path


def test_a_data_directory_is_its_own_files_and_the_metadata_partition(node: Path) -> None:
    location = open_path(str(node / "data"))
    listed = [item for item in location.entries() if isinstance(item, Entry)]
    assert location.kind is LocationKind.DATA_DIRECTORY
    assert listed[0].path == "meta.properties"
    assert {item.place for item in listed} == {EntryPlace.ROOT, EntryPlace.PARTITION}
    assert not any("orders" in item.path for item in listed)
    counts = location.folders[str(node / "data")]
    assert counts.topics > 5
    assert counts.deleted > 0


def test_the_partition_alone_is_a_path_too(node: Path) -> None:
    location = open_path(str(node / "data" / "__cluster_metadata-0"))
    assert location.kind is LocationKind.PARTITION
    names = [item.path for item in location.entries() if isinstance(item, Entry)]
    assert names[0] == "quorum-state"
    assert "00000000000000000000.log" in names


@pytest.mark.parametrize(
    ("inside", "path"),
    [(".", "data"), (".", "data/__cluster_metadata-0"), ("data", "__cluster_metadata-0/"),
     ("data/__cluster_metadata-0", ".")],
)  # fmt: skip
def test_the_lock_of_a_partition_is_its_data_directorys(
    node: Path, monkeypatch: pytest.MonkeyPatch, inside: str, path: str
) -> None:
    monkeypatch.chdir(node / inside)
    location = open_path(path)
    assert os.path.samefile(location.data_directory, node / "data")


def test_segments_come_in_the_order_of_their_offsets(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    names = [f"{offset:020}.log" for offset in (5, 0, 1000, 99)]
    for name in names:
        (folder / name).touch()
    assert [item.path for item in entries(folder)] == sorted(names)


def test_server_properties_lead_to_the_metadata_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two", "meta"):
        (tmp_path / name / "__cluster_metadata-0").mkdir(parents=True)
    properties = tmp_path / "server.properties"
    properties.write_text(f"process.roles=broker\nlog.dirs={tmp_path}/one,{tmp_path}/two\n")
    location = open_path(str(properties))
    assert location.directory == str(tmp_path / "one")
    assert location.log_dirs == (str(tmp_path / "one"), str(tmp_path / "two"))
    with properties.open("a") as file:
        file.write(f"metadata.log.dir={tmp_path}/meta\n")
    assert open_path(str(properties)).directory == str(tmp_path / "meta")


def test_relative_log_dirs_are_kafkas_working_directory_or_else_beside_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here" / "data" / "__cluster_metadata-0").mkdir(parents=True)
    properties = tmp_path / "here" / "server.properties"
    properties.write_text("process.roles=controller\nlog.dirs=data\n")
    monkeypatch.chdir(tmp_path / "here")
    assert open_path("server.properties").notes == ()
    monkeypatch.chdir(tmp_path)
    location = open_path("here/server.properties")
    assert location.directory == os.path.join("here", "data")
    assert [note.severity for note in location.notes] == ["info"]


def test_a_folder_of_the_same_name_is_not_taken_for_the_log_dir_beside_the_file(
    node: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "etc").mkdir()
    data = min(node.rglob("meta.properties")).parent
    shutil.copytree(data, tmp_path / "etc/logs")
    (tmp_path / "etc/server.properties").write_text("node.id=1\nlog.dirs=logs\n")
    (tmp_path / "logs").mkdir()
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "etc/server.properties")
    assert open_path(path).directory == str(tmp_path / "etc/logs")
    shutil.copytree(data, tmp_path / "logs", dirs_exist_ok=True)
    assert open_path(path).directory == "logs", "where Kafka looks"


def test_a_config_provider_is_told_and_not_run(tmp_path: Path) -> None:
    properties = tmp_path / "server.properties"
    properties.write_text("process.roles=broker\nlog.dirs=${env:DATA}\n")
    with pytest.raises(KraftoolError, match="config provider"):
        open_path(str(properties))


@pytest.mark.parametrize("flags", [["-cf"], ["-czf"], ["-Scf"], ["--format=posix", "-Scf"]])
def test_a_tar_holds_what_the_directory_holds(node: Path, tmp_path: Path, flags: list[str]) -> None:
    archive = tmp_path / "x.tar"
    subprocess.run(["tar", *flags, archive, "-C", node, "data"], check=True)
    assert contents(archive) == contents(node / "data")


def test_a_sparse_index_comes_out_whole(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    index = folder / f"{0:020}.index"
    with index.open("wb") as file:
        file.write(b"\x00\x00\x00\x05\x00\x00\x10\x00")
        file.truncate(10 << 20)
    before = index.read_bytes()
    for flags in (["-Scf"], ["--format=posix", "-Scf"]):
        archive = tmp_path / "x.tar"
        subprocess.run(["tar", *flags, archive, "-C", tmp_path, folder.name], check=True)
        assert archive.stat().st_size < 100_000
        assert contents(archive)["__cluster_metadata-0/" + index.name] == before


def test_several_directories_in_one_tar_stay_apart(node: Path, tmp_path: Path) -> None:
    for name in ("kafka-0", "kafka-1"):
        shutil.copytree(node / "data", tmp_path / name / "data")
    archive = tmp_path / "fleet.tar"
    subprocess.run(["tar", "-cf", archive, "-C", tmp_path, "kafka-0", "kafka-1"], check=True)
    location = open_path(str(archive))
    directories = {item.directory for item in location.entries() if isinstance(item, Entry)}
    assert directories == {f"{archive}:kafka-0/data", f"{archive}:kafka-1/data"}
    first, second = (location.folders[directory] for directory in sorted(directories))
    assert first == second
    assert first.topics > 5


def test_a_cut_archive_gives_what_is_there_and_says_where_it_ends(
    node: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "x.tar"
    subprocess.run(["tar", "-cf", archive, "-C", node, "data/__cluster_metadata-0"], check=True)
    size = archive.stat().st_size
    for cut in (300, 700, size // 2, size // 3):
        piece = tmp_path / "cut.tar"
        piece.write_bytes(archive.read_bytes()[:cut])
        items = list(open_path(str(piece)).entries())
        assert isinstance(items[-1], EntryProblem), (cut, items)


def test_a_damaged_header_costs_one_member(node: Path, tmp_path: Path) -> None:
    archive = tmp_path / "x.tar"
    partition = node / "data" / "__cluster_metadata-0"
    names = ["quorum-state", "partition.metadata", "leader-epoch-checkpoint"]
    subprocess.run(["tar", "-cf", archive, "-C", partition, *names], check=True)
    data = bytearray(archive.read_bytes())
    data[1024 + 20] ^= 1
    archive.write_bytes(bytes(data))
    items = list(open_path(str(archive)).entries())
    assert [item.path for item in items if isinstance(item, Entry)] == [names[0], names[2]]
    problems = [item for item in items if isinstance(item, EntryProblem)]
    assert [item.position for item in problems] == [1024 + 148] or problems


def test_memory_stays_flat_whatever_a_member_claims(tmp_path: Path) -> None:
    import tracemalloc

    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    with (folder / f"{0:020}.log").open("wb") as file:
        file.truncate(200 << 20)
    archive = tmp_path / "x.tar.gz"
    subprocess.run(["tar", "-czf", archive, "-C", tmp_path, folder.name], check=True)
    tracemalloc.start()
    try:
        for item in open_path(str(archive)).entries():
            assert isinstance(item, Entry)
            with item.open() as source:
                position = 0
                while data := source.read_at(position, 1 << 20):
                    position += len(data)
            assert position == 200 << 20
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 << 20


def test_links_and_devices_in_a_tar_are_told_and_passed_over(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to("/etc/passwd")
    archive = tmp_path / "x.tar"
    subprocess.run(["tar", "-cf", archive, "-C", tmp_path, "real", "link"], check=True)
    items = list(open_path(str(archive)).entries())
    assert [type(item) for item in items] == [Entry, EntryProblem]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Every file that is opened, with its flags."""
    calls: list[tuple[str, int]] = []
    real = os.open

    def spy(path: str, flags: int, *more: int, **named: int) -> int:
        calls.append((str(path), flags))
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", spy)
    return calls


def test_two_thousand_topic_folders_are_counted_and_none_is_looked_into(
    node: Path, tmp_path: Path, opened: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    shutil.copytree(node / "data" / "__cluster_metadata-0", data / "__cluster_metadata-0")
    for number in range(2000):
        (data / f"topic-{number}").mkdir()
    looked: list[str] = []
    real = os.scandir

    def scandir(path: str) -> object:
        looked.append(str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    location = open_path(str(data))
    for item in location.entries():
        assert isinstance(item, Entry)
        with item.open():
            pass
    assert location.folders[str(data)].topics == 2000
    assert set(looked) == {str(data), str(data / "__cluster_metadata-0")}
    assert not any("topic-" in path for path, _ in opened)
    assert all(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) == 0 for _, flags in opened)


def test_what_is_no_file_is_refused_by_name(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path / "missing", tmp_path):
        with pytest.raises(KraftoolError) as caught:
            list(open_path(str(path)).entries())
        assert str(path) in str(caught.value)


def test_a_folder_above_data_directories_gets_a_hint(node: Path, tmp_path: Path) -> None:
    shutil.copytree(node / "data", tmp_path / "kafka" / "data")
    with pytest.raises(KraftoolError) as caught:
        open_path(str(tmp_path / "kafka"))
    assert str(tmp_path / "kafka" / "data") in caught.value.hint


def test_the_lock_is_asked_and_not_taken(tmp_path: Path) -> None:
    assert lock_holder(str(tmp_path)).state is LockState.MISSING
    lock = tmp_path / ".lock"
    lock.touch()
    assert lock_holder(str(tmp_path)).state is LockState.FREE
    with held_by_another_process(lock) as pid:
        lock_state = lock_holder(str(tmp_path))
        assert (lock_state.state, lock_state.pid) == (LockState.HELD, pid)
    assert lock_holder(str(tmp_path)).state is LockState.FREE


def test_a_pipe_as_the_lock_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".lock")
    assert lock_holder(str(tmp_path)).state is LockState.UNKNOWN


def test_asking_for_the_lock_leaves_it_to_others(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch(mode=0o400)
    lock_holder(str(tmp_path))
    code = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    (tmp_path / ".lock").chmod(0o600)
    ran = subprocess.run([sys.executable, "-c", code, tmp_path / ".lock"], check=False)
    assert ran.returncode == 0
    assert lock_holder(str(tmp_path)).state is LockState.FREE


@pytest.mark.parametrize("name", ["server.properties", "controller.properties", "node-1.conf"])
def test_a_servers_configuration_is_known_by_its_content(tmp_path: Path, name: str) -> None:
    (tmp_path / "data" / "__cluster_metadata-0").mkdir(parents=True)
    config = tmp_path / name
    config.write_text(f"# mine\nprocess.roles = controller\nlog.dirs : {tmp_path}/data\n")
    location = open_path(str(config))
    assert location.kind is LocationKind.PROPERTIES
    assert location.directory == str(tmp_path / "data")


def test_properties_of_another_program_are_one_file(tmp_path: Path) -> None:
    config = tmp_path / "producer.properties"
    config.write_text("bootstrap.servers=localhost:9092\n")
    assert open_path(str(config)).kind is LocationKind.FILE


def test_meta_properties_are_one_file(node: Path) -> None:
    assert open_path(str(node / "data" / "meta.properties")).kind is LocationKind.FILE


def test_a_server_properties_leads_to_the_only_log_dir_with_metadata(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two" / "__cluster_metadata-0").mkdir(parents=True)
    config = tmp_path / "server.properties"
    config.write_text(f"process.roles=broker\nlog.dirs={tmp_path}/one, {tmp_path}/two\n")
    location = open_path(str(config))
    assert location.directory == str(tmp_path / "two")
    assert location.expected_directory == str(tmp_path / "one"), "Kafka looks there, and exits"
    (tmp_path / "one" / "__cluster_metadata-0").mkdir()
    location = open_path(str(config))
    assert (location.directory, location.expected_directory) == (str(tmp_path / "one"), "")


def test_a_config_provider_in_another_log_dir_is_told(tmp_path: Path) -> None:
    (tmp_path / "one" / "__cluster_metadata-0").mkdir(parents=True)
    config = tmp_path / "server.properties"
    config.write_text(f"process.roles=broker\nlog.dirs={tmp_path}/one,${{env:TWO}}\n")
    location = open_path(str(config))
    assert ["${env:TWO}" in note.reason for note in location.notes] == [True]


def test_an_empty_log_dirs_leaves_the_word_to_log_dir(tmp_path: Path) -> None:
    (tmp_path / "data" / "__cluster_metadata-0").mkdir(parents=True)
    config = tmp_path / "server.properties"
    config.write_text(f"process.roles=broker\nlog.dirs=\nlog.dir={tmp_path}/data\n")
    assert open_path(str(config)).directory == str(tmp_path / "data")


def test_a_data_directory_may_be_reached_by_a_link(node: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(node / "data")
    through = [item.path for item in entries(tmp_path / "link")]
    assert through == [item.path for item in entries(node / "data")]


def test_a_data_directory_that_lost_its_meta_properties_is_one_still(tmp_path: Path) -> None:
    (tmp_path / "bootstrap.checkpoint").touch()
    assert open_path(str(tmp_path)).kind is LocationKind.DATA_DIRECTORY


def test_logs_of_other_programs_do_not_make_a_partition(tmp_path: Path) -> None:
    for name in ("server.log", "1.log", "x.checkpoint"):
        (tmp_path / name).touch()
    with pytest.raises(KraftoolError, match="not a Kafka data directory"):
        open_path(str(tmp_path))


def test_what_cannot_be_read_in_a_directory_is_told_and_the_rest_given(tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    (folder / "quorum-state").write_text("{}")
    (folder / f"{0:020}.log").symlink_to("nowhere")
    (folder / f"{5:020}.log").symlink_to(f"{5:020}.log")
    os.mkfifo(folder / f"{9:020}.log")
    items = list(open_path(str(tmp_path)).entries())
    assert [item.path for item in items if isinstance(item, Entry)] == [
        "__cluster_metadata-0/quorum-state"
    ]
    problems = [item for item in items if isinstance(item, EntryProblem)]
    assert {os.path.basename(problem.name): problem.reason for problem in problems} == {
        f"{0:020}.log": "it is a symbolic link to nowhere: No such file or directory",
        f"{5:020}.log": "it is a symbolic link that leads back to itself",
        f"{9:020}.log": "it is a pipe, not a file",
    }


def test_a_link_that_leads_nowhere_is_an_error_only_under_a_name_that_kafka_knows(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    known = {tmp_path / "bootstrap.checkpoint", tmp_path / "orders-0", folder / "quorum-state"}
    foreign = {tmp_path / "lost+found", folder / "notes.txt"}
    for link in known | foreign:
        link.symlink_to("nowhere")
    pipe = tmp_path / "console"
    os.mkfifo(pipe)
    problems = {
        Path(item.name): item.severity
        for item in open_path(str(tmp_path)).entries()
        if isinstance(item, EntryProblem)
    }
    assert problems == dict.fromkeys(known, Severity.ERROR) | dict.fromkeys(
        foreign | {pipe}, Severity.INFO
    )


def test_a_file_that_goes_between_listing_and_opening_is_an_error_with_its_name(
    tmp_path: Path,
) -> None:
    (tmp_path / "meta.properties").write_text("x")
    (entry,) = entries(tmp_path)
    (tmp_path / "meta.properties").unlink()
    with pytest.raises(KraftoolError, match=r"meta\.properties: no such file"):
        entry.open()


_WATCHED = """
import os, sys
from kraftool.storage.entry import Entry
from kraftool.storage.lock import lock_holder
from kraftool.storage.paths import open_path

opened = []
CHANGES = ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.chown",
           "os.link", "os.symlink", "os.utime", "fcntl.lockf", "fcntl.flock")

def watch(event, arguments):
    if event == "open":
        opened.append((str(arguments[0]), arguments[2]))
    elif event in CHANGES:
        raise AssertionError(event)

sys.addaudithook(watch)
for path in sys.argv[1:]:
    for item in open_path(path).entries():
        if isinstance(item, Entry):
            with item.open() as source:
                while len(source.read_at(0, 1 << 16)) > 1 << 30:
                    pass
    if os.path.isdir(path):
        lock_holder(path)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
for name, flags in opened:
    assert not flags & WRITING, (name, flags)
    assert "orders" not in name, name
print(len(opened))
"""


def test_no_form_of_path_opens_anything_for_writing_or_changes_anything(
    node: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(node / "data", data)
    (data / ".lock").touch()
    config = tmp_path / "server.properties"
    config.write_text(f"process.roles=broker\nlog.dirs={data}\n")
    for name, flags in (("x.tar", "-cf"), ("x.tgz", "-czf")):
        subprocess.run(["tar", flags, tmp_path / name, "-C", tmp_path, "data"], check=True)
    forms = [data, data / "__cluster_metadata-0", config, tmp_path / "x.tar", tmp_path / "x.tgz"]

    def state() -> dict[str, tuple[int, ...]]:
        return {
            str(path): (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_mode)
            for path in [tmp_path, *tmp_path.rglob("*")]
            for status in [path.stat()]
        }

    before = state()
    ran = subprocess.run(
        [sys.executable, "-c", _WATCHED, *forms], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 20
    assert state() == before
