"""Mutated real files go through every decoder, format and command without a crash or a hang.

A few hundred files in `make test`; thousands in `make soak` (KRAFTOOL_HYPOTHESIS=soak), which runs
tests/fuzz/fuzz_decoders.py for minutes as well. A file that failed once becomes an @example here
or a test of the decoder at fault.
"""

from __future__ import annotations

import gzip
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kraftool.decoders.batch import BatchHeader, RecordBatch, encode_batch, seal
from kraftool.decoders.segment import scan
from tests.fuzz import checks
from tests.fuzz.mutations import LARGEST, Sample, corpus, mutate
from tests.support.places import FIXTURES, LOG

pytestmark = pytest.mark.slow

SAMPLES = corpus(FIXTURES)
randoms = st.randoms(note_method_calls=False, use_true_random=False)


def test_the_corpus_has_every_kind_of_file() -> None:
    names = {sample.name for sample in SAMPLES}
    assert {name.rpartition(".")[2] for name in names} >= {
        "log",
        "checkpoint",
        "index",
        "timeindex",
        "txnindex",
        "snapshot",
        "properties",
        "quorum-state",
        "leader-epoch-checkpoint",
        "metadata",
        "recovery-point-offset-checkpoint",
    }


@given(random=randoms)
def test_no_file_brings_a_decoder_down(random: Random) -> None:
    with checks.bounded_time():
        checks.check_decoders(mutate(random, SAMPLES))


@given(random=randoms)
def test_no_file_breaks_a_machine_format(random: Random) -> None:
    with checks.bounded_time():
        checks.check_formats(mutate(random, SAMPLES))


@pytest.mark.parametrize("command", checks.COMMANDS, ids=" ".join)
def test_no_file_brings_a_command_down(
    command: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")

    @given(random=randoms)
    def check(random: Random) -> None:
        with checks.bounded_time():
            checks.check_command(folder, mutate(random, SAMPLES), command)

    check()


# Without shrinking, which takes minutes where memory is traced.
@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(random=randoms)
def test_no_small_file_takes_much_memory(random: Random) -> None:
    sample = mutate(random, SAMPLES)
    with checks.bounded_time(), checks.bounded_memory():
        checks.check_decoders(sample)
        checks.check_formats(sample)


ADVERSARIAL = {
    "zeros": b"\x00",
    "magics": b"\x02",
    "aligned-magics": b"\x00\x00\x00\x02",
    "ones": b"\xff",
    # At every magic a header that could be a batch's, so that each has its CRC computed.
    "headers": bytes(8) + b"\x00\x01\x00\x00" + bytes(4) + b"\x02",
    "cut-batches": encode_batch([(None, b"")] * 3, base_offset=0, epoch=1, timestamp=1)[:-2],
    "properties": b"version=1\n",
    "objects": b'{"a":',
    "arrays": b"[",
    "escapes": b"\\u00",
    "pairs": b"1 1\n",
}


def padded(first: bytes, size: int) -> Sample:
    return Sample(LOG, (first * (size // len(first) + 1))[:size])


@pytest.mark.parametrize("first", ADVERSARIAL.values(), ids=ADVERSARIAL)
def test_adversarial_files_take_bounded_time_and_memory(first: bytes) -> None:
    with checks.bounded_time():
        checks.check_decoders(padded(first, LARGEST))
    with checks.bounded_time(), checks.bounded_memory():
        checks.check_decoders(padded(first, LARGEST // 40))
        checks.check_formats(padded(first, LARGEST // 40))


def header(**fields: int) -> BatchHeader:
    (batch,) = scan(
        lambda at, size: encode_batch([(None, b"")], base_offset=0, epoch=1, timestamp=1)[
            at : at + size
        ]
    )
    assert isinstance(batch, RecordBatch)
    return batch.header._replace(**fields)


@pytest.mark.parametrize("count", [1, 1 << 20, 0x7FFFFFFF])
def test_a_decompression_bomb_is_bounded(count: int) -> None:
    bomb = gzip.compress(bytes(200 << 20))
    data = seal(header(attributes=1, record_count=count), bomb)
    # What a batch may decompress to is 64 MiB, and is held once.
    with checks.bounded_memory(140 << 20), checks.bounded_time():
        checks.check_scan(data)
