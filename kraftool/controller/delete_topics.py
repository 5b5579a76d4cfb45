"""DeleteTopics: topics that go, by name or by id.

Owns what makes an item of the request one that cannot be meant, as in Kafka's request layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from kraftool.controller.decision import Decision
from kraftool.controller.refused import RequestRefused
from kraftool.controller.state import ControllerState
from kraftool.decoders.error_codes import Error
from kraftool.image.replay import WrittenRecord
from kraftool.image.uuids import NO_ID

_DISABLED_SINCE = 3
"""The first version whose clients know TOPIC_DELETION_DISABLED."""


def delete_topics(
    state: ControllerState,
    request: dict[str, Any],
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
    times = Counter(topic_id for topic_id in ids if topic_id is not None)
    responses: list[dict[str, Any]] = []
    records: list[WrittenRecord] = []
    for (name, given_id), topic_id in zip(items, ids, strict=True):
        error, reason = _problem(state, name, given_id, topic_id, times)
        if error is Error.NONE:
            assert topic_id is not None, "there is such a topic"
            try:
                charge(len(state.partitions_of(topic_id)))
            except RequestRefused as refused:
                error, reason = refused.error, refused.text
        shown = name if topic_id is None else state.topic_name(topic_id)
        responses.append(
            {
                "name": shown if shown is not None or version >= 6 else "",
                "topicId": topic_id or NO_ID,
                "errorCode": int(error),
                "errorMessage": reason,
            }
        )
        if error is Error.NONE:
            records.append(("RemoveTopicRecord", 0, {"topicId": topic_id}))
    return Decision(answer={"responses": responses}, records=records)


def asked_for(request: dict[str, Any]) -> Iterator[tuple[str | None, str | None]]:
    """The name or the id of each topic; before version 6 there were names alone."""
    yield from ((name, None) for name in request.get("topicNames") or ())
    for topic in request.get("topics") or ():
        topic_id = topic["topicId"]
        yield topic["name"], None if topic_id == NO_ID else topic_id


def _problem(
    state: ControllerState,
    name: str | None,
    given_id: str | None,
    topic_id: str | None,
    times: Counter[str],
) -> tuple[Error, str | None]:
    if name is None and given_id is None:
        return Error.INVALID_REQUEST, "Neither topic name nor id were specified."
    if name is not None and given_id is not None:
        return Error.INVALID_REQUEST, "You may not specify both topic name and topic id."
    if topic_id is None:
        return Error.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
    if times[topic_id] > 1:
        kind = "name" if given_id is None else "id"
        return Error.INVALID_REQUEST, f"Duplicate topic {kind}."
    if state.topic_name(topic_id) is None:
        return Error.UNKNOWN_TOPIC_ID, "This server does not host this topic ID."
    return Error.NONE, None
