"""Many roots: which of them are far, and that threads change neither order nor errors."""

from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from kraftool.arrow import fleet, many_roots
from kraftool.arrow.fleet import Fleet
from kraftool.arrow.many_roots import file_system, find_fleets, is_far
from kraftool.decoders.errors import KraftoolError

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
ROOTS = [str(path) for path in sorted(FIXTURES.glob("kafka-4.3.0/dynamic-quorum/node-*"))]
MOUNTS = r"""21 1 8:1 / / rw - ext4 /dev/sda1 rw
30 21 0:40 / /mnt/far rw shared:1 - nfs4 host:/export rw
31 21 0:41 / /mnt/far/near rw - tmpfs tmpfs rw
32 21 0:42 / /mnt/a\040b rw - fuse.s3fs s3fs rw
"""


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mountinfo"
    path.write_text(MOUNTS)
    monkeypatch.setattr(many_roots, "_MOUNTS", path)


@pytest.mark.usefixtures("mounts")
@pytest.mark.parametrize(
    ("path", "kind", "far"),
    [
        ("/var/lib", "ext4", False),
        ("/mnt/far", "nfs4", True),
        ("/mnt/far/x/y", "nfs4", True),
        ("/mnt/farther", "ext4", False),
        ("/mnt/far/near/x", "tmpfs", False),
        ("/mnt/a b/x", "fuse.s3fs", True),
    ],
)
def test_a_path_is_as_far_as_the_innermost_mount_says(path: str, kind: str, far: bool) -> None:
    assert (file_system(path), is_far(path)) == (kind, far)
    assert is_far("s3://bucket/x")


def test_a_system_that_does_not_say_has_no_far_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_roots, "_MOUNTS", tmp_path / "none")
    assert (file_system("/x"), is_far("/x")) == ("", False)


def test_far_roots_are_looked_at_together_with_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [*ROOTS, str(tmp_path / "none")]
    near = list(find_fleets(paths))
    together = Barrier(len(paths))
    find = fleet.find_fleet

    def meeting(some: list[str], **options: Any) -> Fleet:
        together.wait(60)
        return find(some, **options)

    monkeypatch.setattr(many_roots, "find_fleet", meeting)
    monkeypatch.setattr(many_roots, "is_far", lambda _: True)
    *fleets, error = find_fleets(paths)
    assert fleets == near[:-1]
    assert all(isinstance(far_fleet, Fleet) and far_fleet.files for far_fleet in fleets)
    assert isinstance(error, KraftoolError)
    assert "no such file or directory" in error.message
