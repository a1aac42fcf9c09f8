"""Name the rule of a correction of English text."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from disambig.rules.catalogue import CATALOGUE
from disambig.rules.naming import Correction, RuleSet

ARTICLES = frozenset(("a", "an", "the"))
PREPOSITIONS = frozenset(
    "about above across after against along amid among amongst around as at before behind below beneath "
    "beside besides between beyond by despite down during except for from in inside into like near of "
    "off on onto out outside over past per regarding round since through throughout till to toward "
    "towards under until up upon via with within without".split()
)
_NUMBER = (
    "is are am|was were|go goes|has have|does do|isn't aren't|wasn't weren't|hasn't haven't|"
    "doesn't don't|this these|that those|it they them|its their|he they|she they|man men|woman women|"
    "child children|person people|foot feet|tooth teeth|goose geese|mouse mice|ox oxen|"
    "criterion criteria|phenomenon phenomena|analysis analyses|basis bases|crisis crises|axis axes|"
    "life lives|half halves|leaf leaves|knife knives|shelf shelves|self selves|wife wives|"
    "himself themselves|itself themselves|yourself yourselves|index indices|matrix matrices|"
    "vertex vertices|datum data|medium media"
)
_FORMS = (
    "be am is are was were been being|have has had having|do does did done doing|i me my mine myself|"
    "you your yours yourself|he him his himself|she her hers herself|it its itself|"
    "we us our ours ourselves|they them their theirs themselves|who whom whose|good well better best|"
    "bad badly worse worst|far farther further|little less least|many more most|much more most|"
    "one first once|three third|arise arose arisen|awake awoke|bear bore borne|beat beaten|become became|"
    "begin began begun|bend bent|bind bound|bite bit bitten|bleed bled|blow blew blown|"
    "break broke broken|breed bred|bring brought|build built|burn burnt|buy bought|can could|"
    "catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug|"
    "draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|"
    "feed fed|feel felt|fight fought|find found|flee fled|fly flew flown|forbid forbade forbidden|"
    "forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|"
    "go went gone|grind ground|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|"
    "know knew known|lay laid|lead led|learn learnt|leave left|lend lent|lie lay lain|light lit|"
    "lose lost|make made|may might|mean meant|meet met|overcome overcame|pay paid|prove proven|"
    "ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|sell sold|"
    "send sent|shake shook shaken|shall should|shine shone|shoot shot|show shown|shrink shrank|"
    "sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent|"
    "spin spun|spring sprang sprung|stand stood|steal stole stolen|stick stuck|strike struck|"
    "swear swore sworn|sweep swept|swim swam swum|swing swung|take took taken|teach taught|"
    "tear tore torn|tell told|think thought|throw threw thrown|understand understood|undertake undertook|"
    "wake woke woken|wear wore worn|weave wove woven|will would|win won|wind wound|write wrote written|"
    "withdraw withdrew withdrawn|high height|long length|strong strength|deep depth|wide width|"
    "broad breadth|young youth|true truth|die dead death|live life alive|choose choice|"
    "succeed success successful|lose loss|sell sale|see sight|speak speech|think thought|know knowledge|"
    "believe belief|prove proof|save safe|describe description|decide decision|analyse analyze analysis|"
    "advise advice|grow growth|weigh weight|fly flight|hot heat|proud pride|free freedom|wise wisdom|"
    "receive receipt|produce product|compare comparison|explain explanation|include inclusion|"
    "solve solution|maintain maintenance|refer reference|assume assumption|consume consumption|"
    "subscribe subscription|transcribe transcription|exclude exclusion|conclude conclusion|"
    "simple simply|gentle gently|single singly|idle idly|able ably|ample amply|subtle subtly|humble humbly|"
    "noble nobly|double doubly|ease easy easily|noise noisy|true truly|whole wholly|"
    "expand expansion|act action active actor|extend extension extensive extent|divide division"
)
_DOUBLING = frozenset(("ing", "ed", "er", "ers", "est", "y"))
_VERB_ENDINGS = frozenset("s es d ed ing er ers or ors est ies ied ier iest ily ying e y r".split())
_ENDINGS = _VERB_ENDINGS | frozenset(
    "ion ions ional ation ations ational ative ition itions ive ively al ally als ic ics ical ically "
    "able ably ible ibly ability ibility ment ments ement ements ness ful fully less ly ous ously ious "
    "ity ities ety ant ants ent ents ance ances ence ences ency ist ists istic ism ize izes ized izing "
    "ization ise ises ised ising isation ship age ages ure ures ify ifies ified ifying ification ary ery "
    "ory ees ee ish ward wards wise icity ingly edly ator ators atory ated ates ating ate rs st".split()
)
_NASAL = frozenset(("t", "ce", "ces", "cy", "cies", "tly", "tial"))
_CONFUSED = Path(__file__).with_name("english_confused.txt")
_LONG = 5
"""Minimum length of words in which two wrong letters can be a slip; longer stems allow one-letter endings."""
Pair = frozenset[str]


def english_rule(correction: Correction, otherwise: str = "") -> str:
    """Return the name of the rule of a correction of English text, one of `CATALOGUE`.

    It depends on the words only. The first of these that applies counts: one word or two; words that are
    inserted or removed; articles; prepositions; words that people confuse (``english_confused.txt``); number;
    apostrophes; forms of a word; a slip of the finger; and for words that are not alike, confused words.

    Parameters
    ----------
    correction : Correction
    otherwise : str
        Rule in place of the last two, for a task that knows how its words are related.
    """
    return _rule_from_tables(correction) or otherwise or _rule_by_spelling(correction)


def _rule_from_tables(correction: Correction) -> str:
    """Return the name of the rule if tables or the form of the words decide it, else an empty string."""
    old, new = correction.observed, correction.replacement
    if old and old != new and _letters(old) == _letters(new):
        return "one-word-or-two"
    before, after = _changed(old.split(), new.split())
    if not before or not after:
        return _inserted_or_removed(before, after)
    if len(before) > 1 or len(after) > 1:
        return "wrong-phrase"
    return _one_word(before[0], after[0])


def _letters(words: str) -> str:
    return words.replace(" ", "").replace("-", "")


def _changed(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    """Return the words that differ, without those at both ends that stay."""
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    return before, after


def _inserted_or_removed(before: list[str], after: list[str]) -> str:
    words = before or after
    if len(words) != 1:
        return "wrong-phrase" if words else "extra-word"
    if words[0] in ARTICLES:
        return "article"
    if words[0] in PREPOSITIONS:
        return "missing-preposition" if after else "extra-preposition"
    return "missing-word" if after else "extra-word"


def _one_word(old: str, new: str) -> str:
    pair = frozenset((old, new))
    if pair == {"a", "an"}:
        return "a-an"
    if pair <= ARTICLES:
        return "article"
    if pair <= PREPOSITIONS and pair != {"of", "off"}:
        return "wrong-preposition"
    if pair in _confused():
        return "confused-words"
    if pair in _pairs(_NUMBER) or _adds_s(old, new) or _adds_s(new, old):
        return "agreement"
    if old.replace("'", "") == new.replace("'", "") or _possessive(old, new) or _possessive(new, old):
        return "apostrophe"
    if pair in _pairs(_FORMS) or _is_form(old, new):
        return "word-form"
    return ""


def _rule_by_spelling(correction: Correction) -> str:
    """Return the rule of two words that no table relates: a slip of the finger if they look alike."""
    before, after = _changed(correction.observed.split(), correction.replacement.split())
    old, new = before[0], after[0]
    distance = _edits(old, new)
    slip = distance <= 1 or (distance == 2 and min(len(old), len(new)) >= _LONG)
    return "typo-that-is-a-word" if slip else "confused-words"


@lru_cache(maxsize=1)
def _confused() -> frozenset[Pair]:
    lines = _CONFUSED.read_text(encoding="utf-8").splitlines()
    return _pairs("|".join(line for line in lines if line and not line.startswith("#")))


@lru_cache(maxsize=8)
def _pairs(groups: str) -> frozenset[Pair]:
    """Return all pairs of words within the groups of a table."""
    lists = [group.split() for group in groups.split("|")]
    return frozenset(
        frozenset((one, other)) for words in lists for one in words for other in words if one != other
    )


def _adds_s(word: str, longer: str) -> bool:
    """Return True if a word with the ending -s of a plural or of a verb is `longer`."""
    if len(word) < 3 or longer.endswith(("ss", "us", "is", "'s")) or word in _NO_NUMBER:
        return False
    if word.endswith("y") and longer == f"{word[:-1]}ies":
        return True
    if word.endswith(("s", "x", "z", "ch", "sh", "o")) and longer == f"{word}es":
        return True
    return longer == f"{word}s"


_NO_NUMBER = frozenset("her our your their its his the thus than new does".split())
"""Words whose number an added -s does not change."""


def _possessive(word: str, other: str) -> bool:
    """Return True if `other` is a possessive of a word or of its plural: city, cities and city's."""
    if not other.endswith(("'s", "s'")):
        return False
    noun = other[:-2] if other.endswith("'s") else other[:-1]
    return noun == word or _adds_s(noun, word) or _adds_s(word, noun)


def _is_form(old: str, new: str) -> bool:
    """Return True if two words differ in an ending: quick, quickly; plan, planned; create, creation."""
    table = _pairs(_FORMS)
    if any(frozenset((one, other)) in table for one in _bases(old) for other in _bases(new)):
        return True
    same = (i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other)
    start = old[: next(same, min(len(old), len(new)))]
    if start.endswith("n") and {old[len(start) :], new[len(start) :]} <= _NASAL:
        return True
    return any(
        _are_endings(start[:length], old[length:], new[length:])
        for length in range(len(start), max(len(start) - _SHARED, 1), -1)
    )


_SHARED = 3
"""Maximum number of letters that two endings have in common: -ing and -ion."""


def _are_endings(stem: str, one: str, other: str) -> bool:
    """Return True if both words are probably forms of one stem."""
    written = {one, other}
    one, other = sorted((_undoubled(stem, one), _undoubled(stem, other)), key=len)
    if not one:
        if other in ("d", "r", "rs", "st"):  # use, used
            return stem.endswith("e") and len(stem) > 2
        short = other in ("ed", "ing") or other not in written  # add, added; big, bigger
        return other in _ENDINGS and other != "e" and len(stem) > (2 if short else 3)
    if not {one, other} <= _ENDINGS or one == other:
        return False
    if len(other) == 1:
        return stem.endswith("e") if {one, other} == {"d", "s"} else len(stem) > _LONG
    return len(stem) > 2 or (len(stem) > 1 and {one, other} <= _VERB_ENDINGS)


def _undoubled(stem: str, ending: str) -> str:
    """Return an ending without the consonant that is doubled before it, as in planned."""
    doubled = len(stem) > 2 and ending[:1] == stem[-1] and stem[-1] not in "aeiou"
    return ending[1:] if doubled and ending[1:] in _DOUBLING else ending


def _bases(word: str) -> set[str]:
    """Return the words of which a word may be a form in -s or -ing, and those without a prefix."""
    bases = {word}
    for ending in ("s", "es", "ing"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            base = word[: -len(ending)]
            bases |= {base, f"{base}e", base[:-1] if base[-2:-1] == base[-1] else base}
    for prefix in _PREFIXES:
        bases |= {base.removeprefix(prefix) for base in bases if len(base) > len(prefix) + 1}
    return bases


_PREFIXES = ("under", "over", "un", "re", "fore", "mis", "out")


def _edits(old: str, new: str) -> int:
    """Return the number of letters to insert, remove, replace or swap with the next one."""
    above: list[int] = []
    row = list(range(len(new) + 1))
    for i, letter in enumerate(old, 1):
        before, above, row = above, row, [i]
        for j, other in enumerate(new, 1):
            best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == new[j - 2] and old[i - 2] == other:
                best = min(best, before[j - 2] + 1)
            row.append(best)
    return row[-1]


ENGLISH_RULES = RuleSet(CATALOGUE, english_rule, "en")
"""The shared rules, for tasks that correct English words."""
