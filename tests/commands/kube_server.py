"""A Kubernetes API server for the real kubectl: pods of a selector, and exec over WebSocket.

It has no authentication and no other resource. A pod is a process on this machine.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web

from tests.support.server_thread import in_thread

_CHANNELS = "v5.channel.k8s.io"
_IN, _OUT, _ERR, _STATUS = b"\x00", b"\x01", b"\x02", b"\x03"


def _pod(name: str, containers: list[str], annotations: dict[str, str]) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "prod", "annotations": annotations},
        "spec": {"containers": [{"name": container} for container in containers]},
        "status": {"phase": "Running"},
    }


@contextmanager
def kube_api(folder: Path) -> Iterator[list[tuple[str, str]]]:
    """Run the server, and write `config` for kubectl. Yields the pods and containers of each
    exec."""
    asked: list[tuple[str, str]] = []
    pods = {
        "kafka-0": _pod("kafka-0", ["sidecar", "kafka"], {
            "kubectl.kubernetes.io/default-container": "kafka"}),
        "kafka-1": _pod("kafka-1", ["kafka", "sidecar"], {}),
        "broken": _pod("broken", ["kafka"], {}),
    }  # fmt: skip

    async def listing(request: web.Request) -> web.Response:
        chosen = list(pods.values()) if request.query.get("labelSelector") == "app=kafka" else []
        kind = {"kind": "PodList", "apiVersion": "v1", "metadata": {}}
        whole = [{**pod, "kind": "Pod", "apiVersion": "v1"} for pod in chosen]
        return web.json_response({**kind, "items": whole})

    async def one(request: web.Request) -> web.Response:
        pod = pods[request.match_info["pod"]]
        return web.json_response({**pod, "kind": "Pod", "apiVersion": "v1"})

    async def run(request: web.Request) -> web.StreamResponse:
        name, container = request.match_info["pod"], request.query["container"]
        asked.append((name, container))
        if name == "broken":
            message = f'container not found ("{container}")'
            status = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
            return web.json_response({**status, "message": message, "code": 500}, status=500)
        socket = web.WebSocketResponse(protocols=(_CHANNELS,))
        await socket.prepare(request)
        child = await asyncio.create_subprocess_exec(
            *request.query.getall("command"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip

        async def pump(channel: bytes, stream: asyncio.StreamReader) -> None:
            while data := await stream.read(1 << 16):
                await socket.send_bytes(channel + data)

        async def feed(stream: asyncio.StreamWriter) -> None:
            """What kubectl sends, until it closes the channel or has none."""
            while request.query.get("stdin") == "true":
                message = await socket.receive()
                if message.type is not WSMsgType.BINARY or message.data[:1] != _IN:
                    break
                stream.write(message.data[1:])
            stream.close()

        assert child.stdin
        assert child.stdout
        assert child.stderr
        fed = asyncio.create_task(feed(child.stdin))
        await asyncio.gather(pump(_OUT, child.stdout), pump(_ERR, child.stderr))
        code = await child.wait()
        await fed
        causes = [{"reason": "ExitCode", "message": str(code)}]
        failed = {
            "status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": causes},
            "message": f"command terminated with non-zero exit code: {code}",
        }  # fmt: skip
        outcome: dict[str, Any] = {"metadata": {}, **(failed if code else {"status": "Success"})}
        await socket.send_bytes(_STATUS + json.dumps(outcome).encode())
        await socket.close()
        assert (await socket.receive()).type in (WSMsgType.CLOSED, WSMsgType.CLOSING)
        return socket

    async def logs(request: web.Request) -> web.Response:
        if request.query.get("previous") == "true":
            message = "previous terminated container not found"
            return web.json_response(
                {"kind": "Status", "message": message, "code": 400}, status=400
            )
        return web.Response(text="cut off\nINFO started\npassword=CANARY-of-a-pod\n")

    async def discover(request: web.Request) -> web.Response:
        verbs = {"namespaced": True, "kind": "Pod", "verbs": ["get", "list"]}
        return web.json_response(
            {
                "/api": {"kind": "APIVersions", "versions": ["v1"]},
                "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
                "/api/v1": {
                    "kind": "APIResourceList",
                    "groupVersion": "v1",
                    "resources": [{"name": "pods", "singularName": "pod", **verbs}],
                },
            }[request.path]
        )

    async def begin() -> web.AppRunner:
        app = web.Application()
        for path in ("/api", "/apis", "/api/v1"):
            app.router.add_get(path, discover)
        app.router.add_get("/api/v1/namespaces/prod/pods", listing)
        app.router.add_get("/api/v1/namespaces/prod/pods/{pod}", one)
        app.router.add_route("*", "/api/v1/namespaces/prod/pods/{pod}/exec", run)
        app.router.add_get("/api/v1/namespaces/prod/pods/{pod}/log", logs)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    with in_thread(begin, web.AppRunner.cleanup) as runner:
        server = f"http://127.0.0.1:{runner.addresses[0][1]}"
        context = {"name": "c", "context": {"cluster": "c", "user": "u"}}
        config = {
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [context],
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": {}}],
        }  # fmt: skip
        (folder / "config").write_text(json.dumps(config))
        yield asked
