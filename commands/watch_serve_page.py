"""The page of `kraftool watch --serve`: its HTML, its style, and what a browser may do with it.

Owns every byte that is served besides the terminal in the browser, which is textual-serve's. All of
it comes from this machine: nothing is fetched from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files

TEXT, HTML, STYLE, SCRIPT = "text/plain", "text/html", "text/css", "text/javascript"

_ASSETS = {
    "textual.js": ("js/textual.js", SCRIPT),
    "xterm.css": ("css/xterm.css", STYLE),
    "roboto-mono.ttf": ("fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "roboto-mono-italic.ttf": ("fonts/RobotoMono-Italic-VariableFont_wght.ttf", "font/ttf"),
}
"""What is served of textual-serve's own files, by the name in our addresses."""

_STYLE = """\
@font-face {
  font-family: "Roboto Mono"; font-weight: 100 700; src: url("roboto-mono.ttf");
}
@font-face {
  font-family: "Roboto Mono"; font-weight: 100 700; font-style: italic;
  src: url("roboto-mono-italic.ttf");
}
html, body { height: 100%; margin: 0; background: #101418; overflow: hidden; }
.textual-terminal { width: 100vw; height: 100vh; opacity: 0; }
body.-first-byte .textual-terminal { opacity: 1; }
.told {
  position: absolute; inset: 0; display: none; place-items: center; z-index: 10;
  color: #d8dee4; background: #101418d0; font: 16px "Roboto Mono", monospace;
}
.told a { color: #7cc5ff; }
.begin { display: grid; }
body.-first-byte .begin { display: none; }
body.-closed .end { display: grid; }
body.-closed .begin { display: none; }
"""

_SCRIPT = """\
// Keys go to the terminal without a click; textual.js has made it by now.
addEventListener("load", () => document.querySelector(".xterm-helper-textarea")?.focus());
"""

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>kraftool watch</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/xterm.css">
<link rel="stylesheet" href="/static/page.css">
<script src="/static/textual.js"></script>
<script src="/static/page.js"></script>
</head>
<body>
<div class="told begin">kraftool watch begins …</div>
<div class="told end"><p>This session has ended. <a href="/">Begin another</a></p></div>
<div id="terminal" class="textual-terminal" data-session-websocket-url="{websocket}"
 data-font-size="{font_size}"></div>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class Asset:
    """One file that the page needs."""

    body: bytes
    content_type: str


def assets() -> Mapping[str, Asset]:
    """All files, read once. Raises ModuleNotFoundError without textual-serve."""
    static = files("textual_serve") / "static"
    assets_by_name = {
        name: Asset((static / path).read_bytes(), content_type)
        for name, (path, content_type) in _ASSETS.items()
    }
    assets_by_name["page.css"] = Asset(_STYLE.encode(), STYLE)
    assets_by_name["page.js"] = Asset(_SCRIPT.encode(), SCRIPT)
    return assets_by_name


def page(*, host: str, font_size: int) -> str:
    """The page; `host` is the checked name under which the browser reached it."""
    return _PAGE.format(websocket=escape(f"ws://{host}/ws"), font_size=font_size)


def headers(host: str) -> Mapping[str, str]:
    """Return what every answer says of how it may be used.

    The terminal in the browser writes its colours as style elements, hence `unsafe-inline` there;
    scripts are textual-serve's file and two lines of ours.
    """
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self' 'unsafe-inline'",
        "font-src": "'self'",
        "img-src": "data:",
        "connect-src": f"ws://{host}" if host else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
