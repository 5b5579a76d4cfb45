"""Rows that are filled natively are those that Python makes, in the same order."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from kraftool.arrow import rows as rows_module
from kraftool.arrow.columns import RECORDS, record_types
from kraftool.arrow.untyped import pa
from kraftool.decoders import fast_path
from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from tests.fuzz import column_checks
from tests.fuzz.column_checks import COLUMNS, OPTIONS, accepted, check, rows, sizes, split_of
from tests.fuzz.native_cases import TIE, formats
from tests.support.places import FIXTURES, distinct

CASES = 400

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not fast_path.is_native(), reason="needs the native module: Rust, and make native"
    ),
]


def _logs() -> list[Path]:
    return [
        path
        for path in sorted(FIXTURES.rglob("*"))
        if path.suffix in (".log", ".checkpoint") and path.stat().st_size < 300_000
    ]


SPLITS = [split_of(path) for path in distinct(_logs())]


def _batch(values: list[bytes], offset: int = 0) -> bytes:
    records = [(None, value) for value in values]
    return encode_batch(records, base_offset=offset, epoch=1, timestamp=5)


def _log(folder: Path, *batches: bytes) -> Path:
    path = folder / "00000000000000000000.log"
    path.write_bytes(b"".join(batches))
    return path


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_records_of_every_fixture_are_the_same_with_every_option(
    options: column_checks.Options,
) -> None:
    check(SPLITS, RECORDS, options)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("kind", ["", "record"])
def test_records_of_every_fixture_are_the_same_with_some_columns(columns: str, kind: str) -> None:
    assert check(SPLITS, RECORDS, {"kind": kind} if kind else {}, columns) > 1000


@pytest.mark.parametrize("record", record_types())
def test_fields_of_every_fixture_are_the_same(record: str) -> None:
    check(SPLITS, f"{RECORDS}.{record}", {})


def test_most_records_of_the_fixtures_are_taken() -> None:
    counts = [accepted(split_of(path)) for path in _logs()]
    taken, left = (sum(column) for column in zip(*counts, strict=True))
    assert taken > left


def test_changed_logs_have_the_same_rows(tmp_path: Path) -> None:
    taken, left = column_checks.run(seed=3, count=CASES, folder=tmp_path)
    # Only what the native module took can differ.
    assert taken > left / 10


def test_every_version_of_every_type_has_the_same_fields(tmp_path: Path) -> None:
    """Versions among each other: the rows are in the order of the log, whatever the version."""
    values = [encode_record(name, version, {}) for name, version in formats()]
    path = _log(tmp_path, _batch([*values, *reversed(values)]))
    split = split_of(path)
    assert accepted(split) == (2 * len(values), 0)
    assert check([split], RECORDS, {}) == 2 * len(values)
    for name in {name for name, _ in formats()}:
        versions = sum(name == other for other, _ in formats())
        assert check([split], f"{RECORDS}.{name}", {}) == 2 * versions


def test_doubles_that_are_not_whole_become_columns_and_their_text_is_python_s(
    tmp_path: Path,
) -> None:
    numbers = (TIE, 0.5, -0.0, 1e16, float("inf"), float("nan"), 3.0)
    made = [
        encode_record(
            "ClientQuotaRecord", 0, {"entity": [], "key": "k", "value": number, "remove": False}
        )
        for number in numbers
    ]
    split = split_of(_log(tmp_path, *(_batch([record], at) for at, record in enumerate(made))))
    assert accepted(split) == (1, 6)
    check([split], RECORDS, {})
    check([split], f"{RECORDS}.ClientQuotaRecord", {})


def test_a_secret_is_masked_in_text_and_in_columns(tmp_path: Path) -> None:
    names = ("retention.ms", "sasl.jaas.config", "listener.name.a.sasl.jaas.config", "my.secret")
    configs = [
        encode_record(
            "ConfigRecord",
            0,
            {"resourceType": kind, "resourceName": "1", "name": name, "value": f"plain-{name}"},
        )
        for name in names
        for kind in (2, 4)
    ]
    scram = {
        "name": "u", "mechanism": 1, "salt": b"salt-salt", "storedKey": b"stored-key",
        "serverKey": b"server-key", "iterations": 4096,
    }  # fmt: skip
    token = encode_record("UserScramCredentialRecord", 0, scram)
    batches = [_batch([config], at) for at, config in enumerate((*configs, token))]
    split = split_of(_log(tmp_path, *batches))
    assert accepted(split)[0] >= 7
    for record in ("ConfigRecord", "UserScramCredentialRecord"):
        for options in ({}, {"showSecrets": "true"}):
            check([split], f"{RECORDS}.{record}", options)
            check([split], RECORDS, options)
    shown = "\n".join(rows([split], RECORDS, {}) + rows([split], f"{RECORDS}.ConfigRecord", {}))
    assert "plain-retention.ms" in shown
    assert "plain-my.secret" not in shown
    assert "plain-sasl.jaas.config" not in shown


def _mixed(folder: Path, count: int) -> Path:
    """Batches of which every third is for Python."""
    value = encode_record("NoOpRecord", 0, {})
    # With a tagged field that no catalogue has.
    topic = encode_record("TopicRecord", 0, {"name": "a", "topicId": "A" * 22})[:-1] + b"\1\5\0"
    return _log(
        folder,
        *(_batch([topic], at) if at % 3 == 1 else _batch([value], at) for at in range(count)),
    )


def test_rows_of_both_paths_are_in_the_order_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = split_of(_mixed(tmp_path, 100))
    assert accepted(split) == (67, 33)
    for full in (1, 7, 10_000):
        monkeypatch.setattr(rows_module, "ROWS", full)
        for columns in COLUMNS:
            check([split, split], RECORDS, {}, columns)
        check([split], f"{RECORDS}.TopicRecord", {})


def test_rows_are_handed_on_when_there_are_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = encode_record("NoOpRecord", 0, {})
    split = split_of(_log(tmp_path, *(_batch([value], at) for at in range(100))))
    monkeypatch.setattr(rows_module, "ROWS", 30)
    assert sizes([split], RECORDS) == [30, 30, 30, 10]
    monkeypatch.setattr(rows_module, "ROWS", 1000)
    monkeypatch.setattr(rows_module, "PAYLOAD", 10 * len(_batch([value])))
    assert sizes([split], RECORDS) == [10] * 10


def test_a_buffer_that_is_too_small_is_refused() -> None:
    from kraftool.arrow.native_columns import TypeRows

    short = TypeRows(0, "TopicRecord", 0, 2, {"name": (2, 0, [None, bytes(8), b"ab"], [])})
    with pytest.raises(pa.ArrowInvalid):
        short.array("name", pa.string())
