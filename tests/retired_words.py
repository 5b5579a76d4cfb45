"""Words and phrases that kraftool no longer uses, each with what replaces it.

Owns the list of `test_plain_english.py`. A pattern is a regular expression, matched without regard
to case. An allowed use is one too: text that it matches is taken out before the pattern is looked
for. A row whose words have an ordinary meaning too names the retired phrase only.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Retired:
    """A pattern, the words to use instead, and the uses that stay."""

    pattern: str
    instead: str
    allowed: tuple[str, ...] = ()


RETIRED = (
    Retired(r"\banew\b", "again, from scratch, recreate"),
    Retired(r"\bbears? (?:no|a|one|out)\b|\bborne\b", "tolerate, survive, confirm"),
    Retired(r"\bstands (?:no|one|two|\d)", "tolerates"),
    Retired(r"\bin (?:the|its|their|a voter's|his) (?:\w+'s )?stead\b", "instead of"),
    Retired(r"\b(?:goes|go|going) by\b", "uses", (r"as time goes by",)),
    Retired(r"\bhad better\b", "should"),
    Retired(r"\bheld? against\b|\bholds? against\b", "compare with"),
    Retired(r"\bin the works\b", "in progress"),
    Retired(r"\blies (?:in|at|behind|beyond|below|beside)\b", "is"),
    Retired(r"\bmend(?:s|ed|ing)?\b", "repair, fix"),
    Retired(r"\bis none\b|\bis none of\b|\bnone of Kafka's\b", "is not a …"),
    Retired(r"\bseldom\b", "rarely"),
    Retired(r"\bso often\b|\bso many\b|\bso long ago\b|\bso much\b", "the number, the interval"),
    Retired(r"\bspeaks? for (?:it|them)\b", "is evidence for it"),
    Retired(r"\bstrangers?\b", "unknown node, unknown file"),
    Retired(r"\b(?:tells?|told|telling)\b", "report, show, say"),
    Retired(r"\bthat which\b", "the …"),
    Retired(r"\bis well\b|\bnot well\b", "is healthy", (r"(?:it|that) is well[ -]formed",)),
    Retired(r"\btrusted up to\b", "readable up to"),
    Retired(r"\bup to there\b", "until …, before …"),
    Retired(r"\bwants (?:a|an|the|[A-Z-])", "requires"),
    Retired(r"\bwhoever\b|\bwho asks\b", "clients, the caller"),
    Retired(r"\bwould be had\b|\bto be had\b|\bcan(?:not)? be had\b", "is available"),
    Retired(r"\bstands? (?:in|beside|behind|at)\b", "is in"),
    Retired(r"\ban end\b(?! (?:of|offset))|\bends? (?:it|a process)\b", "shutdown; exits, stops"),
    Retired(r"\bends with [0-9]\b|\bend with [0-9]\b", "exits 1"),
    Retired(r"\bno more than\b", "at most"),
    Retired(r"\bin no run\b", "in none of the runs"),
    Retired(r"\blead epoch \S+ no more\b|\bno more a\b", "resigned, no longer"),
    Retired(r"\bby that alone\b", "only through this"),
    Retired(r"\bis what comes\b|\bcomes of it\b|\bcame of it\b", "the result"),
    Retired(r"\bas no replica\b", "without joining as a replica"),
    Retired(r"\bnothing (?:known to be )?wrong(?: seen)?\b", "no problems found"),
    Retired(r"\bnobody\b", "no node, no client"),
    Retired(r"\bsomebody in particular\b", "a named node"),
    Retired(r"\bthe last word\b", "the final authority"),
    Retired(r"\bmissed least\b", "least recently useful"),
    Retired(r"\bput(?:s)? (?:it )?(?:away|aside)\b", "keep offline, move"),
    Retired(r"\bis to be (?:\w+ed)\b", "must be, or the imperative"),
    Retired(r"\bnamed? (?:both|each) by\b", "named by"),
    Retired(r"\bdies (?:on|of|at)\b", "exits"),
    Retired(r"\ball the same\b", "anyway", (r"not all the same",)),
)
