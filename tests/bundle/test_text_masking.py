"""Settings and log lines keep what explains a failure, and lose what is secret."""

from __future__ import annotations

import pytest

from kraftool.bundle.text_masking import masked_lines, masked_settings


@pytest.mark.parametrize(
    "line",
    [
        b"ssl.keystore.password=CANARY",
        b"listener.name.x.plain.sasl.jaas.config: Plain required password=\"CANARY\";",
        b"my.own.setting=CANARY",
        b"ssl.key.password CANARY",
        b"delegation.token.secret.key = CANARY",
        b"node.id=1 password=CANARY",
    ],
)  # fmt: skip
def test_a_setting_that_may_be_secret_has_no_value(line: bytes) -> None:
    [shown] = masked_settings([line])
    assert b"CANARY" not in shown
    assert b"[redacted]" in shown


def test_harmless_settings_stay_as_they_are_written() -> None:
    lines = [b"node.id = 3", b"log.dirs=/var/a,/var/b", b"advertised.listeners=C://c:9093"]
    assert list(masked_settings(lines)) == lines


@pytest.mark.parametrize(
    "line",
    [
        "	ssl.keystore.password = CANARY-1",
        "sasl.jaas.config = org.x.PlainLoginModule required username=a password='CANARY 2';",
        "Invalid config {\"password\": \"CANARY-3\", \"node.id\": 3}",
        "token=CANARY-4, next",
        "Authorization: Bearer CANARY5CANARY5CANARY5",
        "fetching https://user:CANARY-6@host/x",
        "hmac: CANARY-7",
        "-----BEGIN PRIVATE KEY-----\nCANARY-8\nCANARY-8\n-----END PRIVATE KEY-----",
        "Salt=CANARY-9 StoredKey=CANARY-9",
        "secret => CANARY-10",
    ],
)  # fmt: skip
def test_a_log_line_loses_its_secret(line: str) -> None:
    shown = masked_lines(b"cut off\n" + line.encode() + b"\nnext line 42\n")
    assert b"CANARY" not in shown
    assert shown.endswith(b"next line 42\n")


def test_other_lines_stay() -> None:
    text = (
        b"[2026-11-30 10:00:00,000] INFO [RaftManager id=1] Completed transition to Leader\n"
        b"\tat org.apache.kafka.common.security.authenticator.Login(Login.java:42)\n"
        b"\tssl.keystore.type = JKS\n"
    )
    assert masked_lines(b"cut off\n" + text) == text
