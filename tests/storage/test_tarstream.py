"""Tar streams as they come: cut, damaged, malicious, one behind another."""

import gzip
import io
import os
import random
import subprocess
import tarfile
from pathlib import Path

import pytest

from kraftool.decoders.errors import KraftoolError
from kraftool.storage.entry import Entry, EntryPlace, EntryProblem, FolderCounts, Severity
from kraftool.storage.inflate import PipeFeed
from kraftool.storage.paths import LocationKind, open_path
from kraftool.storage.tarheader import BLOCK
from kraftool.storage.tarstream import TarStream
from tests.storage.tars import END, PARTITION, header, peak_below, tar, unzipped, write


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % BLOCK)


def stream(data: bytes) -> TarStream:
    return TarStream(PipeFeed(io.BytesIO(data)), "-")


def walk(data: bytes) -> tuple[dict[str, bytes], list[EntryProblem]]:
    """What a stream holds by name, each read whole as it passes, and what is wrong with it."""
    files: dict[str, bytes] = {}
    problems = []
    for item in stream(data).entries():
        if isinstance(item, EntryProblem):
            problems.append(item)
        else:
            with item.open() as source:
                files[item.name] = source.read_at(0, 1 << 24)
    return files, problems


def test_an_entry_carries_what_the_archive_says_of_it() -> None:
    (entry,) = [
        item
        for item in stream(tar({f"./{PARTITION}/quorum-state": b"{}"})).entries()
        if isinstance(item, Entry)
    ]
    assert (entry.path, entry.directory) == ("__cluster_metadata-0/quorum-state", "data")
    assert (entry.size, entry.place) == (2, EntryPlace.PARTITION)
    assert entry.mtime_ns == 1_700_000_000 * 10**9


@pytest.mark.parametrize(
    ("mtime", "seconds"),
    [
        (b"\xff" * 12, -1),
        (b"\xff" * 8 + b"\0" * 4, -(1 << 32)),
        (b"\xff" * 7 + b"\0" * 5, None),
        (b"\xff" + b"\0" * 11, None),
        (b"\x80" + b"\0" * 6 + b"\1" + b"\0" * 4, 1 << 32),
        (b"\x80" + b"\xff" * 11, None),
    ],
)
def test_a_time_that_no_file_can_have_costs_no_file(mtime: bytes, seconds: int | None) -> None:
    """Of the base-256 times, those count that 64 bits of nanoseconds hold, as columns have them."""
    name = f"{PARTITION}/quorum-state"
    data = header(name, b"0", 2, raw_mtime=mtime) + padded(b"{}") + END
    entry = next(stream(data).entries())
    assert isinstance(entry, Entry)
    assert entry.mtime_ns == (0 if seconds is None else seconds * 10**9)
    with entry.open() as source:
        assert source.read_at(0, 10) == b"{}"


@pytest.mark.parametrize("seconds", [1 << 33, -(1 << 33), 1 << 34, -(1 << 34), 999_999_999_999])
def test_a_pax_time_that_no_file_can_have_counts_as_none(seconds: int) -> None:
    line = b" mtime=%d.5\n" % seconds
    record = b"%d" % (len(line) + 2) + line
    data = header("pax", b"x", len(record)) + padded(record)
    data += header(f"{PARTITION}/quorum-state", b"0", 2) + padded(b"{}") + END
    (entry,) = stream(data).entries()
    assert isinstance(entry, Entry)
    half = 500_000_000 if seconds > 0 else -500_000_000
    assert entry.mtime_ns == (seconds * 10**9 + half if abs(seconds) == 1 << 33 else 0)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_come_whole_in_every_form(form: int) -> None:
    # ustar splits a name at a slash, and has room for 155 and 100 bytes.
    name = "/".join(["d" * 40] * 3 + ["__cluster_metadata-0", "quorum-state"])
    assert walk(tar({name: b"x"}, form=form)) == ({name: b"x"}, [])


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_that_are_no_utf_8_survive(form: int) -> None:
    name = os.fsdecode(b"d\xff/quorum-state")
    files, _ = walk(tar({name: b"x"}, form=form))
    assert files == {name: b"x"}


@pytest.mark.parametrize("name", ["/etc/passwd", "../../up", "a/../../b"])
def test_a_name_that_leads_elsewhere_is_only_a_name(name: str, tmp_path: Path) -> None:
    files, problems = walk(tar({name: b"data"}))
    assert (files, problems) == ({name: b"data"}, [])


@pytest.mark.parametrize("form", ["v7", "oldgnu", "gnu", "ustar", "posix"])
def test_every_form_that_the_system_tar_writes_is_read(form: str, tmp_path: Path) -> None:
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    write(folder / "quorum-state", b"{}")
    write(folder / f"{0:020}.log", os.urandom(70_000))
    archive = tmp_path / "no-suffix"
    subprocess.run(
        ["tar", f"--format={form}", "-cf", archive, "-C", tmp_path, folder.name], check=True
    )
    location = open_path(str(archive))
    assert location.kind is LocationKind.TAR
    files = {}
    for item in location.entries():
        assert isinstance(item, Entry)
        with item.open() as source:
            files[item.basename] = source.read_at(0, 1 << 20)
    assert files == {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("version", ["0.0", "0.1", "1.0"])
@pytest.mark.parametrize("pieces", [1, 3, 30])
def test_sparse_files_of_every_pax_version_come_out_whole(
    version: str, pieces: int, tmp_path: Path
) -> None:
    path = tmp_path / f"{0:020}.index"
    with path.open("wb") as file:
        for number in range(pieces):
            file.seek(number * (1 << 17))
            file.write(os.urandom(4096))
        file.truncate(5 << 20)
    raw = subprocess.run(
        [
            "tar",
            "--format=posix",
            f"--sparse-version={version}",
            "-Scf",
            "-",
            "-C",
            tmp_path,
            path.name,
        ],
        check=True,
        capture_output=True,
    ).stdout
    assert len(raw) < 1 << 20
    assert walk(raw) == ({path.name: path.read_bytes()}, [])


def test_an_old_sparse_map_that_goes_on_over_blocks_comes_out_whole(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.index"
    with path.open("wb") as file:
        for number in range(60):
            file.seek(number * (1 << 17))
            file.write(os.urandom(4096))
    raw = subprocess.run(
        ["tar", "--format=gnu", "-Scf", "-", "-C", tmp_path, path.name],
        check=True,
        capture_output=True,
    ).stdout
    assert walk(raw) == ({path.name: path.read_bytes()}, [])


def test_archives_one_behind_another_are_all_read_and_stay_apart() -> None:
    one, two = (tar({f"{PARTITION}/quorum-state": data}) for data in (b"one", b"two"))
    files, problems = walk(one + two)
    name = f"{PARTITION}/quorum-state"
    assert (files, problems) == ({name: b"one", f"#2:{name}": b"two"}, [])


def test_zipped_archives_one_behind_another_are_all_read() -> None:
    one, two = (tar({f"{PARTITION}/quorum-state": data}) for data in (b"one", b"two"))
    path_free = gzip.compress(one) + gzip.compress(two) + bytes(100)
    with unzipped(path_free) as archive:
        entries = [item for item in archive.entries() if isinstance(item, Entry)]
    assert len(entries) == 2


def test_a_pipe_is_read_to_its_end_lest_its_writer_dies() -> None:
    data = io.BytesIO(tar({f"{PARTITION}/quorum-state": b"{}"}) + bytes(1 << 20))
    list(TarStream(PipeFeed(data), "-").entries())
    assert data.read() == b""


def test_an_archive_cut_anywhere_ends_with_a_word_about_it() -> None:
    whole = tar(
        {f"{PARTITION}/quorum-state": b"{}", f"{PARTITION}/{0:020}.log": bytes(2000)},
        form=tarfile.PAX_FORMAT,
        pax={"comment": "x"},
    )
    end = len(whole.rstrip(b"\0")) // BLOCK * BLOCK
    # The second of the two zero blocks that end an archive is a formality.
    for cut in range(end):
        _, problems = walk(whole[:cut])
        assert problems, cut
        assert problems[-1].position is not None
        assert problems[-1].position <= cut


def test_an_archive_without_its_end_mark_is_a_warning() -> None:
    whole = tar({f"{PARTITION}/quorum-state": b"{}"})
    files, problems = walk(whole[: 2 * BLOCK])
    assert len(files) == 1
    assert [problem.severity for problem in problems] == [Severity.WARNING]


def test_a_member_that_ends_early_is_named_with_what_is_missing() -> None:
    whole = tar({f"{PARTITION}/{0:020}.log": bytes(range(250)) * 20})
    files, problems = walk(whole[: BLOCK + 3000])
    assert [len(data) for data in files.values()] == [3000]
    assert "2000 of 5000 bytes are missing" in problems[0].reason
    assert problems[0].name.endswith(".log")


@pytest.mark.parametrize("data", [b"", b"short", b"not a tar archive " * 1000, bytes(500)])
def test_what_is_no_archive_is_told_with_the_way_to_make_one(data: bytes) -> None:
    files, problems = walk(data)
    assert not files
    assert len(problems) == 1
    if len(data) == 0 or len(data) > BLOCK:
        assert "tar cf" in problems[0].hint


def test_every_single_flipped_byte_leaves_an_answer_and_no_traceback() -> None:
    whole = tar({f"{PARTITION}/quorum-state": b"{}", "data/meta.properties": b"version=1\n"})
    chance = random.Random(7)
    used = len(whole.rstrip(b"\0"))
    for position in range(used):
        damaged = bytearray(whole)
        damaged[position] ^= chance.randrange(1, 256)
        files, problems = walk(bytes(damaged))
        assert files or problems


def test_a_damaged_header_costs_its_own_member_and_no_other() -> None:
    members = {f"{PARTITION}/{name}": b"x" for name in ("quorum-state", "partition.metadata")}
    whole = bytearray(tar({**members, "data/meta.properties": b"version=1\n"}))
    whole[2 * BLOCK + 3] ^= 0xFF
    files, problems = walk(bytes(whole))
    assert list(files) == [f"{PARTITION}/quorum-state", "data/meta.properties"]
    assert [
        (problem.position, "1024 bytes passed over" in problem.reason) for problem in problems
    ] == [(2 * BLOCK, True)]


@pytest.mark.parametrize(
    "size",
    [
        b"\x80" + b"\xff" * 11,
        b"\xff" * 12,
        b"\xff" * 11 + b"\x00",
        b"77777777777\0",
        b"9999999\0    ",
    ],
)
@pytest.mark.parametrize("kind", [b"0", b"x", b"g", b"L", b"K", b"S"])
def test_absurd_sizes_end_in_a_problem_and_little_memory(size: bytes, kind: bytes) -> None:
    data = header("quorum-state", kind, 0, raw_size=size) + bytes(BLOCK)
    with peak_below(4 << 20):
        _, problems = walk(data)
    assert problems


def test_a_huge_pax_header_is_refused_before_it_is_held() -> None:
    size = 64 << 20
    bomb = header("x", b"x", size) + b"100000000 path=" + b"a" * 100

    class Endless:
        def __init__(self) -> None:
            self.left = size
            self.head = bomb

        def read(self, wanted: int) -> bytes:
            if self.head:
                data, self.head = self.head[:wanted], self.head[wanted:]
                return data
            self.left -= wanted
            return b"a" * wanted if self.left > 0 else b""

    with peak_below(8 << 20):
        problems = list(TarStream(PipeFeed(Endless()), "-").entries())
    assert isinstance(problems[0], EntryProblem)
    assert "absurd size" in problems[0].reason


@pytest.mark.parametrize(
    "records",
    [
        b"",
        b"nonsense",
        b"0 a=b\n",
        b"99999999999 path=x\n",
        b"9 noequals\n",
        b"12 size=99x9\n",
        b"30 GNU.sparse.map=1,2,3,4,5,6\n",
        b"28 GNU.sparse.numblocks=-1\n",
        b"25 mtime=1e999999999999\n",
    ],
)
def test_pax_records_that_make_no_sense_do_not_stop_the_archive(records: bytes) -> None:
    data = header("pax", b"x", len(records)) + padded(records)
    data += tar({f"{PARTITION}/quorum-state": b"{}"})
    files, _ = walk(data)
    assert files == {f"{PARTITION}/quorum-state": b"{}"}


def test_a_sparse_map_that_overlaps_is_refused() -> None:
    for numbers in ("0,10,5,10", "0,10,20,99999", "5,1"):
        record = f"GNU.sparse.map={numbers}\n"
        other = "GNU.sparse.size=100\n"
        pax = b"".join(b"%d %s" % (len(line) + 3, line.encode()) for line in (record, other))
        data = header("pax", b"x", len(pax)) + padded(pax)
        data += header("x.index", b"0", 30) + padded(b"0123456789" * 3) + END
        files, problems = walk(data)
        if numbers == "5,1":
            assert files == {"x.index": bytes(5) + b"0" + bytes(94)}
        else:
            assert not files
            assert "sparse map" in problems[0].reason


def test_holes_beyond_any_file_of_kafkas_are_refused() -> None:
    pax = b"".join(
        b"%d %s" % (len(line) + 3, line)
        for line in (b"GNU.sparse.map=0,1\n", b"GNU.sparse.size=%d\n" % (1 << 50))
    )
    data = header("pax", b"x", len(pax)) + padded(pax) + header("x.log", b"0", 1) + padded(b"1")
    files, problems = walk(data + END)
    assert not files
    assert "absurd holes" in problems[0].reason


def test_links_are_told_louder_where_they_stand_for_the_metadata() -> None:
    data = b"".join(
        header(name, kind, 0)
        for name, kind in (
            ("data/notes.txt", b"2"),
            (PARTITION, b"2"),
            ("data/meta.properties", b"1"),
            ("data/dev", b"3"),
        )
    )
    files, problems = walk(data + END)
    assert not files
    assert [problem.severity for problem in problems] == ["info", "warning", "warning", "info"]


def test_topic_folders_are_counted_and_not_given() -> None:
    members = {"data/meta.properties": b"x", f"{PARTITION}/quorum-state": b"{}"}
    for number in range(5):
        members[f"data/topic-{number}/"] = b""
        members[f"data/topic-{number}/{0:020}.log"] = b"x" * 10
        members[f"data/topic-{number}/{0:020}.index"] = b"x" * 10
    members["data/empty-0/"] = b""
    members[f"data/gone-1.{'a' * 32}-delete/{0:020}.log"] = b"x"
    members[f"data/odd-1.{'a' * 32}-stray/{0:020}.log"] = b"x"
    archive = stream(tar(members))
    paths = [item.path for item in archive.entries() if isinstance(item, Entry)]
    assert paths == ["meta.properties", "__cluster_metadata-0/quorum-state"]
    assert archive.folders == {"data": FolderCounts(topics=6, deleted=1, stray=1)}


def test_a_pod_whose_name_looks_like_a_topic_folder_is_a_data_directory() -> None:
    archive = stream(
        tar(
            {
                "kafka-0/meta.properties": b"x",
                "kafka-0/__cluster_metadata-0/quorum-state": b"{}",
                "kafka-0/orders-3/00000000000000000000.log": b"x",
            }
        )
    )
    directories = {item.directory for item in archive.entries() if isinstance(item, Entry)}
    assert directories == {"kafka-0"}
    assert archive.folders == {"kafka-0": FolderCounts(topics=1)}


def test_a_metadata_partition_under_another_name_is_found_by_its_files() -> None:
    members = {
        "evidence/quorum-state": b"{}",
        "evidence/00000000000000000000.log": b"",
        "node-1/quorum-state": b"{}",
    }
    entries = [item for item in stream(tar(members)).entries() if isinstance(item, Entry)]
    assert {(item.directory, item.place) for item in entries} == {
        ("evidence", EntryPlace.PARTITION),
        ("node-1", EntryPlace.PARTITION),
    }


def test_an_entry_opened_twice_gives_the_same_bytes_again() -> None:
    for item in stream(tar({f"{PARTITION}/quorum-state": b'{"a":1}'})).entries():
        assert isinstance(item, Entry)
        with item.open() as source:
            assert source.read_at(0, 3) == b'{"a'
        with item.open() as source:
            assert source.read_at(0, 100) == b'{"a":1}'


def test_an_entry_that_has_passed_says_so_and_gives_no_other_files_bytes() -> None:
    members = {"quorum-state": b"first", "partition.metadata": b"second"}
    first, second = (item for item in stream(tar(members)).entries() if isinstance(item, Entry))
    for entry in (first, second):
        with pytest.raises(KraftoolError, match="moved on"):
            entry.open().read_at(0, 5)


def test_entries_that_are_not_opened_cost_nothing_and_harm_nothing() -> None:
    members = {f"{PARTITION}/{number:020}.log": bytes(5000) for number in range(20)}
    count = sum(isinstance(item, Entry) for item in stream(tar(members)).entries())
    assert count == 20


def test_a_stream_that_comes_byte_by_byte_is_the_same_stream() -> None:
    whole = tar({f"{PARTITION}/quorum-state": b"{}", f"{PARTITION}/{0:020}.log": bytes(999)})

    class Dripping:
        def __init__(self, data: bytes) -> None:
            self.inner = io.BytesIO(data)

        def read(self, wanted: int) -> bytes:
            return self.inner.read(min(wanted, 1))

    entries = []
    for item in TarStream(PipeFeed(Dripping(whole)), "-").entries():
        assert isinstance(item, Entry)
        entries.append(item.open().read_at(0, 9999))
    assert entries == [b"{}", bytes(999)]


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_file_whose_short_name_ends_at_a_slash_is_no_directory(form: int) -> None:
    """The header has the first 100 characters of a longer name."""
    name = f"{'d' * 78}/__cluster_metadata-0/quorum-state"
    assert name[99] == "/"
    assert walk(tar({name: b"x"}, form=form)) == ({name: b"x"}, [])


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_members_have_every_file_and_the_targets_of_hard_links(form: int) -> None:
    target = f"{'d' * 120}/__cluster_metadata-0/.kraftool-recover/1/journal"
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, link_name in ((target, ""), (f"{target}-2", target)):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = (b"1", link_name) if link_name else (b"0", "")
            archive.addfile(info)
    members = [
        (member.name, member.link_name)
        for member in stream(out.getvalue()).members()
        if not isinstance(member, EntryProblem)
    ]
    assert members == [(target, ""), (f"{target}-2", target)]
