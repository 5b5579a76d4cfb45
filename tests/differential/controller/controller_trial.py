"""One random trial: both controllers take the same steps, and are compared after each.

Owns the comparison: records by type, version and fields, their batches and offsets, and the answers
by all that a program reads of them. Most sentences differ, and so does the order in which Kafka's
hash maps give partitions and configs.
"""

from __future__ import annotations

import itertools
import json
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from random import Random
from typing import Any

from kraftool.controller.answers import refused_answer
from kraftool.controller.elections import MOST_ELECTIONS
from kraftool.controller.partition_index import PartitionKey
from kraftool.controller.refused import RequestRefused
from kraftool.decoders import codec
from kraftool.decoders.error_codes import Error, error_name
from kraftool.decoders.framing import decode_record
from tests.differential.controller.kafka_controller import KafkaController
from tests.differential.controller.our_controller import Did, OurController, request_body
from tests.differential.controller.random_controller import RandomSteps, random_start
from tests.differential.controller.random_requests import uuid

STEPS = 250
_LEVEL = "FeatureLevelRecord"
_UNORDERED = {
    "PartitionChangeRecord": ("topicId", "partitionId"),
    "ConfigRecord": ("resourceType", "resourceName", "name"),
    "ClearElrRecord": ("topicName",),
    _LEVEL: ("name",),
    "ClientQuotaRecord": ("entity", "key"),
    "RemoveDelegationTokenRecord": ("tokenId",),
    "RemoveAccessControlEntryRecord": ("id",),
    "UserScramCredentialRecord": ("name", "mechanism"),
    "RemoveUserScramCredentialRecord": ("name", "mechanism"),
}
"""Records that Kafka writes in the order of a hash map, with what tells them apart."""

_OTHER_IDS = itertools.count(1 << 40)
"""For ids that Kafka did not give."""

Step = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class TrialResult:
    """What a trial came to."""

    steps: list[Step] = field(default_factory=list)
    difference: str = ""
    seen: Counter[str] = field(default_factory=Counter)
    """Requests with their answers, and types of records."""


def run_seed(kafka: KafkaController, release: str, seed: int, steps: int = STEPS) -> TrialResult:
    random = Random(seed)
    start = random_start(random, release)
    result = TrialResult(steps=[start])
    kafka.ask(**start)
    ours = OurController(start)
    source = RandomSteps(random, ours)
    asked: dict[int, Step] = {}
    for _ in range(steps):
        step = source.next()
        result.steps.append(step)
        if step["command"] == "request":
            asked[step["number"]] = step
        theirs = kafka.ask(**step)
        _tell_chance(ours, theirs)
        strays = _with_strays(ours, step)
        did = ours.step(step)
        if step["command"] == "follow":
            theirs["hasResigned"] = False  # as it should
        result.difference = _difference(theirs, did, asked)
        if result.difference:
            reason = _explained(step, theirs, did, result.seen)
            if not reason and _cannot_move(strays, theirs, did):
                reason = (
                    "Kafka cannot move a partition whose ISR or last leader has no replica any more"
                )
            if not reason and ours.has_guessed and _fenced_at_another_time(step, theirs, did):
                reason = "the order of Kafka's hash map decides which session is forgotten first"
            if reason:
                result.difference = ""
                result.seen[f"explained: {reason}"] += 1
            return result
        result.difference = _other_sentence(theirs, did, asked)
        if result.difference:
            return result
        _append(source, did)
        _note(result, step, did, asked)
    if ours.active is not None:
        partitions = sum(len(topic.partitions) for topic in ours.active.state.topics())
        most = next(most for most in (0, 100, 1_000, 10**6) if partitions <= most)
        result.seen[f"trials that end with at most {most} partitions"] += 1
    return result


def _explained(step: Step, theirs: dict[str, Any], did: Did, seen: Counter[str]) -> str:
    """Why a difference is one that is known; empty if it is not. The trial ends with it."""
    if _has_half_grown(step, theirs, did):
        return "Kafka writes partitions of a topic of which it says that it cannot grow"
    faults: list[str] = theirs.get("faults", [])
    if len(faults) == 1 and _ELECTS_A_STRAY.search(faults[0]):
        return "Kafka fails over at the election of a last leader that has no replica any more"
    if any(_FORGETS_NO_DIRECTORY in fault for fault in faults):
        return "Kafka fails over where a directory fails that had a topic which is deleted"
    if seen["ClearElrRecord"] and _forgot_no_elr(step, theirs, did):
        return "Kafka elects leaders where a broker was in an ELR that has been cleared since"
    if step["command"] == "advance" and _elected_other_thousand(theirs, did):
        return "the order of Kafka's hash map decides which thousand leaders are elected first"
    if step["command"] == "lead" and _aborted_bootstrap(theirs, did):
        return "Kafka has no metadata.version after it aborts the bootstrap records' transaction"
    return ""


_SAME_WORDS = ("CreateAcls", "DeleteAcls", "AlterUserScramCredentials")
"""Requests whose refusals have Kafka's sentences."""
_FORGETS_NO_DIRECTORY = "existed in isrMembers, but not in the topics map"


_ELECTS_A_STRAY = re.compile(
    r"IllegalArgumentException.*: Replica \d+ is not assigned to this partition\."
)
"""Kafka asks for the directory of a broker before it elects it. That broker was in the ELR, or led
last, and a reassignment has removed its replica since. kraftool elects another one, or nobody."""


def _with_strays(ours: OurController, step: Step) -> set[PartitionKey]:
    """Return the partitions that a request moves and that have a broker in their ISR that is not
    among their replicas; or none in it, and such a one in their ELR or as their last leader."""
    if step.get("api") != "AlterPartitionReassignments" or ours.active is None:
        return set()
    state = ours.active.state
    keys = (
        PartitionKey(topic_id, item["partitionIndex"])
        for topic in request_body(step)["topics"]
        for item in topic["partitions"]
        if (topic_id := state.topic_id(topic["name"])) is not None
    )
    return {
        key
        for key in keys
        if (partition := state.partition(key)) is not None
        and not {*(partition.isr or (*partition.elr, *partition.last_known_elr))}
        <= {*partition.replicas}
    }


def _cannot_move(strays: set[PartitionKey], theirs: dict[str, Any], did: Did) -> bool:
    """True if Kafka moves none of such partitions, and nothing else differs. It answers
    UNKNOWN_SERVER_ERROR, once all that it has written before is committed."""
    written = Counter(record for batch in theirs.get("batches", ()) for record in batch["records"])
    ours = Counter(b64encode(record).decode() for _, records in did.batches for record in records)
    more = [_decoded(record) for record in ours - written]
    return (
        bool(more)
        and not written - ours
        and not theirs.get("faults")
        and all(
            name == "PartitionChangeRecord"
            and PartitionKey(value["topicId"], value["partitionId"]) in strays
            for name, _, value in more
        )
    )


def _forgot_no_elr(step: Step, theirs: dict[str, Any], did: Did) -> bool:
    """Whether Kafka changed more partitions than those with the broker in their ISR or ELR: its
    index of ELRs is not changed by a ClearElrRecord."""
    if step.get("api") not in ("BrokerRegistration", "UnregisterBroker"):
        return False
    more = _written_more(theirs, did)
    return bool(more) and all(name == "PartitionChangeRecord" for name, _, _ in more)


def _elected_other_thousand(theirs: dict[str, Any], did: Did) -> bool:
    """True if a periodic task reached its limit on both sides, and only its partitions differ."""
    theirs_sizes = [len(batch["records"]) for batch in theirs.get("batches", ())]
    ours_sizes = [len(records) for _, records in did.batches]
    more = _written_more(theirs, did)
    return (
        theirs_sizes == ours_sizes
        and MOST_ELECTIONS in ours_sizes
        and all(name == "PartitionChangeRecord" for name, _, _ in more)
    )


def _fenced_at_another_time(step: Step, theirs: dict[str, Any], did: Did) -> bool:
    """True if the tasks that are due did the same in another order, or only one side fenced a
    broker."""
    if step["command"] != "advance":
        return False
    written = Counter(record for batch in theirs.get("batches", ()) for record in batch["records"])
    ours = Counter(b64encode(record).decode() for _, records in did.batches for record in records)
    names = {_decoded(record)[0] for record in {*(written - ours), *(ours - written)}}
    return names <= {"BrokerRegistrationChangeRecord", "PartitionChangeRecord"}


def _aborted_bootstrap(theirs: dict[str, Any], did: Did) -> bool:
    """Whether Kafka aborts the transaction with all that there is, and kraftool begins again."""
    ours = [decode_record(record)[0] for _, records in did.batches for record in records]
    written = [record for batch in theirs.get("batches", ()) for record in batch["records"]]
    theirs_names = [_decoded(record)[0] for record in written]
    abort = "AbortTransactionRecord"
    return theirs_names == [abort] and ours[:2] == [abort, "BeginTransactionRecord"]


def _written_more(theirs: dict[str, Any], did: Did) -> list[Any]:
    """The records that Kafka wrote and kraftool did not, or not as often."""
    written = Counter(record for batch in theirs.get("batches", ()) for record in batch["records"])
    ours = Counter(b64encode(record).decode() for _, records in did.batches for record in records)
    return [_decoded(record) for record in (written - ours).elements()]


def _has_half_grown(step: Step, theirs: dict[str, Any], did: Did) -> bool:
    """Whether Kafka wrote partitions of a topic that it says cannot grow: those that it placed
    before the one that has no broker which could lead it. kraftool writes none of them."""
    if step.get("api") != "CreatePartitions":
        return False
    more = _written_more(theirs, did)
    ours = [decode_record(record) for _, records in did.batches for record in records]
    grown = {value["topicId"] for _, _, value in ours}
    return bool(more) and all(
        name == "PartitionRecord" and value["topicId"] not in grown for name, _, value in more
    )


def _decoded(record: str) -> Any:
    return decode_record(b64decode(record))


def _append(source: RandomSteps, did: Did) -> None:
    for base_offset, records in did.batches:
        encoded = [b64encode(record).decode() for record in records]
        batch = {"baseOffset": base_offset, "epoch": source.epoch, "records": encoded}
        source.uncommitted.append(batch)
        source.end_offset = base_offset + len(records)


def _note(result: TrialResult, step: Step, did: Did, asked: dict[int, Step]) -> None:
    result.seen[step["command"]] += 1
    for _, records in did.batches:
        result.seen.update(decode_record(record)[0] for record in records)
    for number, body in did.answers.items():
        for code in _codes(body):
            result.seen[f"{asked[number]['api']}: {error_name(code)}"] += 1


def _codes(body: Any) -> list[int]:
    """The error codes in an answer, at any depth."""
    if isinstance(body, list):
        return [code for item in body for code in _codes(item)]
    if not isinstance(body, dict):
        return []
    own = [body["errorCode"]] if "errorCode" in body else []
    return own + [code for item in body.values() for code in _codes(item)]


def _tell_chance(ours: OurController, theirs: dict[str, Any]) -> None:
    """Let chance and the order of hash maps be what they were for Kafka.

    That is: the ids of new tokens, topics and ACLs (a dry run gives others away, which nobody
    sees), and which of several brokers that are silent is fenced first.
    """
    records = [
        decode_record(b64decode(record))
        for batch in theirs.get("batches", ())
        for record in batch["records"]
    ]
    written = [value["topicId"] for name, _, value in records if name == "TopicRecord"]
    written += [value["tokenId"] for name, _, value in records if name == "DelegationTokenRecord"]
    written += [value["id"] for name, _, value in records if name == "AccessControlEntryRecord"]
    ours.topic_ids = [*written, *map(uuid, itertools.islice(_OTHER_IDS, 9))]
    fenced = (
        value["brokerId"]
        for name, _, value in records
        if name == "BrokerRegistrationChangeRecord" and value["fenced"] == 1
    )
    ours.fenced = next(fenced, None)


def _difference(theirs: dict[str, Any], did: Did, asked: dict[int, Step]) -> str:
    """What the two did differently; empty if nothing."""
    if "fatal" in theirs or theirs["faults"] or theirs["hasResigned"]:
        fields = {key: theirs.get(key) for key in ("fatal", "trace", "faults", "hasResigned")}
        return f"Kafka's controller failed: {json.dumps(fields, indent=1)}"
    batches = [
        (batch["baseOffset"], [b64decode(record) for record in batch["records"]])
        for batch in theirs["batches"]
        if batch["records"]  # it writes an empty batch after one that is just full
    ]
    their_records, our_records = _comparable(batches), _comparable(did.batches)
    if their_records != our_records:
        shown = _side_by_side(their_records, our_records)
        return f"records:\n{shown}\nsaid: {theirs['answers']}"
    answers = {
        answer["number"]: _their_answer(answer, asked[answer["number"]])
        for answer in theirs["answers"]
    }
    # Where Kafka refuses a request as a whole, its words are not those of its request layer.
    worded = {
        answer["number"]
        for answer in theirs["answers"]
        if asked[answer["number"]]["api"] in _SAME_WORDS and "error" not in answer
    }
    theirs_shown = {number: _shown(number, body, worded) for number, body in answers.items()}
    ours_shown = {number: _shown(number, body, worded) for number, body in did.answers.items()}
    if theirs_shown != ours_shown:
        return f"answers:\n{_side_by_side(theirs_shown, ours_shown)}\nsaid: {theirs['answers']}"
    return ""


def _comparable(batches: list[tuple[int, list[bytes]]]) -> list[Any]:
    """The batches, then the records; of those without an order, sorted, over several batches."""
    entries: list[Any] = [("batch", base_offset, len(encoded)) for base_offset, encoded in batches]
    records = (_equal_to_itself(record) for _, encoded in batches for record in encoded)
    for name, group in groupby(records, key=_kind):
        keys = _UNORDERED.get(name, ())
        entries += sorted(group, key=lambda record: [_key(record[2].get(key, "")) for key in keys])
    return entries


def _equal_to_itself(encoded: bytes) -> Any:
    """A record; the value of a quota, which may be NaN, as text."""
    name, version, value = decode_record(encoded)
    if name == "ClientQuotaRecord":
        value["value"] = str(value["value"])
    return name, version, value


def _key(value: Any) -> Any:
    """What a record is sorted by; an entity of quotas is a list of its parts."""
    return str(value) if isinstance(value, list) else value


def _kind(record: Any) -> str:
    """Its type. A NoOpRecord stands for a level of kraft.version among those of other features."""
    name: str = record[0]
    return _LEVEL if name == "NoOpRecord" else name


def _their_answer(answer: dict[str, Any], step: Step) -> dict[str, Any]:
    name, version = f"{step['api']}Response", step["version"]
    if "body" in answer:
        body = codec.decode(name, version, b64decode(answer["body"]))[0]
        if step["api"] == "ListPartitionReassignments":
            # A Kafka that has just lost the leadership lists some topics twice.
            body["topics"] = list({topic["name"]: topic for topic in body["topics"]}.values())
    else:
        reason = RequestRefused(Error(answer["error"]), answer.get("message"))
        refused = refused_answer(step["api"], request_body(step), reason)
        body = codec.decode(name, version, codec.encode(name, version, refused))[0]
    if "throttleTimeMs" in body:
        # Kafka's request layer puts it in.
        body["throttleTimeMs"] = answer["throttleTimeMs"]
    return body


def _other_sentence(theirs: dict[str, Any], did: Did, asked: dict[int, Step]) -> str:
    """Name a sentence of a refusal that is not Kafka's; empty if there is none."""
    for answer in theirs["answers"]:
        number = answer["number"]
        api = asked[number]["api"]
        if api in _WORDED_ELSEWHERE or answer.get("error") == Error.NOT_CONTROLLER:
            continue
        if not _has_one_reason(asked[number]):
            continue
        kafkas = list(_sentences(_in_order(_their_answer(answer, asked[number]))))
        if "error" in answer:
            kafkas = [(code, answer["message"]) for code, _ in kafkas]
        for (code, their), (_, our) in zip(
            kafkas, _sentences(_in_order(did.answers[number])), strict=True
        ):
            if their != our:
                return f"sentence of {api}, {error_name(code)}:\n  Kafka: {their}\n  ours:  {our}"
    return ""


_WORDED_ELSEWHERE = (
    "DeleteTopics",
    *_SAME_WORDS,
)
"""Kafka's request layer words the first; the others are compared with the rest of the answer."""


def _has_one_reason(step: Step) -> bool:
    """False if a hash map decides which feature, which quota of an entity, or which config of a
    resource Kafka refuses."""
    if step["api"] == "UpdateFeatures":
        return len(request_body(step)["featureUpdates"]) == 1
    if step["api"] == "AlterClientQuotas":
        entries = request_body(step)["entries"]
        return all(len({change["key"] for change in entry["ops"]}) == 1 for entry in entries)
    if step["api"] in ("AlterConfigs", "IncrementalAlterConfigs"):
        return all(len(resource["configs"]) < 2 for resource in request_body(step)["resources"])
    if step["api"] == "CreateTopics":
        return all(len(topic["configs"]) < 2 for topic in request_body(step)["topics"])
    return True


def _sentences(body: Any) -> Iterator[tuple[int, str | None]]:
    """The sentences of an answer, each with its error, in the order of its items."""
    if isinstance(body, list):
        for item in sorted(body, key=_name):
            yield from _sentences(item)
    elif isinstance(body, dict):
        if "errorMessage" in body:
            yield body["errorCode"], body["errorMessage"]
        for item in body.values():
            yield from _sentences(item)


def _shown(number: int, body: Any, worded: set[int]) -> Any:
    """An answer as it is compared; with its sentences, if it is among `worded`."""
    return _in_order(body) if number in worded else _without_words(body)


def _in_order(body: Any) -> Any:
    if isinstance(body, list):
        return sorted((_in_order(item) for item in body), key=_name)
    if isinstance(body, dict):
        return {key: _in_order(value) for key, value in body.items()}
    return body


def _without_words(body: Any) -> Any:
    """An answer without sentences, and without the ids that topics of a dry run get."""
    if isinstance(body, list):
        return sorted((_without_words(item) for item in body), key=_name)
    if isinstance(body, dict):
        if "topicId" in body and "name" in body and "topicConfigErrorCode" not in body:
            # A deleted topic: the controller knows its id only.
            return {"id": body["topicId"], "errorCode": body["errorCode"]}
        return {
            key: _without_words(value)
            for key, value in body.items()
            if key != "errorMessage" and not (key == "topicId" and "name" in body)
        }
    return body


def _name(item: Any) -> str:
    """What an item of an answer is of; others stay in their order."""
    if not isinstance(item, dict):
        return ""
    return "/".join(str(item[key]) for key in _NAMES if key in item)


_NAMES = (
    *("name", "topic", "partitionId", "partitionIndex", "id", "resourceType", "resourceName"),
    *("patternType", "principal", "host", "operation", "permissionType", "user"),
    *("entityType", "entity"),
)


def _side_by_side(theirs: Any, ours: Any) -> str:
    if isinstance(theirs, list):
        lines = [
            f"  Kafka: {their}\n  ours:  {our}"
            for their, our in itertools.zip_longest(theirs, ours)
            if their != our
        ]
        return "\n".join(lines[:3])
    numbers = sorted(theirs.keys() | ours.keys())
    return "\n".join(
        f"  Kafka: {number} {theirs.get(number)}\n  ours:  {number} {ours.get(number)}"
        for number in numbers
        if theirs.get(number) != ours.get(number)
    )


def report(seed: int, result: TrialResult, shown: int = 3) -> str:
    """A failed trial: its last steps, and what differs."""
    lines = [f"seed {seed}, step {len(result.steps) - 1}: {result.difference}"]
    for step in result.steps[-shown:]:
        plain = dict(step)
        if step["command"] == "request":
            plain["body"] = request_body(step)
        if step["command"] == "commit":
            plain["batches"] = len(step["batches"])
        lines.append(f"  {plain}")
    return "\n".join(lines)
