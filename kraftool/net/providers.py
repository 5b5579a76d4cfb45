"""Values that a configuration takes from elsewhere: `${file:/path:key}` and its kind.

Owns Kafka's three plain providers: a key of a properties file, a file of a directory, a variable of
the environment, each with the limits that the configuration sets it. Any other is refused by name:
it is Java, or asks a service.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from kraftool.decoders import properties
from kraftool.decoders.errors import KraftoolError

_PACKAGE = "org.apache.kafka.common.config.provider."
_REFERENCE = re.compile(r"\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}")
_ALLOWED_PATHS = "allowed.paths"
_ALLOWED_NAMES = "allowlist.pattern"

Provider = Callable[[str, str, Mapping[str, str]], str | None]
"""Of a path, a key and its own parameters; None for what it does not have."""


class SettingsError(KraftoolError):
    """A configuration that cannot be carried out."""


def expand(settings: Mapping[str, str]) -> dict[str, str]:
    """The configuration with everything in its place. Raises SettingsError.

    What the providers do not have stays as it is, which is what Kafka does.
    """
    named = [part.strip() for part in settings.get("config.providers", "").split(",")]
    providers = {name: _provider(settings, name) for name in named if name}
    if not providers:
        return dict(settings)
    expanded = {}
    for key, value in settings.items():
        of_providers = key == "config.providers" or key.startswith("config.providers.")
        expanded[key] = value if of_providers else _expanded(settings, providers, value)
    return expanded


def _expanded(settings: Mapping[str, str], providers: Mapping[str, Provider], value: str) -> str:
    def replace(match: re.Match[str]) -> str:
        name, path, key = match[1], match[2] or "", match[3]
        if name not in providers:
            return match[0]
        replacement = providers[name](path, key, _parameters(settings, name))
        return match[0] if replacement is None else replacement

    return _REFERENCE.sub(replace, value)


def _provider(settings: Mapping[str, str], name: str) -> Provider:
    given = settings.get(f"config.providers.{name}.class", "").strip()
    provider = _PROVIDERS.get(given.removeprefix(_PACKAGE))
    if provider is None:
        class_text = f"class {given}" if given else "no class"
        raise SettingsError(
            f"config.providers: {name} has {class_text}, which is not supported",
            hint=f"supported are {', '.join(_PROVIDERS)}",
        )
    return provider


def _parameters(settings: Mapping[str, str], name: str) -> dict[str, str]:
    prefix = f"config.providers.{name}.param."
    return {
        key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)
    }


def _file(path: str, key: str, parameters: Mapping[str, str]) -> str | None:
    data = _read(path, parameters)
    return None if data is None else properties.decode(data)[0].get(key)


def _directory(path: str, key: str, parameters: Mapping[str, str]) -> str | None:
    if os.sep in key or key in ("", ".", ".."):
        return None
    data = _read(os.path.join(path, key), parameters) if path else None
    return None if data is None else data.decode("utf-8", "replace")


def _environment(path: str, key: str, parameters: Mapping[str, str]) -> str | None:
    pattern = parameters.get(_ALLOWED_NAMES, "").strip()
    if path or (pattern and not re.fullmatch(pattern, key)):
        return None
    return os.environ.get(key)


def _read(path: str, parameters: Mapping[str, str]) -> bytes | None:
    """A file, if it is there and below the paths that are allowed."""
    if not path or not _is_allowed(path, parameters.get(_ALLOWED_PATHS, "")):
        return None
    try:
        with open(path, "rb") as source:
            return source.read(properties.MAX_BYTES)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}") from None


def _is_allowed(path: str, allowed: str) -> bool:
    folders = [os.path.realpath(part.strip()) for part in allowed.split(",") if part.strip()]
    if not folders:
        return True
    real = os.path.realpath(path)
    return any(os.path.commonpath((real, folder)) == folder for folder in folders)


_PROVIDERS: Mapping[str, Provider] = {
    "FileConfigProvider": _file,
    "DirectoryConfigProvider": _directory,
    "EnvVarConfigProvider": _environment,
}
