"""A masked log has no secret, and everything that is wrong with it is wrong as before."""

from __future__ import annotations

import io
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from crc32c import crc32c

from kraftool.bundle.masking import Masks, masked_log
from kraftool.decoders.batch import CRC_START, RecordBatch, encode_batch
from kraftool.decoders.framing import encode_record
from kraftool.decoders.segment import scan
from kraftool.storage.source import BytesSource
from tests.support.bundles import as_new_process, bundle_of, doctor
from tests.support.copies import writable
from tests.support.places import FIXTURES, PARTITION

pytestmark = pytest.mark.slow

SEEDS = 300 if os.environ.get("KRAFTOOL_SOAK") == "1" else 12
MASKS = Masks(b"of this test")
WITH_SECRETS = FIXTURES / "kafka-4.3.0/static-single/node-1/data"
SCRAM = {
    "name": "eve",
    "mechanism": 1,
    "salt": b"CANARY-salt-of-eve",
    "storedKey": b"CANARY-stored-key-of-eve",
    "serverKey": b"CANARY-server-key-of-eve",
    "iterations": 4096,
}


def masked(data: bytes) -> bytes:
    out = io.BytesIO()
    masked_log(BytesSource("log", data), out, MASKS)
    return out.getvalue()


def log(*values: bytes) -> bytes:
    return encode_batch(
        [(None, value) for value in values], base_offset=0, epoch=1, timestamp=1_000
    )


def secret(**changes: object) -> bytes:
    return encode_record("UserScramCredentialRecord", 0, {**SCRAM, **changes})


def config(name: str, value: str, kind: int = 4) -> bytes:
    data = {"resourceType": kind, "resourceName": "1", "name": name, "value": value}
    return encode_record("ConfigRecord", 0, data)


def test_secrets_are_masked_and_all_else_stays() -> None:
    data = log(secret(), config("message.max.bytes", "1048576"), config("x.y", "CANARY-config"))
    shown = masked(data)
    assert b"CANARY" not in shown
    for kept in (b"eve", b"message.max.bytes", b"1048576", b"x.y"):
        assert kept in shown
    [batch] = scan(BytesSource("log", shown).read_at)
    assert isinstance(batch, RecordBatch)
    assert batch.is_valid
    assert len(list(batch.records())) == 3


def test_a_text_stays_one() -> None:
    [batch] = scan(BytesSource("log", masked(log(config("x", "geheim: ß")))).read_at)
    assert isinstance(batch, RecordBatch)
    [record] = batch.records()
    assert record.value is not None
    record.value.decode("ascii", "strict")


def test_equal_secrets_have_equal_masks_in_one_bundle_and_others_in_the_next() -> None:
    one, same, other = masked(log(secret())), masked(log(secret())), log(secret(salt=b"S" * 18))
    assert one == same != masked(other)
    again = io.BytesIO()
    masked_log(BytesSource("log", log(secret())), again, Masks(b"of another bundle"))
    assert again.getvalue() != one


@pytest.mark.parametrize("bit", [0, 7, 100, 300, 333])
def test_a_flipped_bit_is_as_far_from_the_right_crc_as_before(bit: int) -> None:
    """By this distance `recover` finds the bit."""
    data = bytearray(log(secret(), config("x.y", "CANARY-config")))
    place = CRC_START + 8 + bit // 8
    data[place] ^= 1 << bit % 8
    shown = masked(bytes(data))
    assert _distance(shown) == _distance(bytes(data)) != 0


def _distance(data: bytes) -> int:
    return crc32c(data[CRC_START:]) ^ int.from_bytes(data[CRC_START - 4 : CRC_START], "big")


@pytest.mark.parametrize("cut", range(20, 330, 13))
def test_no_secret_is_in_what_is_left_of_a_torn_batch(cut: int) -> None:
    whole = log(secret(), config("x.y", "CANARY-config"))
    assert b"CANARY" not in masked(whole[:cut])
    assert len(masked(whole[:cut])) == len(whole[:cut])
    assert b"CANARY" not in masked(whole[cut:])


def test_topic_data_and_compressed_batches_are_masked_whole() -> None:
    keyed = encode_batch(
        [(b"CANARY-key", b"CANARY-value")], base_offset=0, epoch=1, timestamp=1_000
    )
    packed = bytearray(log(b"CANARY-value"))
    packed[22] |= 1  # gzip, which it is not
    for data in (keyed, bytes(packed)):
        assert b"CANARY" not in masked(data)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_damage_is_found_in_a_bundle_as_on_the_node(seed: int, tmp_path: Path) -> None:
    """The same findings with the same severity at the same places; only bytes that are quoted, as
    a CRC, may be others."""
    data = writable(WITH_SECRETS, tmp_path / "data")
    _damage(data, random.Random(seed))
    file = tmp_path / "case.zip"
    [node] = bundle_of(data, file=file).nodes
    on_node = list(_findings(data, []))
    with as_new_process():
        prefix = [f"{file}:{node.name}", str(file)]
        assert list(_findings(file, prefix)) == on_node


def _findings(path: Path, prefixes: Sequence[str]) -> Iterator[tuple[object, ...]]:
    from kraftool.decoders.shown_names import shown

    for finding in doctor(path).findings:
        file = shown(finding.file)
        for prefix in prefixes:
            file = file.replace(prefix, "")
        yield finding.code, finding.severity, file, finding.position


def _damage(data: Path, chance: random.Random) -> None:
    logs = sorted((*data.glob(f"{PARTITION}/*.log"), *data.glob("**/*.checkpoint")))
    small = sorted((*data.glob(f"{PARTITION}/*"), data / "meta.properties"))
    file = chance.choice(
        logs if chance.random() < 0.7 else [each for each in small if each.stat().st_size]
    )
    content = bytearray(file.read_bytes())
    at, size = chance.randrange(len(content)), chance.choice((1, 4, 64, 1000))
    match chance.choice(("bit", "cut", "zeros", "noise", "doubled", "lost", "head")):
        case "bit":
            content[at] ^= 1 << chance.randrange(8)
        case "cut":
            del content[at:]
        case "zeros":
            content[at : at + size] = bytes(len(content[at : at + size]))
        case "noise":
            content[at : at + size] = chance.randbytes(len(content[at : at + size]))
        case "doubled":
            content[at:at] = content[at : at + size]
        case "lost":
            del content[at : at + size]
        case "head":
            del content[:at]
    file.write_bytes(content)
