"""The node's own certificates: an operator learns at the start that one ends, and where it is."""

from __future__ import annotations

import datetime as dt
import logging
from pathlib import Path
from typing import Any

import pytest

from kraftool.node.config import config_of
from kraftool.node.security import Security
from tests.net.certificates import authority, node


def _security(
    folder: Path, days: float, *, protocol: str = "SSL", inline: bool = False
) -> Security:
    own = node(authority(), days=days)
    store = own.write(folder / "node.pem")
    given = {
        "process.roles": "controller",
        "node.id": "1",
        "controller.quorum.bootstrap.servers": "127.0.0.1:1",
        "controller.listener.names": "CONTROLLER,OTHER",
        "listeners": "CONTROLLER://127.0.0.1:0,OTHER://127.0.0.1:1",
        "listener.security.protocol.map": f"CONTROLLER:{protocol},OTHER:{protocol}",
        "log.dirs": str(folder / "data"),
        "ssl.keystore.type": "PEM",
    }
    if inline:
        given |= {
            "ssl.keystore.key": own.key_pem(),
            "ssl.keystore.certificate.chain": own.pem,
        }
    else:
        given["ssl.keystore.location"] = str(store)
    return Security(config_of(given))


def _warnings(caplog: pytest.LogCaptureFixture) -> list[tuple[str, dict[str, Any]]]:
    return [
        (record.message, vars(record)["fields"])
        for record in caplog.records
        if record.levelno == logging.WARNING
    ]


@pytest.mark.parametrize(
    ("days", "text"),
    [(-1, "own certificate has expired"), (29, "own certificate expires soon")],
)
def test_a_certificate_that_ends_is_warned_of_with_its_date_and_store(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, days: float, text: str
) -> None:
    _security(tmp_path, days).warn_of_certificates()
    [(message, fields)] = _warnings(caplog)
    assert message == text
    assert fields["store"] == str(tmp_path / "node.pem")
    assert fields["subject"] == "CN=node-1"
    ends = dt.datetime.now(dt.UTC) + dt.timedelta(days=days)
    expires = dt.datetime.fromisoformat(fields["validUntil"])
    assert abs(expires - ends) < dt.timedelta(minutes=5)
    assert fields["listeners"] == ["CONTROLLER", "OTHER"], "one line for one store"


def test_a_certificate_that_is_not_valid_yet_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    earlier = dt.datetime.now(dt.UTC) - dt.timedelta(days=365)
    _security(tmp_path, 60).warn_of_certificates(earlier)
    assert [text for text, _ in _warnings(caplog)] == ["own certificate is not valid yet"]


def test_a_key_in_the_configuration_is_named_by_its_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _security(tmp_path, 1, inline=True).warn_of_certificates()
    [(_, fields)] = _warnings(caplog)
    assert fields["store"] == "ssl.keystore.key"


@pytest.mark.parametrize(("days", "protocol"), [(31, "SSL"), (-1, "PLAINTEXT")])
def test_a_certificate_that_is_valid_or_not_used_is_not_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, days: float, protocol: str
) -> None:
    _security(tmp_path, days, protocol=protocol).warn_of_certificates()
    assert not _warnings(caplog)
