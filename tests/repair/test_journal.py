"""The journal: what is noted is there, and only a crash's own traces are passed over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kraftool.storage.files import Files
from kraftool.storage.repair_journal import Journal, JournalDamaged, encode, entries_at, read

ENTRIES: list[dict[str, Any]] = [
    {"kind": "begin", "planId": "ab"},
    {"kind": "step", "number": 0},
    {"kind": "applied"},
]


def write(path: Path) -> bytes:
    journal = Journal(Files(), str(path))
    for entry in ENTRIES:
        facts = {key: value for key, value in entry.items() if key != "kind"}
        journal.note(str(entry["kind"]), **facts)
    journal.close()
    return path.read_bytes()


def test_entries_come_back_in_order(tmp_path: Path) -> None:
    write(tmp_path / "journal")
    assert entries_at(Files(), str(tmp_path / "journal")) == ENTRIES
    assert (tmp_path / "journal").stat().st_mode & 0o777 == 0o600


def test_where_there_is_no_journal_it_says_nothing(tmp_path: Path) -> None:
    assert entries_at(Files(), str(tmp_path / "journal")) == []


def test_a_journal_cut_anywhere_has_its_whole_lines_and_goes_on_behind_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal"
    whole = write(path)
    borders = [0]
    for entry in ENTRIES:
        borders.append(borders[-1] + len(encode(entry)))
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        known = [number for number, border in enumerate(borders) if border <= cut][-1]
        journal = Journal(Files(), str(path))
        assert journal.entries == ENTRIES[:known]
        journal.note("more")
        journal.close()
        assert entries_at(Files(), str(path)) == [*ENTRIES[:known], {"kind": "more"}]


def test_zeros_at_the_end_are_a_torn_tail(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(write(path) + bytes(700))
    assert entries_at(Files(), str(path)) == ENTRIES


def test_a_flipped_bit_before_whole_lines_is_damage_and_in_the_last_one_a_torn_tail(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal"
    whole = write(path)
    last = len(whole) - len(encode(ENTRIES[-1]))
    for at in range(len(whole)):
        data = bytearray(whole)
        data[at] ^= 0x10
        if at < last - 1:  # a line's own break, flipped, joins it with the next
            with pytest.raises(JournalDamaged):
                read(bytes(data), "journal")
        else:
            assert len(read(bytes(data), "journal")[0]) < len(ENTRIES)


def test_what_checks_but_is_no_entry_is_damage() -> None:
    from crc32c import crc32c

    for text in (b"[1]", b'{"no":"kind"}', b"[" * 100_000):
        line = b"%08x %s\n" % (crc32c(text), text)
        with pytest.raises(JournalDamaged):
            read(line + encode({"kind": "begin"}), "journal")
