"""Write the catalogue in decoders/schema from the JSON definitions inside released Kafka jars.

    python tools/catalogue.py                          write the modules of the same release again
    python tools/catalogue.py --check                  compare, write nothing
    python tools/catalogue.py --version 4.5.0          write those of another release
    python tools/catalogue.py --jars FOLDER            read jars that are there already
    python tools/catalogue.py --version 4.3.0 --out D  write elsewhere, to compare two versions

Only facts are taken over: names, keys, versions, types, defaults. The jars come through Maven.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from kraftool.decoders import schema

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "decoders" / "schema"
ARTIFACTS = ("kafka-clients", "kafka-metadata", "kafka-raft")
TITLES = {
    "metadata_records": "The metadata records of Kafka {version}: what the log carries.",
    "data_messages": "Control records, quorum-state and other plain data of Kafka {version}.",
    "rpc_messages": "Requests, responses and their headers of Kafka {version}.",
}

RELEASE = '''\
"""The newest release of Kafka that kraftool knows: the one that the catalogue describes.

Written by tools/catalogue.py.
"""

KAFKA = "{version}"
'''


def module_of(kind: str) -> str:
    return {"metadata": "metadata_records", "data": "data_messages"}.get(kind, "rpc_messages")


def fetch_jars(version: str, folder: Path) -> None:
    """Bring the three jars by Maven into `folder`."""
    if shutil.which("mvn") is None:
        sys.exit("catalogue: Maven is not installed; apt-get install maven, or pass --jars FOLDER")
    dependencies = "".join(
        f"<dependency><groupId>org.apache.kafka</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version></dependency>"
        for name in ARTIFACTS
    )
    (folder / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>kraftool</groupId>"
        "<artifactId>catalogue</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
    subprocess.run(
        ["mvn", "-q", "-B", goal, f"-DoutputDirectory={folder}", "-DexcludeTransitive=true"],
        cwd=folder,
        check=True,
        stdout=sys.stderr,
    )


def definitions(folder: Path) -> list[dict[str, Any]]:
    """Every message definition in the jars of `folder`."""
    messages = []
    for artifact in ARTIFACTS:
        jars = sorted(folder.glob(f"{artifact}-[0-9]*.jar"))
        if not jars:
            sys.exit(f"catalogue: no {artifact} jar in {folder}")
        with zipfile.ZipFile(jars[0]) as jar:
            for name in sorted(jar.namelist()):
                if re.fullmatch(r"common/(message|metadata)/\w+\.json", name):
                    text = jar.read(name).decode()
                    messages.append(json.loads(without_comments(text)))
    return messages


def without_comments(text: str) -> str:
    """Drop // comments outside of strings."""
    return re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*', lambda match: match.group(1) or "", text)


def block(message: dict[str, Any]) -> str:
    """One message in the notation of decoders/schema/notation.py."""
    head = [message["name"], message["type"], str(message.get("apiKey", "-"))]
    head += ["versions", message["validVersions"]]
    if message.get("flexibleVersions", "none") != "none":
        head += ["flexible", message["flexibleVersions"]]
    if message.get("listeners"):
        head += ["listeners", ",".join(message["listeners"])]
    if message.get("latestVersionUnstable"):
        head.append("unstable")
    lines = [" ".join(head)]
    for struct in message.get("commonStructs", []):
        lines.append(f"  struct {struct['name']}")
        lines += field_lines(struct["fields"], 2)
    lines += field_lines(message.get("fields", []), 1)
    return "\n".join(lines)


KNOWN = {
    "name",
    "type",
    "versions",
    "about",
    "nullableVersions",
    "tag",
    "taggedVersions",
    "default",
    "entityType",
    "mapKey",
    "ignorable",
    "flexibleVersions",
    "fields",
    "zeroCopy",
}


def field_lines(fields: list[dict[str, Any]], depth: int) -> list[str]:
    lines = []
    for field in fields:
        if unknown := set(field) - KNOWN:
            sys.exit(
                f"catalogue: field {field['name']} has facts this tool does not know: {unknown}"
            )
        name = field["name"]
        words = [name[0].lower() + name[1:], field["type"], field["versions"]]
        if field.get("nullableVersions", "none") != "none":
            words += ["nullable", field["nullableVersions"]]
        if "tag" in field:
            words += ["tag", str(field["tag"])]
            if field["taggedVersions"] != field["versions"]:
                words += ["tagged", field["taggedVersions"]]
        if "default" in field:
            words += ["default", str(field["default"]).lower() or '""']
        if "entityType" in field:
            words += ["entity", field["entityType"]]
        if field.get("mapKey"):
            words.append("mapkey")
        if field.get("ignorable"):
            words.append("ignorable")
        if "flexibleVersions" in field:
            words += ["flexible", field["flexibleVersions"]]
        lines.append("  " * depth + " ".join(words))
        lines += field_lines(field.get("fields", []), depth + 1)
    return lines


def modules(messages: list[dict[str, Any]], version: str) -> dict[str, str]:
    """The text of each generated module, by its name."""
    blocks: dict[str, list[str]] = {name: [] for name in TITLES}
    for message in sorted(messages, key=lambda definition: str(definition["name"])):
        blocks[module_of(message["type"])].append(block(message))
    texts = {
        name: f'"""{TITLES[name].format(version=version)}\n\n'
        "Written by tools/catalogue.py; the notation is described in notation.py.\n"
        '"""\n\nMESSAGES = """\n' + "\n\n".join(blocks[name]) + '\n"""\n'
        for name in TITLES
    }
    return texts | {"kafka_release": RELEASE.format(version=version)}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--version", default=schema.KAFKA)
    parser.add_argument("--jars", type=Path, help="a folder that holds the jars already")
    parser.add_argument("--out", type=Path, default=SCHEMA)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.jars or Path(temporary)
        if options.jars is None:
            fetch_jars(options.version, folder)
        texts = modules(definitions(folder), options.version)
    stale = []
    for name, text in texts.items():
        path = options.out / f"{name}.py"
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if not options.check:
                options.out.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    if stale and options.check:
        print(
            f"catalogue: stale: {', '.join(stale)}; run: make catalogue VERSION={options.version}"
        )
        return 1
    done = f"wrote {', '.join(stale)}" if stale else "fresh"
    print(f"catalogue: Kafka {options.version}, {done}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
