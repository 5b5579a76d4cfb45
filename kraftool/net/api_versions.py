"""ApiVersions: what two ends of a connection agree on before anything else.

Owns the request that opens every connection, the answer to versions of it that nobody here knows
(which is in version 0, whatever was asked), and the choice of a version that both sides have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import kraftool
from kraftool.decoders import schema
from kraftool.decoders.codec import Value
from kraftool.decoders.rpc_frames import API_VERSIONS, RequestFrame, apis
from kraftool.net.errors import UnsupportedError

UNSUPPORTED_VERSION = 35
INVALID_REQUEST = 42
OF_CONTROLLERS = "CreateTopics"
"""Every Kafka controller offers it on its controller listener, whether it is active or on standby
(seen with each release from 3.3.2 to 4.4.0). `kraftool node` does not: it runs no controller. Once
it runs one, it has to offer this API."""
FIRST_ASKED = 4
"""The version asked with at first: the newest without fields that 4.3 does not know."""

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")

Range = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """The APIs that the other side offers."""

    apis: Mapping[str, Range]
    """By name; apis that the catalogue lacks are left out."""
    supported: Mapping[str, Range] = field(default_factory=dict)
    """Levels of features."""
    finalized: Mapping[str, int] = field(default_factory=dict)
    finalized_epoch: int = -1
    """Of the metadata that tells the finalized levels; -1 if it is not known."""

    @property
    def runs_controller(self) -> bool:
        """True for a controller's listener of a node that can be the active controller."""
        return OF_CONTROLLERS in self.apis

    def version(self, name: str, wanted: Range | None = None) -> int:
        """The newest version that both sides have. Raises UnsupportedError."""
        there = self.apis.get(name)
        if there is None:
            raise UnsupportedError(f"the node does not offer {name}")
        known = schema.message(f"{name}Request").versions
        low, high = wanted or (known.low, known.high)
        newest = min(high, there[1], known.high)
        if newest < max(low, there[0], known.low):
            raise UnsupportedError(
                f"the node has {name} versions {there[0]} to {there[1]}, not {low} to {high}"
            )
        return newest


def question(version: int) -> Value:
    """The body of the request."""
    if version < 3:
        return {}
    return {
        "clientSoftwareName": "kraftool",
        "clientSoftwareVersion": re.sub(r"[^a-zA-Z0-9.-]", "-", kraftool.__version__),
    }


def offered(body: Value) -> Offered:
    """Return what an answer says."""
    names = apis()
    return Offered(
        apis={
            names[api_key["apiKey"]]: (api_key["minVersion"], api_key["maxVersion"])
            for api_key in body["apiKeys"]
            if api_key["apiKey"] in names
        },
        supported={
            feature["name"]: (feature["minVersion"], feature["maxVersion"])
            for feature in body.get("supportedFeatures") or ()
        },
        finalized={
            feature["name"]: feature["maxVersionLevel"]
            for feature in body.get("finalizedFeatures") or ()
        },
        finalized_epoch=body.get("finalizedFeaturesEpoch", -1),
    )


def own_range(body: Value) -> Range:
    """The versions of ApiVersions itself, as an answer in version 0 tells them."""
    [api_version] = [api_key for api_key in body["apiKeys"] if api_key["apiKey"] == _key()] or [
        None
    ]
    return (0, 0) if api_version is None else (api_version["minVersion"], api_version["maxVersion"])


def unknown_version(served: Range) -> Value:
    """The answer, in version 0, to a version that is not served."""
    return {
        "errorCode": UNSUPPORTED_VERSION,
        "apiKeys": [{"apiKey": _key(), "minVersion": served[0], "maxVersion": served[1]}],
    }


def is_wellformed(request: RequestFrame) -> bool:
    """True if the asker's software has a name and a version that Kafka accepts."""
    if request.version < 3:
        return True
    body = request.body
    software = (body["clientSoftwareName"], body["clientSoftwareVersion"])
    return all(_SOFTWARE.fullmatch(text) for text in software)


def _key() -> int:
    key = schema.message(f"{API_VERSIONS}Request").api_key
    assert key is not None, "a request has an api key"
    return key
