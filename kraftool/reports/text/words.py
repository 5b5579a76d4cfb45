"""Words of reports for people: sizes, counts, spans, lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def size(count: int) -> str:
    """Bytes as people read them."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.5:
            return f"{value:.1f} {unit}" if value < 99.95 else f"{value:.0f} {unit}"
    return f"{value / 1000:.1f} TB"


def many(count: int, noun: str) -> str:
    """`1 batch`, `2 batches`, `3 entries`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith(("tch", "ss")):
        return f"{count} {noun}es"
    return f"{count} {noun[:-1]}ies" if noun.endswith("ry") else f"{count} {noun}s"


def span(first: object, last: object) -> str:
    return str(first) if first == last else f"{first} to {last}"


def ids(values: Sequence[int]) -> str:
    """Ids in a row; of hundreds, the first and how many more."""
    if len(values) <= 20:
        return ", ".join(map(str, values))
    return ", ".join(map(str, values[:18])) + f" and {len(values) - 18} more"


def listed(parts: Iterable[object], word: str = "and") -> str:
    """`1, 2 and 3`."""
    names = [str(one) for one in parts]
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def numbered(noun: str, ids: Sequence[object], word: str = "and") -> str:
    """`voter 1`, `voters 1 and 2`."""
    return f"{noun if len(ids) == 1 else f'{noun}s'} {listed(ids, word)}"


def offsets(first: int, end: int) -> str:
    """The offsets from one to the last before another: `offset 5`, `offsets 5 to 9`."""
    return f"offset{'' if end == first + 1 else 's'} {span(first, end - 1)}"


def transactions(committed: int, aborted: int, open_since: int | None) -> str:
    """The metadata transactions of a log, in words; empty where there are none."""
    phrases = [f"{n} {word}" for n, word in ((committed, "committed"), (aborted, "aborted")) if n]
    if open_since is not None:
        phrases.append(f"one open since offset {open_since}")
    return ", ".join(phrases)


def duration(ms: int) -> str:
    """`54 ms`, `3.1 s`, `17 s`, `5 min`, `3 h`, `4 d`."""
    if ms < 1_000:
        return f"{ms} ms"
    for unit, size, end in (("s", 1_000, 120), ("min", 60_000, 120), ("h", 3_600_000, 48)):
        value = ms / size
        if value < end:
            return f"{value:.1f} {unit}" if value < 10 and unit == "s" else f"{value:.0f} {unit}"
    return f"{ms / 86_400_000:.0f} d"


def no_ops(count: int, first_ms: int | None, last_ms: int | None) -> str:
    """Return a folded run of no-op records: `⋯ 34 no-ops, 17 s`."""
    text = f"⋯ {count:,} no-ops"
    if first_ms is None or last_ms is None or last_ms < first_ms:
        return text
    return f"{text}, {duration(last_ms - first_ms)}"
