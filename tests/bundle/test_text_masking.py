"""Settings and log lines keep what explains a failure, and lose what is secret."""

from __future__ import annotations

import gzip

import pytest

from kraftool.bundle.text_masking import is_text, masked_lines, masked_settings, masked_small_file
from kraftool.decoders.kinds import FileKind


@pytest.mark.parametrize(
    "line",
    [
        b"ssl.keystore.password=CANARY",
        b"listener.name.x.plain.sasl.jaas.config: Plain required password=\"CANARY\";",
        b"my.own.setting=CANARY",
        b"ssl.key.password CANARY",
        b"delegation.token.secret.key = CANARY",
        b"node.id=1 password=CANARY",
        b"node.id=1\\ssl.key.password CANARY",
        b"auto.create.topics.enable=true; my.key CANARY",
        b"MIIEvCANARYbase64==",
        b"SSL.KEY.PASSWORD=CANARY",
        b"\\u0070assword=CANARY",
    ],
)  # fmt: skip
def test_a_setting_that_may_be_secret_has_no_value(line: bytes) -> None:
    [shown] = masked_settings([line])
    assert b"CANARY" not in shown
    assert b"[redacted]" in shown


def test_harmless_settings_stay_as_they_are_written() -> None:
    lines = [b"node.id = 3", b"log.dirs=/var/a,/var/b", b"advertised.listeners=C://c:9093"]
    assert list(masked_settings(lines)) == lines


LINES = r"""
	ssl.keystore.password = CANARY
sasl.jaas.config = org.x.PlainLoginModule required username=a password='CANARY 2';
LoginModule required username="a" password="x;CANARY";
Invalid config {"password": "CANARY", "node.id": 3}
{"msg":"{\"password\":\"CANARY\"}"}
token=CANARY, next
password=ab,CANARY
password=ab)CANARY
password = "ab CANARY
ssl.key.password=x CANARY
Authorization: Bearer CANARY5CANARY5CANARY5
Authorization=ApiKey CANARY
fetching https://user:CANARY@host/x
fetching https://user:p@CANARY@host/x
fetching https://user:p/CANARY@host/x
fetching https://CANARY@host/x
hmac: CANARY
Salt=CANARY StoredKey=CANARY
secret => CANARY
ConfigEntry(name=ssl.key.password, value=CANARY, source=DYNAMIC)
ConfigRecord(resourceType=4, name='ssl.keystore.password', value='CANARY')
ConfigRecord(value='CANARY', name='ssl.keystore.password')
Map(ssl.key.password -> CANARY)
(password,CANARY)
<property name="password" value="CANARY"/>
--storepass CANARY
api_key=CANARY
access_key=CANARY
pwd=CANARY
client_assertion=CANARY
eyJCANARYCANARY.eyJCANARY.CANARY
password%3DCANARY
""".strip("\n").splitlines()
PARAGRAPHS = (
    "-----BEGIN PRIVATE KEY-----\nCANARY\nCANARY\n-----END PRIVATE KEY-----",
    'org.x.PlainLoginModule required\n username="a"\n user_admin="CANARY"\n password="CANARY";',
    '"password":\n   "CANARY"',
    "password=\\\n   CANARY",
)


@pytest.mark.parametrize("line", [*LINES, *PARAGRAPHS])
def test_a_log_line_loses_its_secret(line: str) -> None:
    shown = masked_lines(b"cut off\n" + line.encode() + b"\nnext line 42\n", is_cut=True)
    assert b"CANARY" not in shown
    assert shown.endswith(b"next line 42\n")


def test_a_url_in_a_harmless_setting_has_no_password() -> None:
    [shown] = masked_settings([b"advertised.listeners=CONTROLLER://u:CANARY@h:9093"])
    assert shown == b"advertised.listeners=CONTROLLER://[redacted]@h:9093"


@pytest.mark.parametrize("line", [b"token" * 800_000, b"://a@" * 800_000, b"value " * 700_000])
def test_a_hostile_line_is_masked_in_one_pass(line: bytes) -> None:
    """A pattern that begins anew at each place would take hours: no more than its start is read."""
    assert len(masked_lines(line, is_cut=False)) < 1 << 15


def test_a_packed_log_is_no_text() -> None:
    assert is_text(b"[2026-11-30] INFO \xc3\xbc\n")
    assert not is_text(gzip.compress(b"password=CANARY\n"))
    assert not is_text("password=CANARY\n".encode("utf-16"))


@pytest.mark.parametrize(
    "kept",
    [
        b'{"clusterId":"","leaderId":2,"leaderEpoch":7,"votedId":-1,"lea',
        b'{"leaderId":2,"currentVoters":[{"voterId":1}],"data_version":0}',
        b"0\n2\n0 0\n7 122\n",
        b"version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n",
    ],
)
def test_words_of_kafka_stay_and_others_keep_their_length(kept: bytes) -> None:
    assert masked_small_file(kept, FileKind.QUORUM_STATE) == kept
    damaged = kept.replace(b"leader", b"leaver").replace(b"topic", b"to\x90ic")
    assert masked_small_file(damaged, FileKind.QUORUM_STATE) == damaged
    shown = masked_small_file(kept + b" password=CANARY-12", FileKind.QUORUM_STATE)
    assert shown.endswith(b" xxxxxxxx=xxxxxx-00")
    assert len(shown) == len(kept) + 19


def test_the_ids_of_meta_properties_stay() -> None:
    kept = b"#\n#Tue Dec 01 09:00:00 UTC 2026\ncluster.id=my-cluster\nnodf.id=3\nversion=1\n"
    assert masked_small_file(kept, FileKind.META_PROPERTIES) == kept
    shown = masked_small_file(kept + b"ssl.key.password=CANARY\n", FileKind.META_PROPERTIES)
    assert shown == kept + b"ssl.key.password=xxxxxx\n"


def test_other_lines_stay() -> None:
    text = (
        b"[2026-11-30 10:00:00,000] INFO [RaftManager id=1] Completed transition to Leader\n"
        b"\tat org.apache.kafka.common.security.authenticator.Login(Login.java:42)\n"
        b"\tssl.keystore.type = JKS\n"
    )
    assert masked_lines(b"cut off\n" + text, is_cut=True) == text
    assert masked_lines(text, is_cut=False) == text
