"""What prune keeps: the newest by number and age, what these need, and the newest that verifies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftool.backup.prune import PruneReport, Retention, prune
from kraftool.backup.verify import verify_all
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.load import load_state
from kraftool.storage.backup_files import MANIFEST, BackupFiles
from kraftool.storage.files import Files
from tests.reports.state_logs import NO_OP, Logs, level, topic
from tests.support.backups import FIRST_MS, HOUR_MS, PUBLIC_KEY, back_up

DAY_MS = 24 * HOUR_MS


class History:
    """A log that grows, and a store of its backups."""

    def __init__(self, folder: Path) -> None:
        self.logs = Logs(folder / "data")
        self.store = folder / "store"
        self.offset = 1
        self.now_ms = FIRST_MS
        self.logs.segment(0, [level()])

    def change(self) -> None:
        self.logs.segment(self.offset, [topic(f"t{self.offset}")])
        self.offset += 1

    def idle(self) -> None:
        self.logs.segment(self.offset, [NO_OP])
        self.offset += 1

    def back_up(self, *, hours: float = 1, recipients: tuple[str, ...] = ()) -> str:
        self.now_ms += int(hours * HOUR_MS)
        made = back_up(self.store, self.logs.path, now_ms=self.now_ms, recipients=recipients)
        return made.name

    def prune(
        self, *, keep: int | None = None, days: float | None = None, dry_run: bool = False
    ) -> PruneReport:
        retention = Retention(newest=keep, days=days, now_ms=self.now_ms)
        return prune(BackupFiles(str(self.store)), retention, lambda *_: None, dry_run=dry_run)

    def damage(self, name: str) -> None:
        [path] = (self.store / name).glob("*.checkpoint")
        path.write_bytes(path.read_bytes()[:-1])

    def whole(self) -> list[str]:
        report = verify_all(BackupFiles(str(self.store)), lambda *_: None)
        return [backup.name for backup in report.backups if backup.is_whole]

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.store)): path.read_bytes()
            for path in self.store.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path)


def backups(history: History, count: int) -> Sequence[str]:
    """Backups of different states, an hour apart."""
    names = []
    for _ in range(count):
        history.change()
        names.append(history.back_up())
    return names


def test_the_newest_backups_stay(history: History) -> None:
    names = backups(history, 5)
    report = history.prune(keep=2)
    assert report.removed_backups == tuple(names[:3])
    assert report.kept_backups == tuple(names[3:])
    assert history.whole() == list(names[3:])
    assert sorted(path.name for path in history.store.iterdir()) == list(names[3:])


def test_young_backups_stay(history: History) -> None:
    names = backups(history, 5)
    report = history.prune(days=2 / 24)
    assert report.kept_backups == tuple(names[2:]), "exactly two hours is not older"
    assert history.whole() == list(names[2:])


def test_a_backup_stays_if_one_of_the_two_covers_it(history: History) -> None:
    names = backups(history, 5)
    assert history.prune(keep=1, days=1 / 24).kept_backups == tuple(names[3:])
    assert history.prune(keep=2, days=0).kept_backups == tuple(names[3:])


def test_the_newest_backup_stays_however_old_it_is(history: History) -> None:
    names = backups(history, 3)
    history.now_ms += 1000 * DAY_MS
    report = history.prune(days=1)
    assert (report.kept_backups, report.newest_verified) == ((names[-1],), names[-1])


def test_the_newest_that_verifies_stays_behind_newer_damaged_ones(history: History) -> None:
    names = backups(history, 5)
    history.damage(names[3])
    history.damage(names[4])
    report = history.prune(keep=1)
    assert report.newest_verified == names[2]
    assert report.kept_backups == (names[2], names[4])
    assert {finding.code for finding in report.findings} == {"KT-BAK-CHECKPOINT"}
    assert history.whole() == [names[2]]


def test_if_no_backup_verifies_nothing_is_removed(history: History) -> None:
    names = backups(history, 3)
    for name in names:
        history.damage(name)
    (history.store / "2020-01-01T00-00-00Z").mkdir()
    before = history.files()
    report = history.prune(keep=1)
    assert (report.newest_verified, report.removed_backups) == (None, ())
    assert report.kept_backups == tuple(names)
    assert not report.removed_unfinished
    assert history.files() == before


def test_a_checkpoint_stays_while_a_kept_manifest_names_it(history: History) -> None:
    history.change()
    first, second, third = history.back_up(), history.back_up(), history.back_up()
    history.prune(keep=2)
    assert history.whole() == [second, third]
    assert not (history.store / first / MANIFEST).exists()
    assert not history.prune(keep=2).findings, "the folder with only a checkpoint is no problem"
    history.change()
    fourth = history.back_up()
    report = history.prune(keep=1)
    assert report.removed_backups == (second, third)
    assert [path.name for path in history.store.iterdir()] == [fourth]


def test_a_dry_run_reports_the_same_and_changes_nothing(history: History) -> None:
    backups(history, 4)
    (history.store / "2020-01-01T00-00-00Z").mkdir()
    before = sorted(history.store.rglob("*")), history.files()
    planned = history.prune(keep=2, dry_run=True)
    assert (sorted(history.store.rglob("*")), history.files()) == before
    done = history.prune(keep=2)
    assert planned.is_dry_run
    assert (planned.removed_backups, planned.kept_backups, planned.removed_unfinished) == (
        done.removed_backups,
        done.kept_backups,
        done.removed_unfinished,
    )


def test_a_backup_without_its_checkpoint_can_be_removed(history: History) -> None:
    names = backups(history, 3)
    [path] = (history.store / names[0]).glob("*.checkpoint")
    path.unlink()
    assert history.prune(keep=1).removed_backups == tuple(names[:2])
    assert [path.name for path in history.store.iterdir()] == [names[2]]


def test_an_encrypted_backup_counts_by_its_bytes(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who prunes usually has no identity, which is no finding."""
    monkeypatch.delenv("KRAFTOOL_AGE_IDENTITY", raising=False)
    history.change()
    plain = history.back_up()
    sealed = history.back_up(recipients=(PUBLIC_KEY,))
    report = history.prune(keep=1)
    assert (report.newest_verified, report.removed_backups) == (sealed, (plain,))
    assert not report.findings


def test_a_backup_that_verifies_is_read_once(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Removal of old ones does not read all of a store."""
    backups(history, 4)
    verified: list[str] = []
    retention = Retention(newest=2, days=None, now_ms=history.now_ms)
    files = BackupFiles(str(history.store))
    report = prune(files, retention, lambda name, *_: verified.append(name), dry_run=True)
    assert verified == [report.newest_verified]


def test_a_file_that_cannot_be_removed_leaves_whole_backups(
    history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = backups(history, 3)

    def denied(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Files, "unlink", denied)
    with pytest.raises(Exception, match="Permission denied"):
        history.prune(keep=1)
    assert history.whole() == list(names)


# --- any history ----------------------------------------------------------------------------------

STEPS = st.lists(
    st.one_of(
        st.sampled_from(["change", "idle", "back up", "back up", "damage the newest"]).map(
            lambda step: (step, 0.0)
        ),
        st.tuples(st.just("keep"), st.sampled_from([1.0, 2.0, 3.0])),
        st.tuples(st.just("days"), st.sampled_from([0.0, 1 / 24, 3 / 24])),
    ),
    max_size=14,
)


@given(STEPS)
def test_after_any_history_the_newest_whole_backup_is_there_with_the_state_of_its_offset(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, float]]
) -> None:
    history = History(tmp_path_factory.mktemp("history"))
    states: dict[str, str] = {}
    for step, number in [("back up", 0.0), *steps]:
        before = history.whole()
        if step == "change":
            history.change()
        elif step == "idle":
            history.idle()
        elif step == "back up":
            name = history.back_up()
            states[name] = state_hash(load_state(history.logs.path).image)
            assert history.whole() == [*before, name]
        elif step == "damage the newest":
            folders = [path.parent for path in history.store.glob("*/*.checkpoint")]
            history.damage(max(folder.name for folder in folders))
        else:
            keep, days = (int(number), None) if step == "keep" else (None, number)
            report = history.prune(keep=keep, days=days)
            assert history.whole()[-1:] == before[-1:], "the newest whole one stays"
            assert set(history.whole()) == set(before) & set(report.kept_backups)
    for name in history.whole():
        assert state_hash(load_state(str(history.store / name)).image) == states[name]
