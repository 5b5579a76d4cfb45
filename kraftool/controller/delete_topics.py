"""DeleteTopics: topics that go, by name or by id.

Checks each item of the request, and refuses it with the sentences of Kafka's request layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kraftool.controller.decision import Decision
from kraftool.controller.permissions import Permissions
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.image.replay import WrittenRecord
from kraftool.image.uuids import NO_ID

_DISABLED_SINCE = 3
"""The first version whose clients know TOPIC_DELETION_DISABLED."""
_MAPPED = "The provided topic name maps to an ID that was already supplied."


def delete_topics(
    state: ControllerState,
    request: dict[str, Any],
    permissions: Permissions,
    *,
    version: int,
    charge: Callable[[int], None],
) -> Decision:
    """Remove topics with their partitions and configs. `charge`: raises RequestRefused if the
    client may not delete so many partitions now."""
    if state.settings.static_configs.get("delete.topic.enable", "true").strip().lower() == "false":
        error = Error.TOPIC_DELETION_DISABLED if version >= _DISABLED_SINCE else None
        raise RequestRefused(
            error or Error.INVALID_REQUEST, "this node has delete.topic.enable=false"
        )
    items = list(asked_for(request))
    ids = [topic_id or state.topic_id(name or "") for name, topic_id in items]
    deletion = _Deletion(
        state=state,
        permissions=permissions,
        may_delete_all=permissions.allows("DELETE", "CLUSTER", is_tried=False),
        given=Counter(items),
        found=Counter(topic_id for topic_id in ids if topic_id is not None),
    )
    responses: list[dict[str, Any]] = []
    records: list[WrittenRecord] = []
    for (name, given_id), topic_id in zip(items, ids, strict=True):
        # A refusal says no more than the request did: who may not know a topic learns here neither
        # which id a name has, nor which name an id has.
        shown, shown_id, error, reason = name, given_id, Error.NONE, None
        try:
            deletion.check(name, given_id, topic_id)
            assert topic_id is not None, "which was checked"
            shown, shown_id = state.topic_name(topic_id), topic_id
            charge(len(state.partitions_of(topic_id)))
            records.append(("RemoveTopicRecord", 0, {"topicId": topic_id}))
        except _Named as refused:
            shown, error, reason = refused.topic, refused.error, refused.text
        except RequestRefused as refused:
            error, reason = refused.error, refused.text
        responses.append(
            {
                "name": shown if shown is not None or version >= 6 else "",
                "topicId": shown_id or NO_ID,
                "errorCode": int(error),
                "errorMessage": reason,
            }
        )
    return Decision(answer={"responses": responses}, records=records)


def asked_for(request: dict[str, Any]) -> Iterator[tuple[str | None, str | None]]:
    """The name or the id of each topic; before version 6 there were names alone."""
    yield from ((name, None) for name in request.get("topicNames") or ())
    for topic in request.get("topics") or ():
        topic_id = topic["topicId"]
        yield topic["name"], None if topic_id == NO_ID else topic_id


class _Named(RequestRefused):
    """A refusal of a topic whose name the client may know, or may not."""

    def __init__(self, error: Error, topic: str | None, message: str | None = None) -> None:
        super().__init__(error, message)
        self.topic = topic


@dataclass(frozen=True, slots=True, kw_only=True)
class _Deletion:
    """The view of a request that decides on each of its items."""

    state: ControllerState
    permissions: Permissions
    may_delete_all: bool
    given: Counter[tuple[str | None, str | None]]
    """How often each name or id is in the request."""
    found: Counter[str]
    """How often each topic is, by a name or an id."""

    def check(self, name: str | None, given_id: str | None, topic_id: str | None) -> None:
        """Raise RequestRefused for an item that deletes nothing. `topic_id`: of the topic that the
        item means; None for a name that no topic has."""
        if name is None and given_id is None:
            raise RequestRefused(Error.INVALID_REQUEST, "Neither topic name nor id were specified.")
        if name is not None and given_id is not None:
            raise RequestRefused(
                Error.INVALID_REQUEST, "You may not specify both topic name and topic id."
            )
        if self.given[name, given_id] > 1:
            kind = "name" if given_id is None else "id"
            raise RequestRefused(Error.INVALID_REQUEST, f"Duplicate topic {kind}.")
        named = name if topic_id is None else self.state.topic_name(topic_id)
        if named is None:
            raise RequestRefused(Error.UNKNOWN_TOPIC_ID, "This server does not host this topic ID.")
        if not self.may_delete_all:
            self._check_permission(named, is_known=name is not None, is_there=topic_id is not None)
        if topic_id is None:
            raise RequestRefused(
                Error.UNKNOWN_TOPIC_OR_PARTITION,
                "This server does not host this topic-partition.",
            )
        if self.found[topic_id] > 1:
            raise _Named(Error.INVALID_REQUEST, named, _MAPPED)

    def _check_permission(self, name: str, *, is_known: bool, is_there: bool) -> None:
        """`is_known`: the client gave the name. `is_there`: a topic has it."""
        may_describe = self.permissions.allows("DESCRIBE", "TOPIC", name)
        may_delete = is_there and self.permissions.allows("DELETE", "TOPIC", name)
        if (is_known and not may_describe) or (is_there and not may_delete):
            shown = name if is_known or may_describe else None
            raise _Named(Error.TOPIC_AUTHORIZATION_FAILED, shown)
