"""Words that classify corrections in a language, such as articles, and words of commit messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

Pair = frozenset[str]


def _pairs(text: str) -> frozenset[Pair]:
    return frozenset(frozenset(pair.split("/")) for pair in text.split())


@dataclass(frozen=True)
class CorrectionWords:
    """The words of a language by which corrections are classified."""

    language: str  # ISO 639-1 code
    articles: frozenset[str]
    prepositions: frozenset[str]
    agreement: frozenset[Pair]  # forms that agree in number with another word, such as is/are
    forms: frozenset[Pair]  # other forms of one word that do not differ only in their endings, such as is/was
    endings: frozenset[str]  # endings of inflected and derived words, including ""
    taste: frozenset[Pair]  # prepositions that writers may exchange without a mistake
    opposites: frozenset[Pair]  # words whose exchange changes the meaning
    not_words: frozenset[str]  # numbers, days and months, whose exchange changes the meaning
    # substitutions that turn spelling variants of a word into one spelling
    variants: tuple[tuple[str, str], ...]
    # words in messages of commits that correct something, and of commits that correct language
    says_fix: re.Pattern[str]
    says_language: re.Pattern[str]

    @cached_property
    def _variant_patterns(self) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(pattern), replacement) for pattern, replacement in self.variants]

    def are_variants(self, first: str, second: str) -> bool:
        """Return True if two words in lower case are spellings of the same word."""
        return self._normal_spelling(first) == self._normal_spelling(second)

    def _normal_spelling(self, word: str) -> str:
        for pattern, replacement in self._variant_patterns:
            word = pattern.sub(replacement, word)
        return word


ENGLISH = CorrectionWords(
    language="en",
    articles=frozenset(("a", "an", "the")),
    prepositions=frozenset(
        """
        about across after against along among around as at before behind beside between by down during
        except for from in inside into of off on onto outside over per since than through to toward towards
        under until up upon with within without
        """.split()
    ),
    agreement=_pairs(
        """
        is/are was/were has/have do/does isn't/aren't wasn't/weren't hasn't/haven't don't/doesn't this/these
        that/those that/these this/those it/they its/their it's/they're am/are am/is much/many
        themself/themselves
        """
    ),
    forms=_pairs(
        """
        is/was are/were are/was is/were be/is be/are be/was be/were be/been be/being being/is been/is been/was
        been/were being/are being/been being/was has/had have/had having/have has/having do/did does/did
        done/did does/done doing/do go/went gone/went go/gone going/went build/built send/sent sends/sent
        spend/spent lend/lent know/known knew/known know/knew run/ran show/shown showed/shown write/wrote
        wrote/written write/written give/gave gave/given give/given take/took took/taken take/taken
        make/made makes/made see/saw saw/seen see/seen get/got gets/got come/came becomes/became
        become/became find/found finds/found think/thought understand/understood keep/kept say/said
        catch/caught catched/caught hold/held holding/held begin/began began/begun begin/begun choose/chosen
        chose/chosen choosing/chosen break/broke broke/broken break/broken speak/spoke spoke/spoken
        drive/drove drove/driven hide/hid hid/hidden forget/forgot forgot/forgotten leave/left lose/lost
        mean/meant teach/taught bring/brought buy/bought sell/sold tell/told stand/stood lead/led feed/fed
        life/lives good/well better/best worse/worst people/persons person/people child/children
        """
    ),
    endings=frozenset(
        """
         s es d ed t ing n en r er or st est ly al ial ally ically ment ments ion ions ation able ible ful
        fully ness ity ive y ies ied ier ily e ance ence ant ent ise ize
        """.split()
    )
    | {""},
    taste=_pairs(
        """
        at/in in/of by/with in/with from/of about/of in/within about/on on/upon as/since in/under during/in
        by/through among/between toward/towards in/inside as/for on/over inside/within over/through
        through/with about/around by/per over/than onto/to into/to across/over for/since
        """
    ),
    opposites=_pairs(
        """
        with/without before/after up/down in/out on/off over/under above/below inside/outside to/from
        into/from since/until left/right can/can't will/won't do/don't does/doesn't is/isn't are/aren't
        was/wasn't and/or all/any all/some more/less old/new first/last next/previous true/false yes/no
        enable/disable enabled/disabled enables/disables input/output upper/lower min/max local/remote
        server/client import/export imports/exports encode/decode public/private valid/invalid
        could/couldn't should/shouldn't would/wouldn't has/hasn't have/haven't he/she his/her him/her
        his/their he/they him/them her/their she/they may/must can/may can/must should/must
        """
    ),
    not_words=frozenset(
        """
        zero one two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand
        million second third fourth fifth monday tuesday wednesday thursday friday saturday sunday january
        february march april june july august september october november december jan feb mar apr jun jul
        aug sep sept oct nov dec
        """.split()
    ),
    variants=(
        (r"^gray", "grey"),
        (r"our(?=$|s$|ed$|ing$|ite|ful|able|al$|less)", "or"),
        (r"is(?=e$|es$|ed$|ing$|er$|ers$|ation|able)", "iz"),
        (r"ys(?=e$|es$|ed$|ing$|er$|ers$)", "yz"),
        (r"(?<=[bct])re(?=$|s$|d$)", "er"),
        (r"(?<=[aeiou])ll(?=ed$|ing$|er$|ers$|or$)", "l"),
        (r"ogue(?=$|s$)", "og"),
        (r"dgement", "dgment"),
        (r"(?<=[fn])ence(?=$|s$)", "ense"),
        (r"(?<=program)mes?$", ""),
        (r"^(?=enquir)e", "i"),
        (r"(?<=(?:amid|mong|hils))t$|(?<=whil)st$|(?<=among)st$", ""),
    ),
    says_fix=re.compile(
        r"\b(?:(?:bug|hot|doc)?fix\w*|correct\w*|mistakes?|errors?|wrong\w*|repair\w*|amend\w*|clean\w*)\b",
        re.IGNORECASE,
    ),
    says_language=re.compile(
        r"\b(?:typos?|gramm[ae]\w*|spell\w*|mis-?spel\w*|wording|re-?word\w*|phrasing|re-?phras\w+|"
        r"proof-?read\w*|copy-?edit\w*|punctuation|english|nits?|nitpicks?|plurals?|apostrophes?|"
        r"(?:fix|correct|improve|better|polish)\w*\W+(?:\w+\W+){0,3}(?:words?|language|articles?|prose|sentences?))\b",
        re.IGNORECASE,
    ),
)
LANGUAGES = {ENGLISH.language: ENGLISH}
"""The languages in which corrections can be mined."""
