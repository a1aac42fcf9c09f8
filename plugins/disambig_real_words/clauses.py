"""What stands before or after a verb or a genitive in its clause and shows that its form is right.

These are patterns of characters, not of words: they look back over the clause, whatever its words are. Markup
that is hidden between the words is left out before they are applied, since a link can be long. `before` is
the text before a word as `clause_before` returns it, because several patterns are searched in it.
"""

from __future__ import annotations

import re

from disambig.api.text import CODE_SIGNS, HIDDEN

_SUBJUNCTIVE_OPENERS = (
    r"(?:recommend|suggest|insist|demand|request|ask)(?:s|ed|ing)?|(?:require|propose|urge)[sd]?|prefer(?:s|red)?"
    "|important|necessary|essential|vital|crucial|critical|imperative|desirable|advisable|preferable|mandatory"
)
_DETERMINERS = (
    "a an the this these those all each every any some no both many few several most other another my your "
    "his her its our their such two three four"
).split()
_VERBS = (
    "is are was were be been being has have had do does did will would can could may might must shall should"
).split()
_CONJUNCTIONS = "that which who whom when where if because".split()
_CLAUSE_WORD = r"[^\s,;:!?]*[^\s.,;:!?]\s+"
"""A word that no punctuation follows, with the blank after it; it may contain a stop, as "file.txt" does."""
# "recommended that", possibly "... and that" in the same sentence, and at the end of the text a subject of up
# to seven words without a verb or conjunction, the last of which, its head, is no determiner.
_SUBJUNCTIVE = re.compile(
    rf"\b(?:{_SUBJUNCTIVE_OPENERS})\s+that\s+(?:[^.;:!?]*?\b(?:and|or|but)\s+that\s+)?"
    rf"(?:(?!(?:{'|'.join(_VERBS + _CONJUNCTIONS)})\b){_CLAUSE_WORD}){{0,6}}"
    rf"(?!(?:{'|'.join(_DETERMINERS + _VERBS + _CONJUNCTIONS)})\b){_CLAUSE_WORD}\Z",
    re.IGNORECASE,
)
_ANOTHER_VERB = re.compile(rf"\s+(?:{'|'.join(_VERBS)})\b", re.IGNORECASE)
_LONGEST_CLAUSE = 160
"""Maximum number of visible characters before a verb in which its clause is looked for."""
_NEAR, _REACH = 200, 2_000
"""Numbers of characters, with hidden ones, in which the clause is looked for: first, and at most."""
_PARAGRAPH_END = re.compile(r"\u2029|\n[ \t]*\r?\n")
_CUT = "-"
"""Stands for what was before, so that the rest is not taken for a beginning."""
# a pattern that begins with a set of characters is found faster than one with alternatives
_HIDDEN_RUN = re.compile(
    rf"([\s{HIDDEN}{CODE_SIGNS}])(?:(?<=[\s{HIDDEN}])[\s{HIDDEN}]+|(?<=[{CODE_SIGNS}])[{CODE_SIGNS}]+)"
)


def clause_before(text: str, start: int) -> str:
    """Return the visible characters of a paragraph before an offset, in which hidden code is one sign."""
    for reach in (_NEAR, _REACH):  # hidden characters are rare: the whole reach is seldom needed
        first = max(0, start - reach)
        *ended, before = _PARAGRAPH_END.split(text[first:start])
        before = _HIDDEN_RUN.sub(r"\1", before)
        if len(before) > _LONGEST_CLAUSE:
            return f"{_CUT}{before[-_LONGEST_CLAUSE:]}"
        if ended or not first:
            break
    return before


def may_be_subjunctive(before: str, text: str, end: int) -> bool:
    """Return True if a verb that ends at an offset needs no ending, whatever its subject is.

    After "it is important that" and "we suggest that", a verb has its base form: "that each file have a
    name, and that it be closed". A word after which another verb stands is not the verb: "that each files are
    closed".
    """
    if "that" not in before.lower():  # which saves most searches
        return False
    return bool(_SUBJUNCTIVE.search(before)) and not _ANOTHER_VERB.match(text, end)


# "if" or "as though", and a subject of up to six words without a verb or conjunction
_UNREAL_PAST = re.compile(
    rf"\b(?:if|though|unless|wish(?:es|ed)?|suppose|supposing|imagine)\s+(?:that\s+)?"
    rf"(?:(?!(?:{'|'.join(_VERBS + _CONJUNCTIONS)})\b){_CLAUSE_WORD}){{1,6}}\Z",
    re.IGNORECASE,
)


def is_unreal_past(before: str) -> bool:
    """Return True if "were" after a clause may be about what is not so: "as if each file were empty"."""
    return bool(_UNREAL_PAST.search(before))


# what follows "If" up to a comma; stops and colons inside belong to names such as "file.txt"
_OPENING_CLAUSE = re.compile(
    r"\b(?:If|When|Unless|Once|Otherwise|By default)\b(?:[^.:;!?]|[.:](?=\S))*,\s+\Z"
)


def follows_opening_clause(before: str) -> bool:
    """Return True if the next word follows the comma of a clause such as "If none is given,"."""
    return bool(_OPENING_CLAUSE.search(before))


# "than the", and up to two words before the genitive
_COMPARISON = re.compile(
    r"\b(?:than|above|below|beyond|(?:beat|equal|exceed|outperform|surpass)s?|match(?:es)?|resembles?|unlike)\s+"
    r"(?:the|an?|my|your|his|her|our|their|this|that|any|each|every)\s+(?:[\w-]+\s+){0,2}\Z",
    re.IGNORECASE,
)
# words that do not begin a noun, so that the genitive before them lacks its noun
_AFTER_COMPARED = re.compile(
    r"\s+(?:in|on|for|by|at|over|across|under|with|without|when|while|if|because|and|or|but|is|are|was|were|"
    r"does|do|did|has|have|had|can|could|will|would)\b",
    re.IGNORECASE,
)
# "and the other's fields"
_ANOTHER_GENITIVE = re.compile(
    r"\s+(?:and|or)\s+(?:(?:the|an?|my|your|his|her|its|our|their)\s+)?[^\W\d_]+(?:['\u2019]s|s['\u2019])\s+\w",
    re.IGNORECASE,
)
_LONGEST_COMPARISON = 80
"""Maximum number of characters before a genitive in which a comparison is looked for."""


def may_be_elliptical(text: str, start: int, end: int) -> bool:
    """Return True if a genitive at an offset may lack its noun.

    It is one side of a comparison, and no noun follows: "better than the author's in all cases". Or another
    genitive follows that has the noun of both: "this object's and the other's fields".
    """
    if _ANOTHER_GENITIVE.match(text, end):
        return True
    before = text[max(0, start - _LONGEST_COMPARISON) : start]
    return bool(_AFTER_COMPARED.match(text, end) and _COMPARISON.search(before))


# Two to six words with a capital, small words between them, of which the last ends in "s". The first is none
# of the words that begin sentences.
_TITLE = re.compile(
    r"(?<![^\s(\"'])(?!(?:A|All|Although|An|And|As|At|Because|Both|But|By|Each|For|From|His|Her|How|If|In|Its|Many|Most|My|"
    r"On|Our|Since|So|Some|That|The|Their|These|This|Those|Though|To|Unless|What|When|Where|Which|While|With|"
    r"Your)\s)[A-Z][\w'-]*\s+(?:(?:(?:and|of|the|for|to|in|with|[A-Z][\w'-]*)\s+){0,4})[A-Z][\w'-]*s\s+\Z"
)
# one word with a capital within a sentence, after a comma or a conjunction
_NAME = re.compile(
    r"(?:,|\b(?:and|as|because|but|how|if|since|so|that|though|unless|until|when|where|whether|while))\s+"
    r"[A-Z][a-z]+s\s+\Z"
)


def is_after_title(before: str) -> bool:
    """Return True if the next verb follows a title or name: "Resource Requirements describes".

    The name of a chapter, of a menu or of a program is singular even if its last word is a plural. A single
    word with a capital counts as a name within a sentence only: "Note that Bricks uses it".
    """
    return bool(_TITLE.search(before) or _NAME.search(before))


_CLAUSE_START = (
    r"(?:\A|[.;:!?,(]\s+|\b(?:if|when|because|that|but|and|so|since|while|whether|where|unless|until)\s+)"
)
_PREPOSITIONS = "of from for in on to with between by about at against into over under through across within"
_ARTICLES = "the a an this that each every any no its their our your my his her these those all both".split()
_NO_VERB = rf"(?!(?:{'|'.join(_VERBS + _CONJUNCTIONS)})\b)"
# At the start of a clause a determiner, up to two adjectives, the head, possibly a participle ("the files
# listed"), a preposition, and up to eight words without a verb or conjunction, or another noun after "and".
_HEAD = re.compile(
    rf"{_CLAUSE_START}(?P<determiner>{'|'.join(_ARTICLES)})\s+"
    rf"(?:(?!(?:{'|'.join(_PREPOSITIONS.split() + _VERBS + _CONJUNCTIONS)}|and|or)\b)[\w'-]+\s+){{0,2}}?"
    rf"(?P<head>(?![\w'-]+ed\s)[\w'-]+)\s+(?:[\w'-]+ed\s+)?(?:{'|'.join(_PREPOSITIONS.split())})\s+"
    rf"(?:{_NO_VERB}(?!(?:and|or)\s+(?:{'|'.join(_ARTICLES)})\b)[^\s,;:!?]*[^\s.,;:!?],?\s+){{1,8}}\Z",
    re.IGNORECASE,
)
_QUANTITIES = frozenset(
    "number lot couple majority minority variety bunch group set series range handful pair total host rest"
    " half part percentage proportion fraction plethora multitude collection list any all some most none each"
    " kind sort type".split()
)
_SINGULAR_ENDINGS = ("ss", "us", "is", "ics", "news")
_SINGULAR_VERBS = frozenset("is was has does".split())
_PLURAL_VERBS = frozenset("are were have do".split())


def agrees_with_head(before: str, verb: str) -> bool:
    """Return True if the next verb agrees with the first noun of its subject.

    Behind "the result of all lookups", "is" is right, although a plural stands next to it. Nothing is said of
    words of quantity such as "a number of files", and of subjects that are joined by "and".
    """
    match = _HEAD.search(before)
    if match is None or (head := match["head"].lower()) in _QUANTITIES:
        return False
    is_plural = head.endswith("s") and not head.endswith(_SINGULAR_ENDINGS)
    return verb in (_PLURAL_VERBS if is_plural else _SINGULAR_VERBS)


_ABBREVIATION = re.compile(r"\b[Tt]he\s+([A-Z]{2,6})\s+\Z")
_THINGS = frozenset(
    "AI API APIS ASCII BIOS CD CI CLI CPU CSS CSV DB DNS DOM DVD FAQ FTP GC GPS GPU GUI HTML HTTP HTTPS "
    "ID IDE IO IP ISO JIT JSON JVM JWT LAN LCD LED ML NAT ORM OS PC PDF PHP PID PIN PNG PR RAM REPL REST "
    "RFC ROM RPC RSS SDK SHA SMS SQL SSD SSH SSL SVG TCP TLS TTL TTY TV UDP UI UID URI URL USB UTC UTF "
    "UUID UX VM VPN WWW XML YAML".split()
)
"""Abbreviations of things; other ones with an article are mostly those of organisations."""


def is_after_organisation(before: str) -> bool:
    """Return True if the next verb follows an organisation, which may be plural: "the SWP continue to argue".

    British English takes organisations for the people in them.
    """
    match = _ABBREVIATION.search(before)
    return match is not None and match[1] not in _THINGS


# At the start of a clause a word in -ing, its object (with a determiner, or a capital), and more words
# without a verb or conjunction.
_GERUND = re.compile(
    rf"{_CLAUSE_START}[a-z]+ing\s+(?:(?:{'|'.join(_ARTICLES)}|multiple|several|two|more)\s+|(?-i:(?=[A-Z])))"
    rf"(?:{_NO_VERB}{_CLAUSE_WORD}){{1,6}}\Z",
    re.IGNORECASE,
)


def has_gerund_subject(before: str) -> bool:
    """Return True if the subject of the next verb is a gerund: "when sending the files is allowed"."""
    return bool(_GERUND.search(before))
