"""CreateTopics: new topics, with partitions where the request or the placement puts them.

Owns the order of checks and of records, and the sentences of refusals, as Kafka's. A topic that
cannot be made does not keep the others of its request from being made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from kraftool.controller import new_partitions, topic_configs
from kraftool.controller.decision import Decision
from kraftool.controller.heartbeats import Heartbeats
from kraftool.controller.new_partitions import (
    MOST_RECORDS,
    NewPartition,
    too_many,
    usable_brokers,
)
from kraftool.controller.permissions import Permissions
from kraftool.controller.placement import RandomSource, UsableBroker, place
from kraftool.controller.refused import RequestRefused
from kraftool.controller.settings import ControllerSettings
from kraftool.controller.state import ControllerState, has_ambiguous_characters
from kraftool.decoders.error_codes import Error
from kraftool.decoders.names import METADATA_TOPIC
from kraftool.image.configs import TOPIC
from kraftool.image.replay import WrittenRecord

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_LONGEST_NAME = 249
_DEFAULT = -1


class CreateTopics:
    """One request, in one state."""

    def __init__(
        self,
        state: ControllerState,
        heartbeats: Heartbeats,
        settings: ControllerSettings,
        chance: RandomSource,
        new_id: Callable[[], str],
    ) -> None:
        self._state, self._heartbeats, self._settings = state, heartbeats, settings
        self._chance, self._new_id = chance, new_id

    @cached_property
    def _usable_brokers(self) -> list[UsableBroker]:
        """The same for all topics of the request."""
        return usable_brokers(self._state, self._heartbeats)

    def decision(
        self, request: dict[str, Any], permissions: Permissions, *, charge: Callable[[int], None]
    ) -> Decision:
        """`charge`: raises RequestRefused if the client may not create so many partitions now."""
        self._check_size(request)
        may_create_all = permissions.allows("CREATE", "CLUSTER", is_tried=False)
        answers: list[dict[str, Any]] = []
        records: list[WrittenRecord] = []
        names = Counter(topic["name"] for topic in request["topics"])
        for topic in {topic["name"]: topic for topic in request["topics"]}.values():
            name = topic["name"]
            try:
                if names[name] > 1:
                    raise RequestRefused(Error.INVALID_REQUEST, "Duplicate topic name.")
                if name == METADATA_TOPIC:
                    raise RequestRefused(
                        Error.INVALID_REQUEST, f"Creation of internal topic {name} is prohibited."
                    )
                if not may_create_all and not permissions.allows("CREATE", "TOPIC", name):
                    raise RequestRefused(Error.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
                self._check_name(name)
                shows_configs = permissions.allows(
                    "DESCRIBE_CONFIGS", "TOPIC", name, is_tried=False
                )
                answer, of_topic = self._topic(topic, shows_configs=shows_configs, charge=charge)
            except RequestRefused as refused:
                answers.append(_refused(name, refused))
                continue
            if len(records) + len(of_topic) > MOST_RECORDS:
                raise too_many()
            records += of_topic
            answers.append(answer)
        if request["validateOnly"]:
            records = []
        return Decision(answer={"topics": answers}, records=records)

    def _check_size(self, request: dict[str, Any]) -> None:
        """Refuse at once what could not be written in one batch."""
        partitions = 0
        for topic in request["topics"]:
            count = topic["numPartitions"]
            if topic["assignments"]:
                partitions += len(topic["assignments"])
            elif count == _DEFAULT:
                partitions += self._settings.default_partitions
            elif count > 0:
                partitions += count
        if partitions > MOST_RECORDS:
            raise too_many()

    def _check_name(self, name: str) -> None:
        if self._state.topic_id(name) is not None:
            raise RequestRefused(Error.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        check_topic_name(name)
        similar = self._state.similar_name(name) if has_ambiguous_characters(name) else None
        if similar is not None:
            raise RequestRefused(
                Error.INVALID_TOPIC_EXCEPTION,
                f"Topic '{name}' collides with existing topic: {similar}",
            )

    def _topic(
        self, topic: dict[str, Any], *, shows_configs: bool, charge: Callable[[int], None]
    ) -> tuple[dict[str, Any], list[WrittenRecord]]:
        configs = self._configs(topic)
        partitions = list(self._assigned(topic) if topic["assignments"] else self._placed(topic))
        charge(len(partitions))
        name, topic_id = topic["name"], self._new_id()
        answer: dict[str, Any] = {
            "name": name,
            "topicId": topic_id,
            "errorCode": int(Error.NONE),
            "errorMessage": None,
        }
        if shows_configs:
            answer |= {
                "topicConfigErrorCode": int(Error.NONE),
                "numPartitions": len(partitions),
                "replicationFactor": len(partitions[0].replicas),
                "configs": [
                    {
                        "name": key,
                        "value": config.value,
                        "readOnly": False,
                        "configSource": int(config.source),
                        "isSensitive": False,
                    }
                    for key, config in topic_configs.effective(self._state, configs).items()
                ],
            }
        else:
            answer["topicConfigErrorCode"] = int(Error.TOPIC_AUTHORIZATION_FAILED)
        records: list[WrittenRecord] = [("TopicRecord", 0, {"name": name, "topicId": topic_id})]
        records += self._config_records(name, configs)
        records += new_partitions.records_of(self._state, topic_id, partitions)
        return answer, records

    def _configs(self, topic: dict[str, Any]) -> dict[str, str]:
        configs = {config["name"]: config["value"] for config in topic["configs"]}
        absent = [name for name, value in configs.items() if value is None]
        if absent:
            raise RequestRefused(
                Error.INVALID_CONFIG,
                f"Null value not supported for topic configs: {','.join(absent)}",
            )
        if configs:
            topic_configs.check(self._state, configs)
        return configs

    def _config_records(self, topic: str, configs: dict[str, str]) -> Iterator[WrittenRecord]:
        for name, value in configs.items():
            record = {"resourceType": TOPIC, "resourceName": topic, "name": name, "value": value}
            yield "ConfigRecord", 0, record
        if self._state.is_elr_enabled and "min.insync.replicas" in configs:
            yield "ClearElrRecord", 0, {"topicName": topic}

    # Where the partitions go

    def _assigned(self, topic: dict[str, Any]) -> Iterable[NewPartition]:
        """As the request says."""
        for name, what in (
            ("replicationFactor", "replication factor"),
            ("numPartitions", "numPartitions"),
        ):
            if topic[name] != _DEFAULT:
                raise RequestRefused(
                    Error.INVALID_REQUEST,
                    f"A manual partition assignment was specified, but {what} was not set to -1.",
                )
        assignments = topic["assignments"]
        made: dict[int, NewPartition] = {}
        factor = None
        for assignment in assignments:
            number, brokers = assignment["partitionIndex"], assignment["brokerIds"]
            if number in made:
                raise RequestRefused(
                    Error.INVALID_REPLICA_ASSIGNMENT,
                    f"Found multiple manual partition assignments for partition {number}",
                )
            made[number] = new_partitions.assigned(self._state, number, brokers, factor=factor)
            factor = len(brokers)
        if set(made) != set(range(len(made))):
            raise RequestRefused(
                Error.INVALID_REPLICA_ASSIGNMENT,
                "partitions should be a consecutive 0-based integer sequence",
            )
        return [made[number] for number in range(len(made))]

    def _placed(self, topic: dict[str, Any]) -> Iterable[NewPartition]:
        """Return where the placement puts them."""
        factor, count = topic["replicationFactor"], topic["numPartitions"]
        if factor < _DEFAULT or factor == 0:
            raise RequestRefused(
                Error.INVALID_REPLICATION_FACTOR,
                "Replication factor must be larger than 0, or -1 to use the default value.",
            )
        if count < _DEFAULT or count == 0:
            raise RequestRefused(
                Error.INVALID_PARTITIONS,
                "Number of partitions was set to an invalid non-positive value.",
            )
        if factor == _DEFAULT:
            factor = self._settings.default_replication_factor
        if count == _DEFAULT:
            count = self._settings.default_partitions
        try:
            replicas = place(
                self._usable_brokers,
                partitions=count,
                replicas=factor,
                chance=self._chance,
            )
        except RequestRefused as refused:
            text = f"Unable to replicate the partition {factor} time(s): {refused.text}"
            raise RequestRefused(refused.error, text) from None
        return new_partitions.placed(self._state, 0, replicas)


def check_topic_name(name: str) -> None:
    """Raise RequestRefused for what no topic may be called."""
    reason = None
    if not name:
        reason = "the empty string is not allowed"
    elif name in (".", ".."):
        reason = f"'{name}' is not allowed"
    elif len(name) > _LONGEST_NAME:
        reason = f"the length of '{name}' is longer than the max allowed length {_LONGEST_NAME}"
    elif not _NAME.fullmatch(name):
        reason = (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and"
            " '-'"
        )
    if reason is not None:
        raise RequestRefused(Error.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")


def _refused(name: str, refused: RequestRefused) -> dict[str, Any]:
    return {
        "name": name,
        "errorCode": int(refused.error),
        "errorMessage": refused.text,
    }
