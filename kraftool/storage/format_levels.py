"""The feature levels with which a new cluster starts.

Owns what `--release-version` and `--feature` come to, as kafka-storage reckons it: the release's
defaults, what is asked for instead, what levels need of each other. It refuses to know of voters
but for whether there is a dynamic quorum, which kraft.version 1 stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kraftool.decoders.errors import KraftoolError
from kraftool.decoders.java_text import INT16_MAX, read_whole_number
from kraftool.image.metadata_version import (
    FEATURES,
    KRAFT_VERSION,
    LATEST_LEVEL,
    METADATA_VERSION,
    OLDEST_KRAFT_LEVEL,
    level_name,
    level_of,
    needs_of,
    release_levels,
)


class FormatRefused(KraftoolError):
    """A refusal: no directory is formatted for this. Nothing was written."""


class FormatImpossible(FormatRefused):
    """An error: options and configuration contradict each other, whatever the directories have."""


def feature_levels(words: Iterable[str]) -> dict[str, int]:
    """Read each NAME=LEVEL."""
    levels: dict[str, int] = {}
    for word in words:
        name, mark, text = word.partition("=")
        level = read_whole_number(text.strip(), 0, INT16_MAX)
        if not mark or not name.strip() or level is None:
            raise FormatImpossible(f"{word} is not of the form NAME=LEVEL")
        if name.strip() in levels:
            raise FormatImpossible(f"{name.strip()} is given a level twice")
        levels[name.strip()] = level
    return levels


def release_level(name: str) -> int:
    """The metadata.version of a release as 4.3, 4.3.0 or 4.3-IV0; the newest for an empty one."""
    if not name:
        return LATEST_LEVEL
    level = level_of(name)
    if level is None or level < OLDEST_KRAFT_LEVEL:
        raise FormatImpossible(
            f"{name} is not a release for which a cluster can be formatted",
            hint=f"from {level_name(OLDEST_KRAFT_LEVEL)} to {level_name(LATEST_LEVEL)}",
        )
    return level


def starting_levels(release: str, asked: Mapping[str, int], *, is_dynamic: bool) -> dict[str, int]:
    """Each feature's level, metadata.version first. Raises FormatImpossible.

    The release, or the asked levels, state metadata.version; never both.
    """
    levels = release_levels(_metadata_version(release, asked))
    for name in asked:
        if name not in levels:
            raise FormatImpossible(
                f"{name} is not a known feature", hint=f"there are {', '.join(sorted(levels))}"
            )
    levels[KRAFT_VERSION] = _kraft_version(asked.get(KRAFT_VERSION), is_dynamic=is_dynamic)
    levels |= {name: level for name, level in asked.items() if name != METADATA_VERSION}
    for name, level in levels.items():
        check_level(name, level)
        for needed, least in needs_of(name, level):
            if levels[needed] < least:
                raise FormatImpossible(
                    f"{name}={level} needs {needed}={least}, but it would be {levels[needed]}"
                )
    return levels


def check_level(name: str, level: int) -> None:
    """Raise FormatImpossible for a level that no release has."""
    if name == METADATA_VERSION:
        highest, lowest = LATEST_LEVEL, OLDEST_KRAFT_LEVEL
    elif name in FEATURES:
        highest, lowest = max(feature.level for feature in FEATURES[name]), 0
    else:
        raise FormatImpossible(
            f"{name} is not a known feature",
            hint=f"there are {', '.join(sorted((METADATA_VERSION, *FEATURES)))}",
        )
    if not lowest <= level <= highest:
        raise FormatImpossible(f"{name} has no level {level}: it has {lowest} to {highest}")


def _metadata_version(release: str, asked: Mapping[str, int]) -> int:
    level = asked.get(METADATA_VERSION)
    if level is None:
        return release_level(release)
    assert not release, "the level has one source"
    check_level(METADATA_VERSION, level)
    return level


def _kraft_version(asked: int | None, *, is_dynamic: bool) -> int:
    if asked is None:
        return 1 if is_dynamic else 0
    if asked == 0 and is_dynamic:
        raise FormatImpossible(
            f"{KRAFT_VERSION}=0 requires controller.quorum.voters, which is not set",
            hint="leave out --feature kraft.version",
        )
    if asked > 0 and not is_dynamic:
        raise FormatImpossible(
            f"{KRAFT_VERSION}={asked} contradicts controller.quorum.voters, which is set",
            hint="remove controller.quorum.voters, and give --standalone, --initial-controllers or"
            " --no-initial-controllers",
        )
    return asked
