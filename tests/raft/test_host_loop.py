"""The smallest host of the core, as the package's documentation shows it."""

import doctest

from kraftool import raft


def test_the_host_in_the_documentation_elects_itself_and_commits() -> None:
    result = doctest.testmod(raft)
    assert result.attempted > 10
    assert result.failed == 0
