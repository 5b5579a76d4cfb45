"""Encrypted backups: who can read them, and what the others know of them."""

from __future__ import annotations

import io
import stat
import subprocess
from pathlib import Path

import pytest

from kraftool.backup.verify import VerifiedBackup, verify_all
from kraftool.decoders.errors import KraftoolError
from kraftool.image.state_hash import state_hash
from kraftool.reports.state.load import load_state
from kraftool.storage import age
from kraftool.storage.age import IDENTITY_VARIABLE
from kraftool.storage.backup_files import BackupFiles
from tests.support.backups import FIRST_MS, HOUR_MS, NODE, PUBLIC_KEY, back_up
from tests.support.places import FIXTURES

pyrage = pytest.importorskip("pyrage")
DIRECTORY = FIXTURES / NODE


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


class Key:
    """A key in a file, as an operator has it."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path = path
        if kind == "x25519":
            identity = pyrage.x25519.Identity.generate()
            self.public = str(identity.to_public())
            path.write_text(f"# created: today\n# public key: {self.public}\n\n{identity}\n")
        else:
            make = ("ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "me@here", "-f", str(path))
            subprocess.run(make, check=True, stdin=subprocess.DEVNULL)
            self.public = Path(f"{path}.pub").read_text().strip()

    def use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(IDENTITY_VARIABLE, str(self.path))


def verified(store: Path) -> list[VerifiedBackup]:
    return list(verify_all(BackupFiles(str(store)), lambda *_: None).backups)


def codes(store: Path) -> list[str]:
    return [finding.code for backup in verified(store) for finding in backup.findings]


@pytest.fixture(autouse=True)
def no_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(IDENTITY_VARIABLE, raising=False)


@pytest.mark.parametrize("kind", ["x25519", "ed25519", "rsa"])
def test_the_owner_of_the_key_reads_the_state(
    kind: str, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = Key(tmp_path / "key", kind)
    manifest = back_up(store, DIRECTORY, recipients=(key.public,))
    assert manifest.is_encrypted
    file = store / manifest.checkpoint.path
    assert file.suffix == ".age"
    assert file.read_bytes().startswith(b"age-encryption.org/v1\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    key.use(monkeypatch)
    assert [backup.is_verified for backup in verified(store)] == [True]
    loaded = load_state(str(store / manifest.name))
    expected = load_state(str(DIRECTORY))
    assert state_hash(loaded.image) == state_hash(expected.image) == manifest.state_hash


def test_age_itself_decrypts_the_file_to_the_checkpoint(store: Path, tmp_path: Path) -> None:
    """pyrage is a binding of an implementation of age, and knows nothing of kraftool."""
    identity = pyrage.x25519.Identity.generate()
    plain = back_up(tmp_path / "plain", DIRECTORY)
    manifest = back_up(store, DIRECTORY, recipients=(str(identity.to_public()),))
    encrypted = (store / manifest.checkpoint.path).read_bytes()
    checkpoint = (tmp_path / "plain" / plain.checkpoint.path).read_bytes()
    assert pyrage.decrypt(encrypted, [identity]) == checkpoint
    assert checkpoint not in encrypted


def test_each_of_several_keys_reads_it(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [Key(tmp_path / kind, kind) for kind in ("x25519", "ed25519")]
    manifest = back_up(store, DIRECTORY, recipients=tuple(key.public for key in keys))
    assert manifest.encrypted_to == tuple(key.public for key in keys)
    for key in keys:
        key.use(monkeypatch)
        assert [backup.is_verified for backup in verified(store)] == [True]


def test_without_an_identity_the_bytes_are_compared(store: Path) -> None:
    manifest = back_up(store, DIRECTORY, recipients=(PUBLIC_KEY,))
    [backup] = verified(store)
    assert [finding.code for finding in backup.findings] == ["KT-BAK-ENCRYPTED"]
    assert backup.is_whole
    assert not backup.is_verified
    with pytest.raises(KraftoolError, match="is encrypted") as caught:
        load_state(str(store / manifest.name))
    assert IDENTITY_VARIABLE in str(caught.value)
    file = store / manifest.checkpoint.path
    file.write_bytes(file.read_bytes()[:-1])
    assert codes(store) == ["KT-BAK-CHECKPOINT"]


def test_another_identity_does_not_read_it_and_is_no_damage(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = back_up(store, DIRECTORY, recipients=(PUBLIC_KEY,))
    for kind in ("x25519", "ed25519"):
        Key(tmp_path / kind, kind).use(monkeypatch)
        assert codes(store) == ["KT-BAK-ENCRYPTED"]
        with pytest.raises(KraftoolError, match="is encrypted to other keys than that of"):
            load_state(str(store / manifest.name))


@pytest.mark.parametrize("position", [10, 60, 400, -1])
def test_a_damaged_file_is_an_error_for_its_owner(
    position: int, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers of a PATH do not look at the manifest's hash."""
    key = Key(tmp_path / "key", "x25519")
    manifest = back_up(store, DIRECTORY, recipients=(key.public,))
    file = store / manifest.checkpoint.path
    data = bytearray(file.read_bytes())
    data[position] ^= 1
    file.write_bytes(data)
    key.use(monkeypatch)
    with pytest.raises(KraftoolError, match=r"is damaged|other keys"):
        load_state(str(store / manifest.name))


@pytest.mark.parametrize("size", [0, 10, 300, -1])
def test_a_file_that_was_cut_is_an_error_for_its_owner(
    size: int, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = Key(tmp_path / "key", "x25519")
    manifest = back_up(store, DIRECTORY, recipients=(key.public,))
    file = store / manifest.checkpoint.path
    file.write_bytes(file.read_bytes()[:size])
    key.use(monkeypatch)
    with pytest.raises(KraftoolError, match="is damaged"):
        load_state(str(store / manifest.name))


def test_a_backup_to_another_key_has_its_own_checkpoint(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state is unchanged, and the old checkpoint cannot be read with the new key."""
    old, new = (Key(tmp_path / name, "x25519") for name in ("old", "new"))
    hours = (FIRST_MS + hour * HOUR_MS for hour in range(4))
    first = back_up(store, DIRECTORY, recipients=(old.public,), now_ms=next(hours))
    again = back_up(store, DIRECTORY, recipients=(old.public,), now_ms=next(hours))
    other = back_up(store, DIRECTORY, recipients=(new.public,), now_ms=next(hours))
    plain = back_up(store, DIRECTORY, now_ms=next(hours))
    assert again.checkpoint == first.checkpoint
    assert other.has_own_checkpoint
    assert plain.has_own_checkpoint
    new.use(monkeypatch)
    assert [backup.is_verified for backup in verified(store)] == [False, False, True, True]


@pytest.mark.parametrize("words", ["", "age1", "AGE-SECRET-KEY-1", "ssh-ed25519 AAAA", "x" * 99])
def test_what_is_no_public_key_is_refused_before_anything_is_written(
    words: str, store: Path
) -> None:
    with pytest.raises(KraftoolError, match="is no public key of age or ssh"):
        back_up(store, DIRECTORY, recipients=(PUBLIC_KEY, words))
    assert not store.exists()


@pytest.mark.parametrize(
    "data", [b"", b"# only a comment\n", b"AGE-SECRET-KEY-1\n", b"\xff\xfe", b"-----BEGIN x-----\n"]
)
def test_a_file_that_is_no_identity_is_an_error(
    data: bytes, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = back_up(store, DIRECTORY, recipients=(PUBLIC_KEY,))
    path = tmp_path / "key"
    path.write_bytes(data)
    monkeypatch.setenv(IDENTITY_VARIABLE, str(path))
    with pytest.raises(KraftoolError):
        load_state(str(store / manifest.name))


def test_an_identity_that_is_not_there_is_named(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = back_up(store, DIRECTORY, recipients=(PUBLIC_KEY,))
    monkeypatch.setenv(IDENTITY_VARIABLE, str(tmp_path / "gone"))
    with pytest.raises(KraftoolError, match=f"{IDENTITY_VARIABLE} .*gone: No such file"):
        load_state(str(store / manifest.name))


def test_a_key_with_a_passphrase_is_an_error(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "key"
    make = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", str(path))
    subprocess.run(make, check=True, stdin=subprocess.DEVNULL)
    public = Path(f"{path}.pub").read_text().strip()
    manifest = back_up(store, DIRECTORY, recipients=(public,))
    monkeypatch.setenv(IDENTITY_VARIABLE, str(path))
    with pytest.raises(KraftoolError):
        load_state(str(store / manifest.name))


def test_without_pyrage_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(age, "import_module", missing)
    with pytest.raises(KraftoolError, match="encryption needs pyrage") as caught:
        age.encrypt(io.BytesIO(b"x"), io.BytesIO(), (PUBLIC_KEY,))
    assert "pyrage" in caught.value.hint or "kraftool[backup]" in caught.value.hint
