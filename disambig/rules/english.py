"""Name the rule of a correction of English text; recognise gerunds that are subjects.

The plugins for English share this module, by `disambig.api`; the core does not use it.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations
from pathlib import Path

from disambig.rules.catalogue import CATALOGUE, Correction, RuleSet
from disambig.text import common_prefix, edit_distance

ARTICLES = frozenset(("a", "an", "the"))
PREPOSITIONS = frozenset(
    "about above across after against along amid among amongst around as at before behind below beneath "
    "beside besides between beyond by despite down during except for from in inside into like near of "
    "off on onto out outside over past per regarding round since through throughout till to toward "
    "towards under until up upon via with within without".split()
)
_DOUBLING = frozenset(("ing", "ed", "er", "ers", "est", "y"))
"""Endings before which a final consonant is doubled (planned)."""
_VERB_ENDINGS = frozenset("s es d ed ing er ers or ors est ies ied ier iest ily ying e y r".split())
_ENDINGS = _VERB_ENDINGS | frozenset(
    "ion ions ional ation ations ational ative ition itions ive ively al ally als ic ics ical ically "
    "able ably ible ibly ability ibility ment ments ement ements ness ful fully less ly ous ously ious "
    "ity ities ety ant ants ent ents ance ances ence ences ency ist ists istic ism ize izes ized izing "
    "ization ise ises ised ising isation ship age ages ure ures ify ifies ified ifying ification ary ery "
    "ory ees ee ish ward wards wise icity ingly edly ator ators atory ated ates ating ate rs st".split()
)
_NASAL = frozenset(("t", "ce", "ces", "cy", "cies", "tly", "tial"))
"""Endings that replace each other after n: different, difference, differently."""
_LONG = 5
"""Minimum length of words in which two wrong letters can be a slip; longer stems allow one-letter endings."""
Pair = frozenset[str]


def english_rule(correction: Correction, otherwise: str = "") -> str:
    """Return the name of the rule of a correction of English text, one of `CATALOGUE`.

    The rule depends only on the words. The first of these that applies is returned: one word or two; words
    that are inserted or removed; articles; prepositions; words that people confuse, which are listed in
    ``english_confused.txt``; number; apostrophes; forms of a word; a slip of the finger, if the words are
    similar; confused words.

    Parameters
    ----------
    correction : Correction
    otherwise : str
        Rule to return instead of the last two, for a task that knows how its words are related.
    """
    return _rule_from_tables(correction) or otherwise or _rule_by_spelling(correction)


def _rule_from_tables(correction: Correction) -> str:
    """Return the name of the rule if tables or the form of the words determine it, else ""."""
    observed, replacement = correction.observed, correction.replacement
    if observed and observed != replacement and _letters(observed) == _letters(replacement):
        return "one-word-or-two"
    old, new = _changed_words(observed.split(), replacement.split())
    if not old or not new:
        return _inserted_or_removed(old, new)
    if len(old) > 1 or len(new) > 1:
        return "wrong-phrase"
    return _single_word(old[0], new[0])


def _letters(words: str) -> str:
    return words.replace(" ", "").replace("-", "")


def _changed_words(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Return two phrases without the words that they share at their beginnings and ends."""
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


def _inserted_or_removed(removed: list[str], inserted: list[str]) -> str:
    """Return the rule of words that are inserted or removed; one of the lists is empty."""
    words = removed or inserted
    if len(words) != 1:
        return "wrong-phrase" if words else "extra-word"
    if words[0] in ARTICLES:
        return "article"
    if words[0] in PREPOSITIONS:
        return "missing-preposition" if inserted else "extra-preposition"
    return "missing-word" if inserted else "extra-word"


def _single_word(old: str, new: str) -> str:
    """Return the rule of one word that replaces another, or "" if the tables do not relate them."""
    pair = frozenset((old, new))
    if pair == {"a", "an"}:
        return "a-an"
    if pair <= ARTICLES:
        return "article"
    if pair <= PREPOSITIONS and pair != {"of", "off"}:
        return "wrong-preposition"
    if pair in _pairs("confused"):
        return "confused-words"
    if pair in _pairs("number") or _adds_s(old, new) or _adds_s(new, old):
        return "agreement"
    if old.replace("'", "") == new.replace("'", "") or _is_possessive(old, new) or _is_possessive(new, old):
        return "apostrophe"
    if pair in _pairs("forms") or _is_form(old, new):
        return "word-form"
    return ""


def _rule_by_spelling(correction: Correction) -> str:
    """Return the rule of two words that no table relates: a slip of the finger if they are similar."""
    (old, *_), (new, *_) = _changed_words(correction.observed.split(), correction.replacement.split())
    distance = edit_distance(old, new)
    is_slip = distance <= 1 or (distance == 2 and min(len(old), len(new)) >= _LONG)
    return "typo-that-is-a-word" if is_slip else "confused-words"


@cache
def _pairs(table: str) -> frozenset[Pair]:
    """Return all pairs of words on the lines of a table, such as ``english_confused.txt``."""
    lines = Path(__file__).with_name(f"english_{table}.txt").read_text(encoding="utf-8").splitlines()
    groups = [set(line.split()) for line in lines if not line.startswith("#")]
    return frozenset(frozenset(pair) for group in groups for pair in combinations(group, 2))


def _adds_s(word: str, longer: str) -> bool:
    """Return True if `longer` is a word with the ending -s of a plural or of a verb."""
    if len(word) < 3 or longer.endswith(("ss", "us", "is", "'s")) or word in _NO_NUMBER:
        return False
    if word.endswith("y") and longer == f"{word[:-1]}ies":
        return True
    if word.endswith(("s", "x", "z", "ch", "sh", "o")) and longer == f"{word}es":
        return True
    return longer == f"{word}s"


_NO_NUMBER = frozenset("her our your their its his the thus than new does".split())
"""Words that an added -s turns into other words, and not into plurals."""


def _is_possessive(word: str, other: str) -> bool:
    """Return True if `other` is a possessive of a word or of its plural: city, cities and city's."""
    if not other.endswith(("'s", "s'")):
        return False
    noun = other[:-2] if other.endswith("'s") else other[:-1]
    return noun == word or _adds_s(noun, word) or _adds_s(word, noun)


def _is_form(old: str, new: str) -> bool:
    """Return True if two words differ in an ending: quick, quickly; plan, planned; create, creation."""
    table = _pairs("forms")
    if any(frozenset((base, other)) in table for base in _bases(old) for other in _bases(new)):
        return True
    prefix = common_prefix(old, new)
    if prefix.endswith("n") and {old[len(prefix) :], new[len(prefix) :]} <= _NASAL:
        return True
    return any(
        _are_endings(prefix[:length], old[length:], new[length:])
        for length in range(len(prefix), max(len(prefix) - _MAX_SHARED, 1), -1)
    )


_MAX_SHARED = 3
"""Maximum number of letters that two endings have in common, such as those of -ing and -ion."""


def _are_endings(stem: str, first: str, second: str) -> bool:
    """Return True if a stem with two endings probably makes two forms of one word."""
    written = {first, second}
    short, long = sorted((_undoubled(stem, first), _undoubled(stem, second)), key=len)
    if not short:
        if long in ("d", "r", "rs", "st"):  # use, used
            return stem.endswith("e") and len(stem) > 2
        allows_short_stem = long in ("ed", "ing") or long not in written  # add, added; big, bigger
        return long in _ENDINGS and long != "e" and len(stem) > (2 if allows_short_stem else 3)
    if not {short, long} <= _ENDINGS or short == long:
        return False
    if len(long) == 1:
        return stem.endswith("e") if {short, long} == {"d", "s"} else len(stem) > _LONG
    return len(stem) > 2 or (len(stem) > 1 and {short, long} <= _VERB_ENDINGS)


def _undoubled(stem: str, ending: str) -> str:
    """Return an ending without the consonant that is doubled before it, as in planned."""
    is_doubled = len(stem) > 2 and ending[:1] == stem[-1] and stem[-1] not in "aeiou"
    return ending[1:] if is_doubled and ending[1:] in _DOUBLING else ending


def _bases(word: str) -> set[str]:
    """Return the possible bases of a word: without -s or -ing, and without a prefix."""
    bases = {word}
    for ending in ("s", "es", "ing"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            base = word[: -len(ending)]
            bases |= {base, f"{base}e", base[:-1] if base[-2:-1] == base[-1] else base}
    for prefix in _PREFIXES:
        bases |= {base.removeprefix(prefix) for base in bases if len(base) > len(prefix) + 1}
    return bases


_PREFIXES = ("under", "over", "un", "re", "fore", "mis", "out")


ENGLISH_RULES = RuleSet(CATALOGUE, english_rule, "en")
"""The shared rules, for tasks that correct English words."""


_OTHER_CLAUSE = (
    "that which who whom whose what when where why how if because as and but or than whether while since "
    "until though although i you he she it we they there is was are were"
).split()
"""Words after which a verb belongs to another clause than the words before it."""
# Four parts: "being" or "having"; one to six words that do not begin another clause, as few as possible; a
# verb form that follows a subject only if it does not begin a question ("is it"); and one more word.
_GERUND_SUBJECT = re.compile(
    rf"\s+(?:not\s+)?(?:being|having)(?:\s+(?!(?:{'|'.join(_OTHER_CLAUSE)})\b)[\w'\u2019-]+){{1,6}}?"
    r"\s+(?:(?:(?:is|was|does|did|would|could)(?:n['\u2019]t)?|will|won['\u2019]t|may|might|must)"
    r"(?!\s+(?:i|you|he|she|it|we|they|there|this|that|any\w*|some\w*)\b)|means|meant|makes|made)\s+\w",
    re.IGNORECASE,
)


def begins_gerund_subject(text: str, end: int) -> bool:
    """Return True if the word that ends at `end` precedes a gerund that is the subject of a sentence.

    The word must begin the sentence. In "Its being late is fine", "its" is right, and the result is True. In
    "Its being built now", "it's" was meant, and the result is False.
    """
    return _GERUND_SUBJECT.match(text, end) is not None
