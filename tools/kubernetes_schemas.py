#!/usr/bin/env python3
"""Write JSON Schemas for kubeconform, from the OpenAPI description in the Go module of Kubernetes.

    tools/kubernetes_schemas.py FOLDER

Go brings the module. Members that Kubernetes does not know are refused.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

MODULE = "k8s.io/kubernetes@v1.31.0"
_KINDS = {
    ("", "v1"): (
        *("ConfigMap", "Service", "Pod", "Secret", "ServiceAccount"),
        "PersistentVolumeClaim",
    ),
    ("apps", "v1"): ("Deployment", "StatefulSet"),
    ("batch", "v1"): ("Job", "CronJob"),
}


def main(folder: Path) -> int:
    found = subprocess.run(
        ["go", "mod", "download", "-json", MODULE], capture_output=True, text=True, check=False
    )
    if found.returncode:
        print(f"{MODULE}: {found.stderr}", file=sys.stderr)
        return 1
    module = Path(json.loads(found.stdout)["Dir"])
    swagger = json.loads((module / "api/openapi-spec/swagger.json").read_text())
    definitions = {name: _strict(one) for name, one in swagger["definitions"].items()}
    folder.mkdir(parents=True, exist_ok=True)
    for definition, schema in definitions.items():
        for kind in swagger["definitions"][definition].get("x-kubernetes-group-version-kind", ()):
            group, version, name = kind["group"], kind["version"], kind["kind"]
            if name not in _KINDS.get((group, version), ()):
                continue
            parts = [name.lower(), *([group.split(".")[0]] if group else []), version]
            whole = {**schema, "definitions": _needed(schema, definitions)}
            (folder / f"{'-'.join(parts)}.json").write_text(json.dumps(whole))
    (folder / "complete").touch()
    return 0


def _strict(schema: Any) -> Any:
    """A schema that refuses members that it does not name."""
    if schema.get("format") == "int-or-string":
        return {"type": ["integer", "string"]}
    made = {key: value for key, value in schema.items() if not key.startswith("x-")}
    if "properties" in schema:
        made["properties"] = {name: _strict(one) for name, one in schema["properties"].items()}
        made.setdefault("additionalProperties", False)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            made[key] = _strict(schema[key])
    return made


def _needed(schema: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The definitions that a schema leads to."""
    needed: dict[str, Any] = {}
    pending = [schema]
    while pending:
        for name in re.findall(r'"#/definitions/([^"]+)"', json.dumps(pending.pop())):
            if name not in needed:
                needed[name] = definitions[name]
                pending.append(definitions[name])
    return needed


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
