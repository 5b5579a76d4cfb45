"""Users and their permissions on a running node: SCRAM logins and ACLs, from the metadata alone.

One real node with two listeners. Nobody has to log in at the first, where everything is allowed; at
the second, users log in with SCRAM.
"""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kraftool.decoders.error_codes import Error
from kraftool.image.acls import ACL_OPERATIONS, ACL_RESOURCES
from kraftool.image.scram import MECHANISMS
from kraftool.image.scram_keys import DIGESTS
from kraftool.net.connection import connect
from kraftool.net.errors import AuthenticationError, NetError
from kraftool.net.security import ClientSecurity, SaslClient
from kraftool.node.config import STANDARD_AUTHORIZER
from kraftool.raft.names import Endpoint
from tests.node.processes import PATIENCE_S, NodeProcess, end
from tests.node.quorum import CLUSTER_ID
from tests.support.places import ROOT
from tests.support.ports import HOST, free_ports

SHA_256, SHA_512 = MECHANISMS[1], MECHANISMS[2]
_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
_DESCRIBE = {"endpointType": 2, "includeClusterAuthorizedOperations": False}


@pytest.fixture
def node(tmp_path: Path) -> NodeProcess:
    """Formatted with alice, a user of SCRAM-SHA-256."""
    plain, secure = free_ports(2)
    made = NodeProcess(id=1, folder=tmp_path, port=plain)
    made.config.write_text(
        "process.roles=controller\nnode.id=1\n"
        f"controller.quorum.bootstrap.servers={HOST}:{plain}\n"
        "controller.listener.names=CONTROLLER,SECURE\n"
        f"listeners=CONTROLLER://{HOST}:{plain},SECURE://{HOST}:{secure}\n"
        "listener.security.protocol.map=CONTROLLER:PLAINTEXT,SECURE:SASL_PLAINTEXT\n"
        f"sasl.enabled.mechanisms={SHA_256},{SHA_512}\n"
        f"listener.name.secure.sasl.jaas.config={_MODULE}\n"
        f"authorizer.class.name={STANDARD_AUTHORIZER}\n"
        "super.users=User:ANONYMOUS\n"
        f"log.dirs={tmp_path / 'data'}\n"
    )
    command = [sys.executable, "-m", "kraftool", "format", "-c", str(made.config), "--quiet"]
    user = f"{SHA_256}=[name=alice,password=CANARY-alice]"
    options = ["-t", CLUSTER_ID, "--standalone", "-r", "4.3", "--add-scram", user]
    subprocess.run([*command, *options], cwd=ROOT, check=True, capture_output=True)
    return made


class _Session:
    """A running node, asked by the users of its second listener and by nobody at its first."""

    def __init__(self, node: NodeProcess) -> None:
        self._node = node
        listeners = node.config.read_text().partition("SECURE://")[2]
        self._secure = Endpoint(HOST, int(listeners.partition("\n")[0].rpartition(":")[2]))

    async def as_anybody(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        return await self._node.ask(name, body)

    async def as_user(
        self, user: str, mechanism: str, name: str, body: dict[str, Any]
    ) -> dict[str, Any]:
        login = SaslClient(mechanism=mechanism, user=user, password=f"CANARY-{user}")
        connection = await connect(self._secure, ClientSecurity(sasl=login), timeout_s=PATIENCE_S)
        try:
            return dict(await connection.request(name, None, body, timeout_s=PATIENCE_S))
        finally:
            await connection.close()

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Wait for something that follows from the newest metadata."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                self._node.require_alive()
                try:
                    if await holds():
                        return
                except (NetError, OSError):
                    pass  # it does not listen yet, or there is no such user yet
                await asyncio.sleep(0.05)


def _alteration(user: str) -> dict[str, Any]:
    """The credential of a user for SCRAM-SHA-512, as a client makes it of the password."""
    salt, iterations = b"CANARY-salt", 4096
    password = f"CANARY-{user}".encode()
    salted = hashlib.pbkdf2_hmac(DIGESTS[SHA_512], password, salt, iterations)
    upsertion = {"name": user, "mechanism": 2, "iterations": iterations, "salt": salt}
    return {"deletions": [], "upsertions": [upsertion | {"saltedPassword": salted}]}


def _permission(user: str, operation: str) -> dict[str, Any]:
    return {
        "resourceType": ACL_RESOURCES.index("CLUSTER"),
        "resourceName": "kafka-cluster",
        "resourcePatternType": 3,
        "principal": f"User:{user}",
        "host": HOST,
        "operation": ACL_OPERATIONS.index(operation),
        "permissionType": 3,
    }


def test_users_and_their_permissions_come_with_the_metadata_and_go_with_it(
    node: NodeProcess,
) -> None:
    async def code_of(session: _Session, user: str, mechanism: str) -> int:
        answer = await session.as_user(user, mechanism, "DescribeCluster", _DESCRIBE)
        return int(answer["errorCode"])

    async def run() -> None:
        session = _Session(node)

        async def alice_is_known() -> bool:
            return await code_of(session, "alice", SHA_256) == Error.CLUSTER_AUTHORIZATION_FAILED

        async def alice_is_permitted() -> bool:
            return await code_of(session, "alice", SHA_256) == Error.NONE

        async def bob_is_known() -> bool:
            return await code_of(session, "bob", SHA_512) == Error.CLUSTER_AUTHORIZATION_FAILED

        async def bob_is_gone() -> bool:
            try:
                await code_of(session, "bob", SHA_512)
            except AuthenticationError:
                return True
            return False

        # The users of the format are records of the first leader's.
        await session.until(alice_is_known)
        with pytest.raises(AuthenticationError):
            await code_of(session, "alice", SHA_512)
        created = await session.as_anybody(
            "CreateAcls", {"creations": [_permission("alice", "ALTER")]}
        )
        assert [result["errorCode"] for result in created["results"]] == [Error.NONE]
        await session.until(alice_is_permitted)
        altered = await session.as_user(
            "alice", SHA_256, "AlterUserScramCredentials", _alteration("bob")
        )
        assert altered["results"] == [{"user": "bob", "errorCode": 0, "errorMessage": None}]
        await session.until(bob_is_known)
        deletion = {"deletions": [{"name": "bob", "mechanism": 2}], "upsertions": []}
        await session.as_user("alice", SHA_256, "AlterUserScramCredentials", deletion)
        await session.until(bob_is_gone)

    try:
        node.start()
        asyncio.run(run())
        assert asyncio.run(end(node)) == 0
    finally:
        if node.process is not None and node.process.poll() is None:
            node.process.kill()
            node.process.wait(30)
    assert "CANARY" not in node.said
