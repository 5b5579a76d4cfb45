"""Writes what the fuzzer of the native module's core begins with: one file for each record type.

    python tests/fuzz/core_seeds.py build/fuzz/core-seeds

A seed has the programs of a type, made from the catalogue, and a log with records of it. Its form
is that of `Case::of` in decoders/native/core/tests/properties/mod.rs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kraftool.decoders.batch import encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.programs import program
from tests.fuzz.native_cases import formats, values_of

_TIMES = (0, 500, 1000, 60_000)


def seed(name: str, version: int, random: Random) -> bytes | None:
    """The seed of a version of a record type; None if it has no program."""
    first = encode_record(name, version, {})
    programs = {
        code for hides in (False, True) if (code := program(first[1], version, masked=hides))
    }
    if not programs:
        return None
    out = bytes((len(programs),))
    for code in sorted(programs):
        out += bytes((first[1], version)) + len(code).to_bytes(2, "big") + code
    offset = 0
    for when in _TIMES:
        values = [first, *values_of(random, name, version, random.randint(0, 3))]
        pairs = [(None, value) for value in values]
        out += encode_batch(pairs, base_offset=offset, epoch=1, timestamp=when)
        offset += len(values)
    return out


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random, written = Random(1), 0
    for name, version in formats():
        made = seed(name, version, random)
        if made is not None:
            (folder / f"{name}-{version}").write_bytes(made)
            written += 1
    print(f"{written} seeds in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
