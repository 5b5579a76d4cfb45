"""Write decoders/schema/config_names.py: which configs of Kafka may be shown.

    python tools/config_names.py            regenerate
    python tools/config_names.py --check    say whether the committed file is what this writes

The names and types come from the ConfigDefs of released Kafkas (`ConfigNames.java`; needs Java,
and Maven where a release is not in the cache yet). The judgement is made here: a value that is a
number, a boolean, a class name or one of a fixed set of words is harmless; free text is harmless
only when its name stands in REVIEWED. A new free-text config therefore stays masked until
somebody has thought about it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
INTEROP = ROOT / "tests" / "interop"
TARGET = ROOT / "decoders" / "schema" / "config_names.py"

# Kafka's ConfigResource.Type ids.
RESOURCE_TYPES = {"topic": 2, "broker": 4, "client-metrics": 16, "group": 32}
HARMLESS_TYPES = frozenset({"BOOLEAN", "SHORT", "INT", "LONG", "DOUBLE", "CLASS"})

# Free text that cannot hold a credential: names, paths, algorithms, and addresses in a syntax
# that has no place for one (Kafka parses listeners as NAME://HOST:PORT, voters as ID@HOST:PORT).
# Left out on purpose: URLs, whose user part or query may be a secret (sasl.oauthbearer.*.url,
# expected.issuer), half of a credential (client.credentials.client.id), claims and scopes that
# are sent to get a token, and command lines (sasl.kerberos.kinit.cmd).
REVIEWED = frozenset(
    {
        "advertised.listeners",
        "authorizer.class.name",
        "broker.rack",
        "cleanup.policy",
        "config.providers",
        "control.plane.listener.name",
        "controller.listener.names",
        "controller.quorum.bootstrap.servers",
        "controller.quorum.voters",
        "cordoned.log.dirs",
        "early.start.listeners",
        "errors.deadletterqueue.topic.name",
        "errors.deadletterqueue.topic.name.prefix",
        "follower.replication.throttled.replicas",
        "group.consumer.assignors",
        "group.coordinator.rebalance.protocols",
        "group.share.assignors",
        "group.share.dlq.manager.class.name",
        "group.share.persister.class.name",
        "group.streams.assignors",
        "group.streams.rack.aware.assignment.tags",
        "inter.broker.listener.name",
        "inter.broker.protocol.version",
        "kafka.metrics.reporters",
        "leader.replication.throttled.replicas",
        "listener.security.protocol.map",
        "listeners",
        "log.cleanup.policy",
        "log.dir",
        "log.dirs",
        "log.message.format.version",
        "match",
        "max.connections.per.ip.overrides",
        "message.format.version",
        "metadata.log.dir",
        "metric.reporters",
        "metrics",
        "metrics.recording.level",
        "password.encoder.cipher.algorithm",
        "password.encoder.keyfactory.algorithm",
        "process.roles",
        "remote.log.metadata.manager.class.name",
        "remote.log.metadata.manager.class.path",
        "remote.log.metadata.manager.impl.prefix",
        "remote.log.metadata.manager.listener.name",
        "remote.log.storage.manager.class.name",
        "remote.log.storage.manager.class.path",
        "remote.log.storage.manager.impl.prefix",
        "replica.selector.class",
        "sasl.enabled.mechanisms",
        "sasl.kerberos.principal.to.local.rules",
        "sasl.kerberos.service.name",
        "sasl.mechanism.controller.protocol",
        "sasl.mechanism.inter.broker.protocol",
        "sasl.oauthbearer.assertion.file",
        "sasl.oauthbearer.assertion.private.key.file",
        "sasl.oauthbearer.assertion.template.file",
        "sasl.oauthbearer.scope.claim.name",
        "sasl.oauthbearer.sub.claim.name",
        "security.providers",
        "share.auto.offset.reset",
        "ssl.cipher.suites",
        "ssl.enabled.protocols",
        "ssl.endpoint.identification.algorithm",
        "ssl.keymanager.algorithm",
        "ssl.keystore.location",
        "ssl.keystore.type",
        "ssl.principal.mapping.rules",
        "ssl.protocol",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
        "ssl.truststore.location",
        "ssl.truststore.type",
        "streams.assignor.name",
        "streams.rack.aware.assignment.tags",
        "zookeeper.clientCnxnSocket",
        "zookeeper.connect",
        "zookeeper.ssl.cipher.suites",
        "zookeeper.ssl.enabled.protocols",
        "zookeeper.ssl.endpoint.identification.algorithm",
        "zookeeper.ssl.keystore.location",
        "zookeeper.ssl.keystore.type",
        "zookeeper.ssl.protocol",
        "zookeeper.ssl.truststore.location",
        "zookeeper.ssl.truststore.type",
    }
)

HEADER = '''\
"""Config names of Kafka, shown or masked, by the id of the resource type that carries them.

Written by tools/config_names.py, which also says why, from Kafka
{versions}.

HARMLESS names may be shown. MASKED ones are known to Kafka but may hold a secret; it is here so
that a new one is seen in review. What is in neither is masked too.
"""

'''


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigName:
    """One config of one release, as its ConfigDef has it."""

    scope: str
    name: str
    type: str
    fixed: bool


def is_harmless(config: ConfigName) -> bool:
    if config.type == "PASSWORD":
        return False
    return config.type in HARMLESS_TYPES or config.fixed or config.name in REVIEWED


def runner() -> ModuleType:
    """The module that runs released Kafkas; it lives with the tests that need it most."""
    sys.path.insert(0, str(ROOT))
    return importlib.import_module("tests.interop.kafka")


def read(kafka: ModuleType) -> list[ConfigName]:
    """Ask every release that fixtures come from."""
    names = []
    for version in kafka.VERSIONS:
        source = INTEROP / "java" / "ConfigNames.java"
        done = kafka.run_source(version, source, check=True)
        names += [ConfigName(**json.loads(line)) for line in done.stdout.decode().splitlines()]
    return names


def render(configs: Iterable[ConfigName], versions: Iterable[str]) -> str:
    shown: dict[str, set[str]] = {scope: set() for scope in RESOURCE_TYPES}
    masked: dict[str, set[str]] = {scope: set() for scope in RESOURCE_TYPES}
    for config in configs:
        (shown if is_harmless(config) else masked)[config.scope].add(config.name)
    for scope, names in masked.items():
        shown[scope] -= names  # one release that calls it a password is enough
    parts = [HEADER.format(versions=", ".join(versions))]
    for title, sets in (("HARMLESS", shown), ("MASKED", masked)):
        parts.append(f"{title}: dict[int, frozenset[str]] = {{\n")
        for scope, number in RESOURCE_TYPES.items():
            if not sets[scope]:
                parts.append(f"    {number}: frozenset(),  # {scope}\n")
                continue
            parts.append(f"    {number}: frozenset(  # {scope}\n        {{\n")
            parts.extend(f'            "{name}",\n' for name in sorted(sets[scope]))
            parts.append("        }\n    ),\n")
        parts.append("}\n\n")
    return "".join(parts).rstrip("\n") + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Write decoders/schema/config_names.py.")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check: bool = parser.parse_args().check
    kafka = runner()
    if problem := kafka.available(*kafka.VERSIONS):
        print(f"config names: {problem}", file=sys.stderr)
        return 1
    configs = read(kafka)
    if unknown := REVIEWED - {config.name for config in configs}:
        print(f"config names: no release has {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    text = render(configs, kafka.VERSIONS)
    if not check:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        print(
            f"{TARGET.relative_to(ROOT)} is not fresh; run: python tools/config_names.py",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
