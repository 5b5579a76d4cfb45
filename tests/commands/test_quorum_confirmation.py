"""The id that a change asks for before it registers a controller again."""

from __future__ import annotations

from tests.commands.conftest import Run


def test_another_id_than_that_of_the_controller_changes_nothing(kraftool: Run) -> None:
    """It is compared before any node is asked: nobody listens at this address."""
    at = ("--bootstrap-controller", "127.0.0.1:1")
    done = kraftool("quorum", "renew-registration", "4", *at, "--yes", "5")
    assert done.code == 5
    assert "--yes 5 is not the id 4; nothing was changed" in done.err
