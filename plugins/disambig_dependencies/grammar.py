"""English agreement in parsed sentences: how well a form fits its subject, auxiliary, determiner or noun.

A fit is 1 if the grammar wants a form like this, -1 if it wants another one, and 0 if it does not matter or
is not clear. Rules follow the descriptions of Quirk, Greenbaum, Leech and Svartvik, *A Comprehensive Grammar
of the English Language* (1985), chapters 10 and 5; relations are those of Universal Dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

SINGULAR, PLURAL, FIRST, UNKNOWN = "singular", "plural", "first person", ""
"""Numbers of subjects; *first person* is that of "I", which takes "am" but "have"."""


@dataclass(frozen=True, eq=False)
class SentenceParse:
    """A parsed sentence."""

    words: Sequence[str]  # in lower case
    tags: Sequence[str]
    heads: Sequence[int]  # index of each word's head; -1 for the root
    relations: Sequence[str]

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each word, in order."""
        children: list[list[int]] = [[] for _ in self.words]
        for child, head in enumerate(self.heads):
            if head >= 0:
                children[head].append(child)
        return children

    def select(self, head: int, *relations: str) -> list[int]:
        """Return the children of a word with one of some relations; subtypes count as their relation."""
        return [i for i in self.children[head] if self.relations[i].partition(":")[0] in relations]

    def predicate(self, verb: int) -> int:
        """Return the head of the clause of a verb, which is another word for auxiliaries and copulas."""
        return self.heads[verb] if self.relations[verb].partition(":")[0] in ("aux", "cop") else verb


@dataclass(frozen=True, slots=True)
class Expectation:
    """What the grammar wants at a place."""

    kind: str = ""  # ``"verb"``, ``"noun"``, ``"determiner"``, or empty if nothing is expected
    wants: str = UNKNOWN  # a number, or for verbs the form that an auxiliary wants
    confidence: float = 0.0  # from 0 to 1: how reliable such a reading of the sentence is


NOTHING = Expectation()
BASE, PARTICIPLE, AFTER_BE = "base", "participle", "after be"
"""Forms that auxiliaries want: "can go", "has gone", "is going" or "is gone"."""

# ---- forms of words

_SINGULAR_VERBS = frozenset("is was has does 's isn't wasn't hasn't doesn't".split())
_PLURAL_VERBS = frozenset("are were have do 're 've aren't weren't haven't don't".split())
_BE = frozenset("am is are was were be been being 's 're 'm".split())
_HAVE = frozenset("have has had having 've".split())
_DO = frozenset("do does did".split())
_PAST = dict(
    pair.split("/")
    for pair in (
        "went/gone saw/seen did/done took/taken gave/given wrote/written came/come became/become began/begun "
        "ate/eaten drove/driven fell/fallen knew/known grew/grown flew/flown broke/broken chose/chosen "
        "spoke/spoken stole/stolen wore/worn tore/torn bit/bitten hid/hidden rode/ridden rose/risen ran/run "
        "sang/sung drank/drunk swam/swum threw/thrown drew/drawn forgot/forgotten woke/woken shook/shaken "
        "froze/frozen swore/sworn blew/blown withdrew/withdrawn undertook/undertaken arose/arisen was/been "
        "were/been mistook/mistaken overrode/overridden undid/undone rewrote/rewritten sank/sunk "
        "sprang/sprung shrank/shrunk rang/rung"
    ).split()
)
_PARTICIPLES = frozenset(_PAST.values())
S_FORM, BASE_FORM, PAST_FORM, ED_FORM, PARTICIPLE_FORM, ING_FORM, AM, OTHER = (
    "s", "base", "past", "ed", "participle", "ing", "am", "other"
)  # fmt: skip


def is_irregular(word: str) -> bool:
    """Return True for a past tense or participle of an irregular verb whose two differ."""
    return word in _PAST or word in _PARTICIPLES


def adds_s(word: str, base: str) -> bool:
    """Return True if a word is the regular form in -s of another one: "boxes" of "box", "tries" of "try"."""
    if word in (base + "s", base + "es"):
        return len(base) > 1
    return base.endswith("y") and word == base[:-1] + "ies"


def verb_form(word: str, other: str, tag: str) -> str:
    """Return the form of a verb.

    `other` is the word that it is compared with: of "file" and "files" the second is the form in -s. The tag
    is for what the two words do not show.
    """
    if word in _SINGULAR_VERBS or adds_s(word, other):
        return S_FORM
    if word == "am":
        return AM
    if word in ("be", "do", "have") or word in _PLURAL_VERBS or adds_s(other, word):
        return BASE_FORM
    if word.endswith("ing") and len(word) > 4:
        return ING_FORM
    if word in ("been", "done", "gone") or (word in _PARTICIPLES and word not in ("come", "become", "run")):
        return PARTICIPLE_FORM
    if word in _PAST:
        return PAST_FORM
    if word.endswith("ed") and len(word) > 3 and tag not in ("VB", "VBP"):
        return ED_FORM
    return {"VBZ": S_FORM, "VB": BASE_FORM, "VBP": BASE_FORM, "VBD": ED_FORM, "VBN": ED_FORM}.get(tag, OTHER)


def verb_fit(form: str, word: str, wants: str) -> int:
    """Return how a form of a verb fits what is expected: 1, 0 or -1."""
    if form == OTHER or not wants:
        return 0
    if wants == BASE:
        if form == BASE_FORM:
            return -1 if word in ("are", "were") else 1
        return -1
    if wants == PARTICIPLE:
        if form in (PARTICIPLE_FORM, ED_FORM) or word in ("had", "been"):
            return 1
        return -1 if form in (BASE_FORM, S_FORM, PAST_FORM, ING_FORM, AM) else 0
    if wants == AFTER_BE:
        return -1 if form in (S_FORM, PAST_FORM, AM) or word in _PLURAL_VERBS else 0
    if form in (PAST_FORM, ED_FORM):
        return 1  # past tenses do not show a number
    if form not in (S_FORM, BASE_FORM, AM):
        return 0
    if word == "be":
        return -1
    if form == AM:
        return 1 if wants == FIRST else -1
    if wants == FIRST:
        if word in ("was", "wasn't"):
            return 1
        return -1 if form == S_FORM or word in ("are", "aren't") else int(word not in ("were", "weren't"))
    return 1 if (form == S_FORM) == (wants == SINGULAR) else -1


# ---- numbers of nouns

_SINGULAR_WORDS = frozenset(
    "he she it this that each either neither another everyone everybody everything anyone anybody anything "
    "someone somebody something nobody nothing one".split()
)
_PLURAL_WORDS = frozenset("we you they these those both many few several others ours theirs yours".split())
_OPEN_NOUNS = frozenset(
    "data media police staff team committee group government company family crew public audience army "
    "board series species means headquarters sheep fish deer aircraft percent majority minority rest half "
    "none pair couple variety range handful bunch set host percentage proportion total remainder amount deal "
    "trio crowd metadata criteria statistics analytics mathematics physics politics economics news dice lens "
    "chaos alias status bus api apis kubernetes windows postgres redis rails pandas devops aws ios sms "
    "us uk eu dns tls css js cs os analysis basis synopsis gas".split()
)
"""Nouns that take verbs of both numbers, or whose form does not show their number."""
_PARTS = frozenset(
    "all some most any more half rest lot lots plenty majority minority percent % bulk".split()
)
"""Words that have the number of what comes after "of"."""
_GROUPS = frozenset(
    "couple variety range handful bunch set host series pair group class team family array collection list "
    "combination mix".split()
)
_MEASURES = frozenset("hundred thousand million billion dozen hundreds thousands millions billions".split())
_SINGULAR_DETERMINERS = frozenset("a an this that each every another either neither one much".split())
_PLURAL_DETERMINERS = frozenset("these those many few several both two three four five six seven ten".split())
_PLURAL_AFTER_OF = frozenset(
    "one many several few each number couple dozens hundreds thousands both two".split()
)


def noun_number(parse: SentenceParse, noun: int) -> tuple[str, float]:
    """Return the number of a noun phrase and its confidence, from its head word."""
    word, tag = parse.words[noun], parse.tags[noun]
    conjuncts = parse.select(noun, "conj")
    if conjuncts:
        return _coordinated(parse, noun, conjuncts)
    of_phrases = [i for i in parse.select(noun, "nmod") if _is_of_phrase(parse, i)]
    inner = of_phrases[0] if of_phrases else -1
    determiners = {parse.words[i] for i in parse.select(noun, "det")}
    if word == "i":
        return FIRST, 1.0
    if word in _PARTS and inner >= 0:
        number, confidence = noun_number(parse, inner)
        return number, 0.8 * confidence
    if word == "number" and inner >= 0:
        if determiners & {"a", "an"}:
            return PLURAL, 0.9
        return (SINGULAR, 0.9) if "the" in determiners else (UNKNOWN, 0.0)
    if word in _GROUPS and inner >= 0 and parse.tags[inner] in ("NNS", "NNPS"):
        return (SINGULAR, 0.5) if "the" in determiners else (UNKNOWN, 0.0)
    if determiners & {"each", "every", "either", "neither"}:
        return SINGULAR, 0.9
    if word in _SINGULAR_WORDS or _follows_each(parse, noun):
        return SINGULAR, 0.9
    if word in _PLURAL_WORDS:
        return PLURAL, 0.95
    if word in _OPEN_NOUNS:
        return UNKNOWN, 0.0
    numbers = {"NN": (SINGULAR, 0.9), "NNS": (PLURAL, 0.95), "NNP": (SINGULAR, 0.7), "VBG": (SINGULAR, 0.6)}
    return numbers.get(tag, (UNKNOWN, 0.0))


def _coordinated(parse: SentenceParse, noun: int, conjuncts: Sequence[int]) -> tuple[str, float]:
    """Return the number of coordinated nouns and its confidence."""
    joined = {parse.words[i] for conjunct in (noun, *conjuncts) for i in parse.select(conjunct, "cc")}
    if {parse.words[i] for i in parse.select(noun, "det")} & {"each", "every", "no"}:
        return UNKNOWN, 0.0
    if joined & {"and", "&", "plus"}:
        return PLURAL, 0.8
    if joined & {"or", "nor"}:  # the verb agrees with the nearer one
        numbers = {"NN": SINGULAR, "NNP": SINGULAR, "NNS": PLURAL}
        return numbers.get(parse.tags[conjuncts[-1]], UNKNOWN), 0.6
    return UNKNOWN, 0.0


def _follows_each(parse: SentenceParse, noun: int) -> bool:
    """Return True for "them" in "neither of them" if the parser took "neither" for an adverb."""
    before = [i for i in parse.select(noun, "case") if i > 0 and parse.words[i] == "of"]
    return any(parse.words[i - 1] in ("each", "either", "neither", "one") for i in before)


def _is_of_phrase(parse: SentenceParse, noun: int) -> bool:
    """Return True if the preposition of a noun phrase is "of"."""
    return any(parse.words[i] == "of" for i in parse.select(noun, "case"))


# ---- verbs


_MISREAD = ("nmod", "appos", "dep", "amod", "flat", "parataxis")
"""Relations of a verb to a noun before it that are mistakes of the parser: the noun is its subject."""
_PREPOSITIONS = frozenset("in inside outside of with on near between behind under from at within".split())
_NOMINAL = ("NN", "PR", "DT")


def subject(parse: SentenceParse, verb: int) -> tuple[int, float]:
    """Return the subject of a verb, -1 if there is none, and how reliable it is.

    A verb after "and" takes the subject of the first one; in a relative clause the subject is the word that
    the clause describes.
    """
    predicate, reliable = parse.predicate(verb), 1.0
    for _ in range(4):  # go up over coordinated verbs
        subjects = parse.select(predicate, "nsubj", "csubj")
        if subjects:
            break
        if parse.relations[predicate] != "conj":
            expletives = parse.select(predicate, "expl")
            if expletives:
                return expletives[0], reliable
            head = parse.heads[predicate]
            is_noun = 0 <= head < verb and parse.tags[head][:2] in _NOMINAL
            if is_noun and parse.relations[predicate] in _MISREAD:
                return head, 0.5 * reliable  # the parser missed the clause
            return -1, 0.0
        if not parse.select(predicate, "cc", "punct"):
            return -1, 0.0  # not coordinated: the parser did not know what to do with the verb
        predicate, reliable = parse.heads[predicate], 0.7 * reliable
    else:
        return -1, 0.0
    head = parse.heads[predicate]
    if 0 <= head < verb and parse.tags[head][:2] in _NOMINAL:
        marks = {parse.words[i] for i in parse.select(predicate, "mark")}
        if marks & _PREPOSITIONS:
            return head, 0.5 * reliable  # "anything inside the boxes is": no clause begins with "inside"
    nearest = subjects[-1] if subjects[-1] < verb or len(subjects) == 1 else subjects[0]
    if parse.tags[nearest] in ("WDT", "WP") or (parse.words[nearest] == "that" and nearest < verb):
        antecedent = parse.heads[predicate]
        if parse.relations[predicate] == "acl:relcl" and antecedent >= 0:
            return antecedent, 0.7 * reliable
        if parse.tags[nearest] in ("WDT", "WP"):
            return -1, 0.0
    return nearest, reliable


def governor(parse: SentenceParse, verb: int) -> int:
    """Return the auxiliary or "to" that decides the form of a verb; -1 if there is none."""
    predicate = parse.predicate(verb)
    if predicate != verb and parse.relations[verb] == "cop" and parse.tags[predicate].startswith("V"):
        return -1
    before = [i for i in parse.select(predicate, "aux", "cop") if i < verb]
    before += [i for i in parse.select(predicate, "mark") if i < verb and parse.tags[i] == "TO"]
    before += [i for i in parse.select(predicate, "mark") if i == verb - 1 and parse.words[i] == "to"]
    return max(before, default=-1)


def expect_verb(parse: SentenceParse, verb: int) -> Expectation:
    """Return what is expected of the form of a verb."""
    auxiliary = governor(parse, verb)
    if auxiliary >= 0:
        word, tag = parse.words[auxiliary], parse.tags[auxiliary]
        confidence = 0.9 if verb - auxiliary <= 3 else 0.6
        if word in _BE:
            return Expectation("verb", AFTER_BE, confidence if word != "'s" else 0.2)
        if word in _HAVE:
            return Expectation("verb", PARTICIPLE, confidence)
        if word in _DO or tag == "MD" or word == "to":
            return Expectation("verb", BASE, confidence if word != "'d" else 0.2)
        return NOTHING
    at, reliable = subject(parse, verb)
    if at < 0:
        return NOTHING
    if parse.relations[at].partition(":")[0] == "csubj":
        return Expectation("verb", SINGULAR, 0.5 * reliable)
    if parse.words[at] in ("there", "here", "what", "which", "who"):
        return NOTHING
    number, confidence = noun_number(parse, at)
    predicate = parse.predicate(verb)
    marks = {parse.words[i] for i in parse.select(predicate, "mark")}
    if marks & {"if", "though", "whether", "lest"} and parse.words[verb] in ("was", "were"):
        confidence = 0.0  # "if it were"
    if at > verb:
        confidence *= 0.8
    return Expectation("verb", number, confidence * reliable)


# ---- nouns and determiners


def expect_noun(parse: SentenceParse, noun: int) -> Expectation:
    """Return which number is expected of a noun, from its determiners, "one of", and its verb."""
    if parse.relations[noun] in ("compound", "flat", "amod", "fixed") or parse.words[noun] in _MEASURES:
        return NOTHING
    before = [i for i in parse.select(noun, "det", "nummod", "amod") if i < noun]
    words = [parse.words[i] for i in before]
    # figures take a plural, but those of four or more may be a year or a code
    if any(word in _PLURAL_DETERMINERS or re.fullmatch("[2-9]|[0-9]{2,3}", word) for word in words):
        return Expectation("noun", PLURAL, 0.85)
    many = {"hundred", "thousand", "few", "million"} & {*words}
    if words and words[0] in _SINGULAR_DETERMINERS and not many:
        return Expectation("noun", SINGULAR, 0.5 if words[0] in ("that", "one") else 0.85)
    head = parse.heads[noun]
    if head >= 0 and parse.words[head] in _PLURAL_AFTER_OF and _is_of_phrase(parse, noun):
        return Expectation("noun", PLURAL, 0.8)
    if head >= 0 and parse.relations[noun].startswith("nsubj") and not parse.select(noun, "conj"):
        finite = _finite_number(parse, head)
        if finite:
            return Expectation("noun", finite, 0.5)
    return NOTHING


def _finite_number(parse: SentenceParse, predicate: int) -> str:
    """Return the number that the finite verb of a clause shows."""
    verbs = [*parse.select(predicate, "aux", "cop"), predicate]
    first = min(verbs)
    word, tag = parse.words[first], parse.tags[first]
    if word in _SINGULAR_VERBS or tag == "VBZ":
        return SINGULAR
    return PLURAL if word in _PLURAL_VERBS or tag == "VBP" else UNKNOWN


def noun_form(word: str, other: str, tag: str) -> str:
    """Return the number that a noun shows, or that it shows beside another form of the same noun."""
    if adds_s(word, other):
        return PLURAL
    if adds_s(other, word):
        return SINGULAR
    return {"NN": SINGULAR, "NNS": PLURAL}.get(tag, UNKNOWN) if word not in _OPEN_NOUNS else UNKNOWN


def determiner_number(word: str) -> str:
    """Return the number that a determiner wants."""
    if word in _SINGULAR_DETERMINERS:
        return SINGULAR
    return PLURAL if word in _PLURAL_DETERMINERS else UNKNOWN


def expect_determiner(parse: SentenceParse, determiner: int) -> Expectation:
    """Return which number is expected of a determiner, from its noun."""
    noun = parse.heads[determiner]
    if noun <= determiner or parse.relations[determiner] not in ("det", "amod", "det:predet"):
        return NOTHING
    between = {parse.words[i] for i in parse.children[noun] if determiner < i < noun}
    quantities = between & {"few", "many", "much", "hundred", "thousand", "million", "couple", "dozen"}
    if quantities or parse.words[noun] in _OPEN_NOUNS:
        return NOTHING
    number = {"NN": SINGULAR, "NNS": PLURAL, "NNP": SINGULAR}.get(parse.tags[noun], UNKNOWN)
    return Expectation("determiner", number, 0.7 if parse.tags[noun] == "NNP" else 0.85)
