"""Readers of the values of a server.properties: numbers, lists, booleans, with their limits.

Owns what Kafka's ConfigDef makes of a text, and the table of the keys that the node goes by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kraftool.decoders.java_text import INT32_MAX, read_int32, read_int64

_DAY_MS = 24 * 3_600_000
_COMMA = re.compile(r"[ \t\n\x0b\f\r]*,[ \t\n\x0b\f\r]*")
_JAVA_BLANKS = "".join(map(chr, range(0x21)))


class Kind(StrEnum):
    """Kafka's types of configuration, as far as the node needs them."""

    INT = "an integer of 32 bits"
    LONG = "an integer of 64 bits"
    BOOLEAN = "true or false"
    LIST = "a list"
    SET = "a list that counts everything once"
    STRING = "a text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """One key. Without a default it has to be given."""

    kind: Kind
    default: str | None = ""
    lowest: int | None = None
    """The least a number may be."""
    may_be_empty: bool = True
    """True if a SET may hold nothing."""
    only: tuple[str, ...] = ()
    """All that a SET may hold; anything if empty."""


def _int(default: int, lowest: int | None = 0) -> ConfigKey:
    return ConfigKey(kind=Kind.INT, default=str(default), lowest=lowest)


def _long(default: int, lowest: int | None = None) -> ConfigKey:
    return ConfigKey(kind=Kind.LONG, default=str(default), lowest=lowest)


KEYS: Mapping[str, ConfigKey] = {
    "process.roles": ConfigKey(
        kind=Kind.SET, default=None, may_be_empty=False, only=("broker", "controller")
    ),
    "node.id": ConfigKey(kind=Kind.INT, default=None, lowest=0),
    "broker.id": _int(-1, None),
    "controller.listener.names": ConfigKey(kind=Kind.SET, default=None, may_be_empty=False),
    "listeners": ConfigKey(kind=Kind.SET, default="PLAINTEXT://:9092", may_be_empty=False),
    "advertised.listeners": ConfigKey(kind=Kind.SET, may_be_empty=False),
    "listener.security.protocol.map": ConfigKey(kind=Kind.STRING),
    "controller.quorum.voters": ConfigKey(kind=Kind.LIST),
    "controller.quorum.bootstrap.servers": ConfigKey(kind=Kind.LIST),
    "controller.quorum.election.timeout.ms": _int(1000),
    "controller.quorum.fetch.timeout.ms": _int(2000),
    "controller.quorum.election.backoff.max.ms": _int(1000),
    "controller.quorum.append.linger.ms": _int(25),
    "controller.quorum.request.timeout.ms": _int(2000),
    "controller.quorum.retry.backoff.ms": _int(20),
    "controller.quorum.auto.join.enable": ConfigKey(kind=Kind.BOOLEAN, default="false"),
    "controller.quorum.fetch.max.bytes": _int(1 << 20, 1),
    "controller.quorum.fetch.snapshot.max.bytes": _int(1 << 20, 1),
    "log.dir": ConfigKey(kind=Kind.SET, default="/tmp/kafka-logs", may_be_empty=False),
    "log.dirs": ConfigKey(kind=Kind.SET, may_be_empty=False),
    "metadata.log.dir": ConfigKey(kind=Kind.STRING),
    "metadata.log.segment.bytes": _int(1 << 30, 8 << 20),
    "internal.metadata.log.segment.bytes": _int(0, None),
    "metadata.log.segment.ms": _long(7 * _DAY_MS),
    "metadata.max.retention.bytes": _long(100 << 20),
    "metadata.max.retention.ms": _long(7 * _DAY_MS),
    "metadata.max.idle.interval.ms": _int(500),
    "metadata.log.max.record.bytes.between.snapshots": _long(20 << 20, 1),
    "metadata.log.max.snapshot.interval.ms": _long(3_600_000, 0),
    "broker.session.timeout.ms": _int(9_000),
    "broker.heartbeat.interval.ms": _int(2_000),
    "default.replication.factor": _int(1, 1),
    "num.partitions": _int(1, 1),
    "auto.leader.rebalance.enable": ConfigKey(kind=Kind.BOOLEAN, default="true"),
    "leader.imbalance.check.interval.seconds": _long(300, 1),
    "unclean.leader.election.interval.ms": _long(300_000, 1),
    "controller.quota.window.num": _int(11, 1),
    "controller.quota.window.size.seconds": _int(1, 1),
    "delegation.token.secret.key": ConfigKey(kind=Kind.STRING),
    "delegation.token.max.lifetime.ms": _long(7 * _DAY_MS, 1),
    "delegation.token.expiry.time.ms": _long(_DAY_MS, 1),
    "delegation.token.expiry.check.interval.ms": _long(3_600_000, 1),
    "socket.request.max.bytes": _int(100 << 20, 1),
    "socket.listen.backlog.size": _int(50, 1),
    "socket.send.buffer.bytes": _int(100 << 10, None),
    "socket.receive.buffer.bytes": _int(100 << 10, None),
    "queued.max.request.bytes": _long(-1),
    "max.connections": _int(INT32_MAX),
    "max.connections.per.ip": _int(INT32_MAX),
    "max.connections.per.ip.overrides": ConfigKey(kind=Kind.STRING),
    "max.connection.creation.rate": _int(INT32_MAX),
    "connections.max.idle.ms": _long(600_000),
    "connection.failed.authentication.delay.ms": _int(100),
    "kraftool.max.connections.authenticating": _int(200, 1),
    "kraftool.max.connections.authenticating.per.ip": _int(20, 1),
    "kraftool.max.connections.silent.per.ip": _int(200, 1),
    "kraftool.authentication.timeout.ms": _int(10_000, 1),
    "sasl.mechanism.controller.protocol": ConfigKey(kind=Kind.STRING, default="GSSAPI"),
    "authorizer.class.name": ConfigKey(kind=Kind.STRING),
    "super.users": ConfigKey(kind=Kind.STRING),
    "allow.everyone.if.no.acl.found": ConfigKey(kind=Kind.STRING),
    "inter.broker.listener.name": ConfigKey(kind=Kind.STRING),
    "security.inter.broker.protocol": ConfigKey(kind=Kind.STRING, default="PLAINTEXT"),
    "early.start.listeners": ConfigKey(kind=Kind.SET),
}
"""What the node goes by. `internal.` keys are for tests, as in Kafka; `kraftool.` keys are its own,
which Kafka ignores."""


class Values:
    """A configuration's values by kind. What cannot be read is a problem, its default the value."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = given
        self.problems: list[str] = []

    def has(self, key: str) -> bool:
        return key in self.given

    def number(self, key: str) -> int:
        known, text = KEYS[key], self._text(key)
        value = read_int32(text) if known.kind is Kind.INT else read_int64(text)
        if value is None:
            if text or key in self.given:
                self.problems.append(f"{key}: {text!r} is not {known.kind}")
            return int(known.default or 0)
        if known.lowest is not None and value < known.lowest:
            self.problems.append(f"{key}: {value} is less than {known.lowest}")
        return value

    def truth(self, key: str) -> bool:
        text = self._text(key).lower()
        if text not in ("true", "false"):
            self.problems.append(f"{key}: {text!r} is not {Kind.BOOLEAN}")
        return text == "true"

    def text(self, key: str) -> str:
        return self._text(key)

    def items(self, key: str) -> tuple[str, ...]:
        known, text = KEYS[key], self._text(key)
        # Java's split by commas keeps what is empty at the end, since Kafka asks it to.
        words = tuple(_COMMA.split(text)) if text else ()
        if known.kind is Kind.SET and (key in self.given or known.default):
            self._judge(key, known, words)
            return tuple(dict.fromkeys(words))
        return words

    def _judge(self, key: str, known: ConfigKey, words: tuple[str, ...]) -> None:
        if not words and not known.may_be_empty:
            self.problems.append(f"{key}: nothing is given")
        if any(not word for word in words):
            self.problems.append(f"{key}: there is nothing between two commas")
        for word in words:
            if known.only and word and word not in known.only:
                self.problems.append(f"{key}: {word!r} is not one of {', '.join(known.only)}")

    def _text(self, key: str) -> str:
        given = self.given.get(key)
        if given is not None:
            return given.strip(_JAVA_BLANKS)
        default = KEYS[key].default
        if default is None:
            problem = f"{key} is not given"
            if problem not in self.problems:
                self.problems.append(problem)
            return ""
        return default
