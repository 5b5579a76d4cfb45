"""The properties of one generated cluster: its ids, its voters, and how much happened in it.

Owns the choices, all of them made from the seed and the cluster's number. It writes nothing.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from fleets.template import Template, templates

HOUR_MS = 3_600_000
_BEGAN_MS = 1_760_000_000_000
_LISTENER = "CONTROLLER"
_FIRST_IDS = (1000, 3000, 5001, 9000)
"""No fixture has brokers of these ids."""


def uuid(random: Random) -> str:
    """A uuid in Kafka's text, which never begins with a dash."""
    while (made := urlsafe_b64encode(random.randbytes(16)).decode().rstrip("=")).startswith("-"):
        pass
    return made


@dataclass(frozen=True, slots=True)
class Voter:
    """A controller of the quorum."""

    id: int
    directory_id: str
    host: str
    port: int

    def endpoint(self) -> dict[str, Any]:
        return {"name": _LISTENER, "host": self.host, "port": self.port}


def voters_record(voters: tuple[Voter, ...]) -> dict[str, Any]:
    """The VotersRecord of a set of voters."""
    return {
        "version": 0,
        "voters": [
            {
                "voterId": voter.id,
                "voterDirectoryId": voter.directory_id,
                "endpoints": [voter.endpoint()],
                "kRaftVersionFeature": {"minSupportedVersion": 0, "maxSupportedVersion": 1},
            }
            for voter in voters
        ],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSpec:
    """All that decides a cluster's directories."""

    name: str
    seed: str
    template: Template
    is_dynamic: bool
    cluster_id: str
    voters: tuple[Voter, ...]
    began_ms: int
    span_ms: int
    """From the end of the real history to the last record."""
    activity: int
    """So many generated batches follow the real history."""
    bulk_bytes: int = 0
    """With partition changes after those, the log gets so long; 0: there are none."""
    elections: int = 1
    segment_bytes: int = 1 << 30
    snapshot_every_ms: int = HOUR_MS
    moves_voter: bool = False
    """True if one of the dynamic voters gets another endpoint midway."""

    def random(self, what: str) -> Random:
        """A source of choices that depends on nothing but the cluster and what it is for."""
        return Random(f"{self.seed}/{self.name}/{what}")

    def folder(self, voter: Voter) -> str:
        return f"{self.name}/controller-{voter.id}"

    @property
    def may_be_behind(self) -> tuple[Voter, ...]:
        """A minority of the voters, without the first."""
        count = (len(self.voters) - 1) // 2
        chosen = self.random("behind").sample(self.voters[1:], count) if count else []
        return tuple(voter for voter in self.voters if voter in chosen)

    @property
    def has_directory_ids(self) -> bool:
        """True if the release writes directory.id to meta.properties."""
        major, minor = self.template.release.split(".")[:2]
        return (int(major), int(minor)) >= (3, 7)


def cluster_spec(seed: int, number: int, nodes: int, **fixed: Any) -> ClusterSpec:
    """The cluster of that number in the fleet of that seed; `fixed` overrules single choices."""
    name = f"cluster-{number:04}"
    random = Random(f"{seed}/{name}/spec")
    # All templates come in turn, so that a small fleet has all releases too.
    every = templates()
    template: Template = fixed.get("template") or every[(number + seed) % len(every)]
    first = random.choice(_FIRST_IDS)
    voters = tuple(
        Voter(
            id=first + index,
            directory_id=uuid(random),
            host=f"controller-{first + index}.{name}.example",
            port=9093,
        )
        for index in range(nodes)
    )
    is_dynamic = template.may_be_dynamic and random.random() < 0.7
    hours = random.randint(2, 48)
    made = ClusterSpec(
        name=name,
        seed=str(seed),
        template=template,
        is_dynamic=is_dynamic,
        cluster_id=uuid(random),
        voters=voters,
        began_ms=_BEGAN_MS + random.randrange(60 * 24) * HOUR_MS + random.randrange(HOUR_MS),
        span_ms=hours * HOUR_MS,
        activity=random.choice((40, 80, 150, 300)),
        elections=random.randint(1, 4),
        segment_bytes=random.choice((8 << 10, 16 << 10, 1 << 30)),
        snapshot_every_ms=max(hours * HOUR_MS // random.randint(5, 8), HOUR_MS),
        moves_voter=is_dynamic and random.random() < 0.4,
    )
    made = replace(made, **fixed)
    return replace(made, moves_voter=made.moves_voter and made.is_dynamic)
