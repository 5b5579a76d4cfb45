"""HOST:PORT is read in one place: what is host, what is port, and how an IPv6 address stands."""

import pytest

from kraftool.decoders.addresses import host_and_port, shown_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("ctl-1:9093", "ctl-1", 9093),
        (" ctl-1:9093\n", "ctl-1", 9093),
        ("[2001:db8::1]:9093", "2001:db8::1", 9093),
        ("2001:db8::1:9093", "2001:db8::1", 9093),
        (":9093", "", 9093),
        ("ctl-1:0", "ctl-1", 0),
        ("ctl-1", "ctl-1", None),
        ("ctl-1:", "ctl-1", None),
        ("ctl-1:-1", "ctl-1", None),
        ("ctl-1:65536", "ctl-1", None),
        ("ctl-1:" + "9" * 5000, "ctl-1", None),
        ("ctl-1:٩", "ctl-1", None),
        ("", "", None),
    ],
)
def test_host_and_port_are_told_apart_at_the_last_colon(
    text: str, host: str, port: int | None
) -> None:
    assert host_and_port(text) == (host, port)


def test_an_address_that_is_shown_is_read_back() -> None:
    for host in ("ctl-1", "10.0.0.1", "::1", "2001:db8::1"):
        assert host_and_port(shown_address(host, 9093)) == (host, 9093)
    assert shown_address("::1", 9093) == "[::1]:9093"
