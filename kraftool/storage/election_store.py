"""quorum-state on the disk: what a node has promised, before it says so to anyone.

Owns reading it at the start and replacing it durably. What the file looks like is
`decoders/quorum_state.py`'s. A file that Kafka refuses is refused here too: without it a node could
vote twice in an epoch.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from kraftool.decoders import quorum_state
from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.quorum_state import QuorumState
from kraftool.decoders.wire import ZERO_UUID
from kraftool.raft.names import NO_ID, ElectionState, ReplicaKey
from kraftool.storage.files import Files, read_whole, replace


class ElectionStore:
    """The quorum-state of one partition folder."""

    def __init__(self, files: Files, folder: str, static_voters: Iterable[int]) -> None:
        """Version 0 of the file names the voters, which are then the configured ones."""
        self.path = os.path.join(folder, quorum_state.FILE_NAME)
        self._files = files
        self._voters = tuple(sorted(static_voters))

    def read(self) -> ElectionState | None:
        """Return what is promised; None where there is no file."""
        data = read_whole(self._files, self.path, quorum_state.MAX_LINE_BYTES + 1)
        if data is None:
            return None
        state_file, problems = quorum_state.decode(data)
        if state_file.quorum_state is None:
            raise KraftoolError(
                f"{self.path} cannot be read: {problems[0].describe()}",
                hint="without it this node could vote twice; do not delete it. See kraftool doctor",
            )
        return _election(state_file.quorum_state)

    def write(self, state: ElectionState, kraft_version: int) -> None:
        """Promise it. kraft.version decides the version of the file; 0 has no directory ids."""
        replace(self._files, self.path, quorum_state.encode(self._stored(state, kraft_version)))

    def _stored(self, state: ElectionState, kraft_version: int) -> QuorumState:
        leader_id = NO_ID if state.leader_id is None else state.leader_id
        voted_id = NO_ID if state.voted is None else state.voted.id
        if kraft_version == 0:
            return QuorumState(
                data_version=0,
                leader_id=leader_id,
                leader_epoch=state.epoch,
                voted_id=voted_id,
                current_voters=self._voters,
            )
        directory_id = None if state.voted is None else state.voted.directory_id
        return QuorumState(
            data_version=1,
            leader_id=leader_id,
            leader_epoch=state.epoch,
            voted_id=voted_id,
            voted_directory_id=directory_id or ZERO_UUID,
        )


def _election(state: QuorumState) -> ElectionState:
    directory_id = state.voted_directory_id
    voted = None
    if state.voted_id != NO_ID:
        voted = ReplicaKey(state.voted_id, None if directory_id == ZERO_UUID else directory_id)
    return ElectionState(
        epoch=state.leader_epoch,
        leader_id=None if state.leader_id == NO_ID else state.leader_id,
        voted=voted,
    )
