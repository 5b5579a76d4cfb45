"""The quorum that is meant, and the way to reach its nodes.

Owns the step from an operator's words (bootstrap list, command config, port-forwards) to a survey.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kraftool.client.asking import Access, question
from kraftool.client.endpoints import parse_endpoints, parse_resolved
from kraftool.client.model import QuorumView
from kraftool.client.not_asked import unreached_words
from kraftool.client.survey import Asking, Known, survey
from kraftool.net.errors import ConnectError
from kraftool.net.settings import client_security, read_settings
from kraftool.raft.names import Endpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A live quorum. From poll to poll it learns where the controllers are, so that no single node
    has to stay up for the next poll."""

    bootstrap: tuple[Endpoint, ...]
    access: Access
    resolved: Mapping[int, Endpoint] = field(default_factory=dict)
    known: Known = field(default_factory=Known, compare=False, repr=False)

    async def survey(self, asking: Asking = question) -> QuorumView:
        """Ask every node that can be found, and those that earlier polls found."""
        view = await survey(
            self.bootstrap, self.access, self.resolved, asking, self.known.endpoints
        )
        self.known.learn(view)
        return view

    async def reached(self) -> QuorumView:
        """The same, where there has to be somebody. Raises ConnectError."""
        view = await self.survey()
        if not view.reached:
            problems, advice = unreached_words(view)
            raise ConnectError("; ".join(problems), hint=advice)
        return view


def target_of(
    bootstrap: str, resolved: Iterable[str], command_config: str, timeout_s: float
) -> Target:
    """The quorum that options name. Raises EndpointError, or SettingsError of the config."""
    security = client_security(read_settings(command_config)) if command_config else None
    return Target(
        bootstrap=parse_endpoints(bootstrap),
        access=Access(timeout_s=timeout_s)
        if security is None
        else Access(timeout_s=timeout_s, security=security),
        resolved=parse_resolved(resolved),
    )
