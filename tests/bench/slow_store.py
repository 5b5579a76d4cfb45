"""A store that answers as S3 does, each time after a delay, for measurements of listings.

It serves the files below a folder as one bucket, and knows only what a listing and a read ask for.
"""

import asyncio
import os
import sys
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import escape

from aiohttp import web

BUCKET = "fleet"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def _listing(root: Path, prefix: str) -> str:
    folder = root / prefix
    parts = []
    for entry in sorted(os.scandir(folder), key=lambda one: one.name) if folder.is_dir() else ():
        name = quote(f"{prefix}{entry.name}")
        if entry.is_dir():
            parts.append(f"<CommonPrefixes><Prefix>{escape(name)}/</Prefix></CommonPrefixes>")
        else:
            parts.append(
                f"<Contents><Key>{escape(name)}</Key><Size>{entry.stat().st_size}</Size>"
                '<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"0"</ETag></Contents>'
            )
    return (
        f"{_HEAD}<ListBucketResult><Name>{BUCKET}</Name><IsTruncated>false</IsTruncated>"
        f"<EncodingType>url</EncodingType>{''.join(parts)}</ListBucketResult>"
    )


def application(root: Path, delay_s: float) -> web.Application:
    """The store of the files below a folder."""

    async def answer(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(delay_s)
        key = request.match_info.get("key", "")
        if not key and "list-type" not in request.query:
            return web.Response()
        if "list-type" in request.query:
            text = _listing(root, request.query.get("prefix", ""))
            return web.Response(text=text, content_type="application/xml")
        path = root / key
        return web.FileResponse(path) if path.is_file() else web.Response(status=404)

    made = web.Application()
    made.router.add_get(f"/{BUCKET}", answer)
    made.router.add_get(f"/{BUCKET}/{{key:.*}}", answer)
    return made


async def _serve(root: Path, delay_s: float) -> None:
    runner = web.AppRunner(application(root, delay_s), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), float(sys.argv[2])))
