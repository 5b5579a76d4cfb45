"""The request for a format: a server.properties and options. Owns no decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kraftool.raft.names import Endpoint, VoterSet
from kraftool.storage.scram_records import ScramUser


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatRequest:
    """The values that a server.properties and the options ask for."""

    node_id: int
    cluster_id: str
    directories: Sequence[str]
    metadata_directory: str
    is_controller: bool
    static_voters: VoterSet
    listener: str
    """The first of controller.listener.names: a voter's endpoint has this name."""
    advertised: Endpoint | None
    """Where this node's own controller listener is reached; None for a broker."""
    standalone: bool = False
    initial_controllers: str = ""
    no_initial_controllers: bool = False
    release: str = ""
    """States metadata.version, unless the features do."""
    metadata_version_source: str | None = None
    """See FormatPlan."""
    features: Mapping[str, int]
    scram_users: Sequence[ScramUser] = ()
    running_cluster: str = ""
    """The id of a cluster that is known to run, where one was asked for its level."""
    ignore_formatted: bool = False
    is_dry_run: bool = False

    @property
    def writes_records(self) -> bool:
        """True if records of a new cluster are written.

        The cluster that a controller joins has them already, and a broker reads them nowhere.
        """
        joins = self.no_initial_controllers and not self.static_voters
        begins = self.is_controller and not joins
        return begins or bool(self.initial_controllers or self.features or self.scram_users)
