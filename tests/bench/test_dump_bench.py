"""The bench of dump-log measures what it says: a healthy log, and the same output from both."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftool.decoders.batch import RecordBatch
from kraftool.decoders.log_record import decode_batch
from kraftool.decoders.segment import scan
from tests.bench import dump
from tests.support.places import LOG


def test_the_log_of_the_bench_is_healthy_and_mostly_partition_records(tmp_path: Path) -> None:
    path = tmp_path / LOG
    count = dump.build_log(path, 300_000)
    data = path.read_bytes()
    assert 250_000 < len(data) <= 300_000
    names = []
    following = 0
    for batch in scan(lambda at, size: data[at : at + size]):
        assert isinstance(batch, RecordBatch)
        assert batch.is_valid
        assert batch.base_offset == following
        following = batch.last_offset + 1
        names += [record.name for record in decode_batch(batch)]
    assert len(names) == following == count
    assert names.count("PartitionRecord") > 0.99 * len(names)


@pytest.mark.interop
def test_the_programs_of_the_bench_write_the_same_output(tmp_path: Path) -> None:
    dump.build_log(tmp_path / LOG, 1_000_000)
    outputs = {
        dump.output(command, tmp_path)
        for command in (
            dump.kafka_command(),
            dump.COMMANDS["kraftool -o kafka --jobs 1"],
            dump.COMMANDS["kraftool -o kafka --jobs 2"],
        )
    }
    assert len(outputs) == 1
