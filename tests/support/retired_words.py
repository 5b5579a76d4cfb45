"""Words and phrases that kraftool no longer uses, each with what replaces it.

Owns the list of `test_plain_english.py`. A pattern is a regular expression, matched without regard
to case. An allowed use is one too: it is taken out of a text before the pattern is looked for.
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
    Retired(r"\bstands?\b|\bstood\b", "tolerate, is in", allowed=(r"\bstands? for\b",)),
    Retired(r"\bfailures? (?:is|are) survived\b", "tolerate"),
    Retired(r"\bin (?:\w+'s|the \w+'s|its|their) stead\b|\bin the stead of\b", "instead of"),
    Retired(r"\b(?:goes|going|go) by\b", "uses"),
    Retired(r"\bhad better\b", "should"),
    Retired(r"\b(?:held|hold|holds) (?:\w+ )?against\b", "compare with"),
    Retired(r"\bin the works\b", "in progress"),
    Retired(r"\blies?\b|\blying\b|\blay\b", "is in, is beyond"),
    Retired(r"\bmend(?:s|ed|ing)?\b", "repair, fix"),
    Retired(
        r"\b(?:is|are|be) none\b", "is not a …", allowed=(r"(?:there|loss) (?:is|are|be) none\b",)
    ),
    Retired(r"\bseldom\b", "rarely"),
    Retired(r"\bso (?:often|many|much|long ago)\b", "the interval, the number"),
    Retired(r"\bspeaks? for (?:it|them)\b", "is evidence for it"),
    Retired(r"\bstrangers?\b", "unknown node, unknown file"),
    Retired(
        r"\b(?:tells?|told|telling)\b",
        "report, show, say",
        allowed=(r"\bcan(?:not)? tell\b", r"\btold apart\b"),
    ),
    Retired(r"\bthat which\b", "the …"),
    Retired(r"\b(?:is|not) well\b", "is healthy"),
    Retired(r"\btrusted up to\b", "readable up to"),
    Retired(r"\bup to there\b", "until …, before …"),
    Retired(r"\bwants (?:a|an|the|no|KEY|HOST)\b", "requires"),
    Retired(r"\bwhoever\b|\bwho asks\b", "clients, the caller"),
    Retired(r"\b(?:would|to|can|cannot) be had\b", "is available"),
    Retired(r"\bends? with \d", "exits 1"),
    Retired(r"\bends it\b|\bhow long an end\b", "exits, stops; shutdown"),
    Retired(r"\bin no run\b", "in none of the runs"),
    Retired(r"\bno more a\b|\bno more$", "no longer"),
    Retired(r"\bby that alone\b", "only through this"),
    Retired(r"\b(?:comes|came) of it\b", "the result"),
    Retired(r"\bas no replica\b", "without joining as a replica"),
    Retired(
        r"\bno(?:thing|t) (?:known to be )?wrong seen\b|\bnothing wrong\b", "no problems found"
    ),
    Retired(r"\bnobody\b", "no node, no client"),
    Retired(r"\bthe last word\b", "the final authority"),
    Retired(r"\bmissed least\b", "least recently useful"),
    Retired(r"\btake (?:it )?on yourself\b|\bon you:", "accept"),
    Retired(r"\bdies (?:on|of|at)\b", "exits on"),
    Retired(r"\ball the same\b", "anyway"),
    Retired(r"\bon its way\b|\bof its own accord\b", "by itself"),
    Retired(r"\bis no \w+\b", "is not a …", allowed=(r"\bthere is no \w+", r"\bis no longer\b")),
    Retired(r"\bfrom a warning up\b|\bfrom this severity on\b", "if a finding has at least"),
    Retired(r"\bwhere no node\b|\bwhere a check\b", "if"),
    Retired(r"\bbesides?\b", "in addition to, next to"),
    Retired(r"\bcomes? to (?:a|an|the|be|nothing)\b", "is, the result"),
    Retired(r"\bmade of\b", "made from, consists of"),
    Retired(r"\b(?:goes|go|going|asks?|reads?|runs?) on(?: without|\b(?=[,.;)]|$))", "continue"),
    Retired(r"\b(?:every|any)body\b", "all nodes, any client"),
    Retired(r"\bas ever\b", "as usual"),
    Retired(r"\bfor want of\b|\bfor [\w-]+'s sake\b", "because there is no …"),
    Retired(r"\bwhat (?:is there|there is)\b", "the …"),
    Retired(r"\b(?:say|show|know|see|check)s? if\b", "whether"),
    Retired(r"\b(?:t|w)here(?:of|by|in|upon|with)\b|\bhence\b|\blest\b", "so, with it"),
    Retired(r"\bought to\b|\bin vain\b|\bunseen\b", "should, without success"),
    Retired(r"\bpart(?:s|ed|ing)? from\b", "diverge from"),
)
