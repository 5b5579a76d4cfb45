"""The value of sasl.jaas.config: a login module with its options.

Owns its grammar. It refuses to run a module: which ones are understood is `sasl.py`'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kraftool.net.providers import SettingsError

_TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^\s=;"]+)|([=;]))', re.DOTALL)
_FLAGS = {"required", "requisite", "sufficient", "optional"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginModule:
    """One entry."""

    name: str
    """The class without its package."""
    options: Mapping[str, str] = field(repr=False)


def parse(text: str) -> LoginModule:
    """The one entry that Kafka allows. Secrets are not repeated in what is wrong with it."""
    tokens = _tokens(text)
    if len(tokens) < 3 or tokens[1].lower() not in _FLAGS or tokens[-1] != ";":
        raise _wrong("it must be: CLASS required KEY=VALUE … ;")
    name, rest = tokens[0], tokens[2:-1]
    if ";" in rest:
        raise _wrong("it has more than one login module")
    options = {}
    if len(rest) % 3:
        raise _wrong("an option must be KEY=VALUE")
    for at in range(0, len(rest), 3):
        key, mark, value = rest[at : at + 3]
        if mark != "=":
            raise _wrong("an option must be KEY=VALUE")
        options[key] = value
    return LoginModule(name=name.rpartition(".")[2], options=options)


def _wrong(reason: str) -> SettingsError:
    return SettingsError(f"sasl.jaas.config: {reason}")


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _wrong("a quote is not closed")
        quoted = match[1]
        tokens.append(
            re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
            if quoted is not None
            else match[2] or match[3]
        )
        at = match.end()
    return tokens
