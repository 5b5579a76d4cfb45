"""Endpoints in text: read as they are written, with and without a listener."""

import pytest

from kraftool.raft.endpoints import read_endpoint, shown_endpoint, shown_endpoints
from kraftool.raft.names import Endpoint


@pytest.mark.parametrize(
    ("text", "listener", "endpoint"),
    [
        ("CONTROLLER://ctl-1:9093", "CONTROLLER", ("ctl-1", 9093)),
        ("Internal://[::1]:9093", "Internal", ("::1", 9093)),
        ("ctl-1:9093", "", ("ctl-1", 9093)),
        ("ctl-1", "", ("ctl-1", 0)),
        ("CONTROLLER://ctl-1:0", "CONTROLLER", ("ctl-1", 0)),
    ],
)
def test_an_endpoint_is_written_as_it_was_read(
    text: str, listener: str, endpoint: tuple[str, int]
) -> None:
    assert read_endpoint(text) == (listener, endpoint)
    assert shown_endpoint(listener, Endpoint(*endpoint)) == text


@pytest.mark.parametrize("port", ["", "x", "-1", "65536", "9" * 5000])
def test_what_is_no_port_is_0(port: str) -> None:
    assert read_endpoint(f"C://host:{port}") == ("C", ("host", 0))


def test_endpoints_keep_their_order() -> None:
    endpoints = {"B": Endpoint("b", 1), "A": Endpoint("a", 2)}
    assert shown_endpoints(endpoints) == ("B://b:1", "A://a:2")
