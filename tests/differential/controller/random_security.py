"""Random ACLs and SCRAM users."""

from __future__ import annotations

from kraftool.image.acls import ACL_OPERATIONS, ACL_PERMISSIONS, ACL_RESOURCES, StandardAcl
from kraftool.image.scram import MECHANISMS
from tests.differential.controller.random_requests import Body, Command, Requests

_ANY, _MATCH, _LITERAL, _PREFIXED, _UNHEARD_OF = 1, 2, 3, 4, 99
_CLUSTER = ACL_RESOURCES.index("CLUSTER")
_NAMES = ("a", "ab", "abc", "b", "*")
"""Kafka's request layer refuses the empty one, in other words than its controller."""
_PRINCIPALS = ("User:alice", "User:bob", "User:*", "Group:ops", "nobody", ":")
_HOSTS = ("*", "*", "10.0.0.1", "host-1", "0:0:0:0:0:0:0:1", "")
_RANGES = (
    *("10.0.0.0/8", "10.0.0.1/33", "10.0.0.256/8", "10.0.0/8", "0.0.0.0/0", "10.0.0.0/8/8"),
    *("2001:db8::/32", "::/0", "::1/129", "::1/-1", "::1/x", "::g/64", "::ffff:1.2.3.4/96", "/"),
    *("1.2.3.4/07", "1.2.3.4/", "1:2:3:4:5:6:7:8/+64", "1:2/3"),
)
_MANY: Body = {
    "resourceType": 2,
    "resourcePatternType": _LITERAL,
    "principal": "User:alice",
    "host": "*",
    "operation": 3,
    "permissionType": 3,
}
_USERS = ("alice", "bob", "carol", "dave", "")
MOST = 10_000


class SecurityRequests(Requests):
    """ACLs and SCRAM users that come and go."""

    acls_wanted = 0
    """Until there are so many, new ACLs come by the thousands."""

    def _create_acls(self) -> Command:
        random = self.random
        creations = [self._creation() for _ in range(random.choice([1, 1, 2, 3, 6]))]
        if random.random() < 0.3:
            creations += random.sample(creations, 1)
        if sum(1 for _ in self._state.acls()) < self.acls_wanted:
            count = random.choice([4_000, MOST, MOST + 1])
            creations = [
                _MANY | {"resourceName": f"many-{number}"}
                for number in random.sample(range(100_000), count)
            ]
        return self._request("CreateAcls", 1, 3, {"creations": creations})

    def _creation(self) -> Body:
        random = self.random
        kind = random.randrange(2, len(ACL_RESOURCES))
        hosts = _RANGES if random.random() < 0.2 else _HOSTS
        creation = {
            "resourceType": kind,
            # Kafka's request layer refuses other names of it.
            "resourceName": "kafka-cluster" if kind == _CLUSTER else self._one_of(_NAMES),
            "resourcePatternType": random.choice([_LITERAL, _LITERAL, _PREFIXED]),
            "principal": self._one_of(_PRINCIPALS),
            "host": random.choice(hosts),
            "operation": random.randrange(2, len(ACL_OPERATIONS)),
            "permissionType": random.choice([2, 3]),
        }
        if random.random() < 0.03:
            numbers = ("resourceType", "resourcePatternType", "operation", "permissionType")
            wrong = random.choice([_ANY, _MATCH, _UNHEARD_OF, _UNHEARD_OF])
            creation[random.choice(numbers)] = wrong
        return creation

    def _one_of(self, words: tuple[str, ...]) -> str:
        """The last ones, which cannot be, seldom."""
        return self.random.choice(words if self.random.random() < 0.2 else words[:4])

    def _delete_acls(self) -> Command:
        random = self.random
        there = [acl for _, acl in self._state.acls()]
        filters = [self._filter(there) for _ in range(random.choice([1, 1, 2, 3]))]
        if random.random() < 0.2:
            filters += filters[:1]
        return self._request("DeleteAcls", 1, 3, {"filters": filters})

    def _filter(self, there: list[StandardAcl]) -> Body:
        random = self.random
        if there and random.random() < 0.8:
            acl = random.choice(there)
        else:
            acl = StandardAcl(2, "abcd", _LITERAL, "User:alice", "*", 3, 3)
        wanted: Body = {
            "resourceTypeFilter": acl.resource_type,
            "resourceNameFilter": acl.resource_name,
            "patternTypeFilter": acl.pattern_type,
            "principalFilter": acl.principal,
            "hostFilter": acl.host,
            "operation": acl.operation,
            "permissionType": acl.permission_type,
        }
        for name, most in (
            ("resourceTypeFilter", len(ACL_RESOURCES)),
            ("operation", len(ACL_OPERATIONS)),
            ("permissionType", len(ACL_PERMISSIONS)),
        ):
            if random.random() < 0.6:
                wanted[name] = _ANY
            elif random.random() < 0.1:
                wanted[name] = random.choice([random.randrange(1, most), _UNHEARD_OF])
        for name in ("resourceNameFilter", "principalFilter", "hostFilter"):
            if random.random() < 0.6:
                wanted[name] = None
        if random.random() < 0.6:
            wanted["patternTypeFilter"] = random.choice([_ANY, _MATCH, _MATCH])
        if random.random() < 0.3:
            wanted["resourceNameFilter"] = random.choice(["abcd", "ab", "b", "*", ""])
        if random.random() < 0.02:
            wanted["patternTypeFilter"] = _UNHEARD_OF
        return wanted

    def _alter_scram(self) -> Command:
        random = self.random
        deletions = [
            {"name": self._user(), "mechanism": self._mechanism()}
            for _ in range(random.choice([0, 0, 1, 2]))
        ]
        upsertions = [
            {
                "name": self._user(),
                "mechanism": self._mechanism(),
                "iterations": random.choice([4096, 4096, 16384, 8192, 4095, 16385, -1]),
                "salt": random.randbytes(random.choice([8, 24, 0])),
                "saltedPassword": random.randbytes(random.choice([32, 64, 64, 0])),
            }
            for _ in range(random.choice([0, 1, 1, 2]))
        ]
        body = {"deletions": deletions, "upsertions": upsertions}
        return self._request("AlterUserScramCredentials", 0, 0, body)

    def _user(self) -> str:
        return self._one_of(_USERS)

    def _mechanism(self) -> int:
        random = self.random
        return random.choice([*MECHANISMS] if random.random() < 0.95 else [0, 3, -1])
