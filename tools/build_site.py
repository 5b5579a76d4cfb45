"""Builds the site: the documents, the pages made from the code, and pictures of the dashboard.

    PYTHONPATH=. python tools/build_site.py build/site    # what `make site` does

Owns how a document becomes a page: its links stay inside the site, finding codes lead to their
pages, and watch.md gets a picture of each view. Then it checks every link between the built pages,
and that a page fetches nothing from elsewhere. It refuses to fetch anything itself.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import demo
import pictures
import site_pages

from kraftool.reports.findings.kinds import KINDS
from kraftool.tui.views import VIEWS

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SITE = DOCS / "site"
PICTURES = "pictures"
_BLOCKS = re.compile(r"(^```.*?^```$|^(?: {4}|\t)[^\n]*$)", re.MULTILINE | re.DOTALL)
_OUTSIDE = re.compile(r"\[([^\]]+)\]\((\.\./[^)]+)\)")
_FILE_NAME = re.compile(r"\[`?[\w-]+\.md`?\](\([\w-]+\.md(?:#[^)]*)?\))")
_CODE = re.compile(r"(?<!\[)`(KT-[A-Z0-9-]+)`(?!\])")
_LIST = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
_MORE = "\n```{toctree}\n:hidden:\n:caption: More\n\n"
ISSUES_MARK = "<!-- issues -->"


def page(name: str, text: str) -> str:
    """Return a document as the site shows it. `name` is its file name in docs/."""
    parts = _BLOCKS.split(text)
    for number in range(0, len(parts), 2):
        words = _OUTSIDE.sub(_named, parts[number])
        words = words.replace("](schemas/)", f"]({site_pages.SCHEMAS}/index.md)")
        # A link that is named after a file gets the title of the page.
        parts[number] = _CODE.sub(_linked, _FILE_NAME.sub(r"[]\1", words))
    text = "".join(parts)
    if name == "watch.md":
        for view in VIEWS[1:]:
            picture = f"![The view {view.title}]({PICTURES}/{view.name}.svg)"
            text = text.replace(f"\n## {view.title}\n", f"\n## {view.title}\n\n{picture}\n", 1)
    return text.replace(ISSUES_MARK, site_pages.known_issues())


def _named(link: re.Match[str]) -> str:
    """A file of the repository that is no page, by its name."""
    label, path = link[1], link[2].partition("#")[0].removeprefix("../")
    return f"{label} (`{path}` in the repository)"


def _linked(code: re.Match[str]) -> str:
    if code[1] not in KINDS:
        return code[0]
    return f"[`{code[1]}`]({site_pages.FINDINGS}/{code[1]}.md)"


def documents() -> dict[str, Path]:
    """Return each document of the site by the name of its page."""
    return {path.name: path for folder in (DOCS, SITE) for path in sorted(folder.glob("*.md"))}


def listed(text: str) -> list[str]:
    """Return the pages that the navigation of the first page names."""
    lines = "\n".join(_LIST.findall(text)).splitlines()
    entries = [line for line in lines if line and not line.startswith(":")]
    return [entry.rpartition("<")[2].rstrip(">") for entry in entries]


def first_page(text: str, names: Iterable[str]) -> str:
    """Return the first page with all other documents in its navigation."""
    pages = sorted(name.removesuffix(".md") for name in names)
    more = [page for page in pages if page not in ("index", *listed(text))]
    return text + _MORE + "\n".join(more) + "\n```\n" if more else text


def write_sources(target: Path) -> None:
    """Write all that Sphinx reads."""
    pages = {name: page(name, path.read_text("utf-8")) for name, path in documents().items()}
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    pages["changelog.md"] = page("changelog.md", changes)
    pages["index.md"] = first_page(pages["index.md"], pages)
    for name, text in (*pages.items(), *site_pages.generated()):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text, "utf-8")
    shutil.copytree(DOCS / "schemas", target / "schemas")
    for path in (*DOCS.glob("*.svg"), SITE / "conf.py", SITE / "site.css"):
        shutil.copy(path, target)
    _draw(target / PICTURES)


def _draw(folder: Path) -> None:
    """Draw each view over the quorum that `kraftool demo` unpacks."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as made:
        # A screen shows paths, and none of this machine's.
        os.chdir(made)
        for name, data in demo.files().items():
            path = Path("quorum", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for name, picture in pictures.views(Path("quorum")).items():
            (folder / f"{name}.svg").write_text(picture, "utf-8")
        os.chdir(ROOT)


class _Links(HTMLParser):
    """The links of a page, what it loads, and the places in it that a link can name."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if "id" in given:
            self.places.add(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") not in ("canonical", "index", "search"):
            self.loads.append(given.get("href", ""))
        elif "src" in given:
            self.loads.append(given["src"])


def broken_links(site: Path) -> Iterator[str]:
    """Yield each link to a page or a place that is not there, and all that is fetched elsewhere."""
    pages: defaultdict[Path, _Links] = defaultdict(_Links)
    for path in sorted(site.rglob("*.html")):
        pages[path].feed(path.read_text("utf-8"))
    for path, found in tuple(pages.items()):
        for link in (*found.links, *found.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in found.loads and parts.scheme != "data":
                    yield f"{path.relative_to(site)}: loads {link}"
                continue
            target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{path.relative_to(site)}: {link} is not there"
            elif (
                parts.fragment
                and link in found.links
                and target in pages
                and unquote(parts.fragment) not in pages[target].places
            ):
                yield f"{path.relative_to(site)}: {link} is no place in that page"
    for style in site.rglob("*.css"):
        for url in re.findall(r"""(?:@import|url\()\s*["']?(https?:[^"')]+)""", style.read_text()):
            yield f"{style.relative_to(site)}: loads {url}"


def build(target: Path) -> list[str]:
    """Build the site, and return what is wrong with it. Warnings of Sphinx are errors."""
    with tempfile.TemporaryDirectory() as made:
        sources = Path(made, "sources")
        sources.mkdir()
        write_sources(sources)
        shutil.rmtree(target, ignore_errors=True)
        command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-n"]
        done = subprocess.run([*command, "-d", f"{made}/trees", str(sources), str(target)])
    if done.returncode:
        return ["Sphinx found errors"]
    return list(broken_links(target.resolve()))


def main(target: str) -> int:
    problems = build(Path(target).resolve())
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    if not problems:
        print(f"{target}/index.html")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
