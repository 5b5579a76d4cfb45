"""YAML that somebody handed us: read safely, within bounds, and of the plain kind only.

Owns what is refused before a value is looked at: too many bytes or parts, aliases, tags, deep
nesting, a key twice. What the values mean is for who asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import yaml

from kraftool.decoders.errors import KraftoolError


class YamlError(KraftoolError):
    """A file that is no plain YAML, or too much of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class YamlLimits:
    """The limits of a YAML text."""

    bytes: int
    events: int
    depth: int


def load_yaml(data: bytes, bounds: YamlLimits) -> Any:
    """The values of a document. Raises YamlError with the line where it is none."""
    if len(data) > bounds.bytes:
        raise YamlError(f"at most {bounds.bytes} bytes are read")
    try:
        text = data.decode()
        depth = 0
        for number, event in enumerate(yaml.parse(text, yaml.SafeLoader)):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise YamlError(f"{_place(event.start_mark)}: aliases are not read")
            if getattr(event, "tag", None):
                raise YamlError(f"{_place(event.start_mark)}: tags are not read")
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > bounds.depth or number > bounds.events:
                raise YamlError(f"{_place(event.start_mark)}: too deep or too long")
        return yaml.load(text, _Loader)
    except UnicodeDecodeError as error:
        raise YamlError(f"byte {error.start} is not UTF-8") from None
    except yaml.MarkedYAMLError as error:
        raise YamlError(f"{_place(error.problem_mark)}: {error.problem}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise YamlError(f"not YAML: {str(error).splitlines()[0]}") from None


def _place(mark: Any) -> str:
    return f"line {mark.line + 1}" if mark is not None else "somewhere"


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses a key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise YamlError(f"{_place(key.start_mark)}: a key is a word or a number")
            if key.value in seen:
                raise YamlError(f"{_place(key.start_mark)}: {key.value} twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)
