"""Random requests about client quotas and delegation tokens."""

from __future__ import annotations

import hashlib
import hmac

from kraftool.image.delegation_tokens import DelegationToken
from tests.differential.controller.random_requests import PRINCIPALS, Body, Command, Requests

_NAMES: dict[str, tuple[str | None, ...]] = {
    "user": ("alice", "bob", "alice", None, ""),
    "client-id": ("loader", "admin", "loader", None),
    "ip": ("10.0.0.1", "::1", "localhost", None, "no such host"),
    "group": ("readers",),
}
_KEYS = (
    *("controller_mutation_rate", "controller_mutation_rate", "producer_byte_rate"),
    *("consumer_byte_rate", "request_percentage", "connection_creation_rate", "no_such_rate"),
)
_VALUES = (
    *(0.5, 1.0, 3.0, 20.0, 100.0, 1_000.0, 1.5, 1.0000001, 0.0, -1.0),
    *(2.0**31, 2.0**63, 1e300, float("inf"), float("nan")),
)


class QuotaRequests(Requests):
    """AlterClientQuotas, and the requests of delegation tokens."""

    def _alter_client_quotas(self) -> Command:
        random = self.random
        entries = [self._entry() for _ in range(random.choice([1, 1, 1, 2, 3]))]
        body: Body = {"entries": entries, "validateOnly": random.random() < 0.05}
        return self._request("AlterClientQuotas", 0, 1, body)

    def _entry(self) -> Body:
        random = self.random
        kinds = random.choice(
            [["user"], ["client-id"], ["user", "client-id"], ["user", "client-id"], ["ip"]]
        )
        if random.random() < 0.05:
            kinds = random.choice([[], ["group"], ["ip", "user"], ["user", "user"]])
        usual = self.throttles and random.random() < 0.7
        entity = [
            {
                "entityType": kind,
                "entityName": _NAMES[kind][0] if usual else random.choice(_NAMES[kind]),
            }
            for kind in kinds
        ]
        random.shuffle(entity)
        keys = random.choices(_KEYS, k=random.choice([1, 1, 2, 3]))
        if random.random() < 0.95:
            keys = [*dict.fromkeys(keys)]
        if kinds == ["ip"]:
            keys = ["connection_creation_rate"]
        elif self.throttles:
            keys = ["controller_mutation_rate"]
        ops = []
        for key in keys:
            common = _VALUES[:3] if self.throttles else _VALUES[:6]
            value = random.choice(common if random.random() < 0.8 else _VALUES)
            removes = random.random() < (0.1 if self.throttles else 0.35)
            ops.append({"key": key, "value": 0.0 if removes else value, "remove": removes})
        return {"entity": entity, "ops": ops}

    def _delegation_token(self) -> Command:
        random = self.random
        match random.choice(["create", "create", "renew", "renew", "expire"]):
            case "create":
                return self._create_token()
            case "renew":
                period = random.choice([-1, 0, 5_000, 10**9])
                body = {"hmac": self._hmac(), "renewPeriodMs": period}
                return self._request("RenewDelegationToken", 1, 2, body)
            case _:
                period = random.choice([-1, 0, 5_000, 10**9, (1 << 63) - 1])
                body = {"hmac": self._hmac(), "expiryTimePeriodMs": period}
                return self._request("ExpireDelegationToken", 1, 2, body)

    def _create_token(self) -> Command:
        random = self.random
        renewers = [
            principal.split(":", 1) for principal in random.sample(PRINCIPALS, random.randint(0, 2))
        ]
        if random.random() < 0.05:
            renewers.append(["Group", "readers"])
        if renewers and random.random() < 0.1:
            renewers.append(renewers[0])
        body: Body = {
            "renewers": [{"principalType": kind, "principalName": name} for kind, name in renewers],
            "maxLifetimeMs": random.choice([-1, 0, 1_000, 30_000, 10**9]),
        }
        version = random.choice([1, 2, 3, 3])
        if version >= 3:
            owner = random.choice([("User", "bob"), (None, None), ("User", ""), ("Robot", "r:2")])
            body["ownerPrincipalType"], body["ownerPrincipalName"] = owner
        return self._request("CreateDelegationToken", version, version, body)

    def _tokens(self) -> list[DelegationToken]:
        return [*self._state.tokens()] if self.ours.active is not None else []

    def _hmac(self) -> bytes:
        """Of a token that there is, mostly."""
        tokens = [token.id for token in self._tokens()]
        secret = self._state.settings.tokens.secret_key
        if not tokens or secret is None or self.random.random() < 0.1:
            return b"no hmac"
        token_id = self.random.choice(tokens)
        return hmac.digest(secret.encode(), token_id.encode(), hashlib.sha512)

    def _unregister_controller(self) -> Command:
        ids = [controller.id for controller in self._state.controllers()]
        body = {"controllerId": self.random.choice([*ids, 3000, 3001, 7])}
        return self._request("UnregisterController", 0, 0, body)
