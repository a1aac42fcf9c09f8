"""Words that a document uses as its own: names in its code, and words that it repeats.

A word such as *exit* or *decimals* is rare in prose, so that a model prefers a more frequent word that looks
like it. In a document whose code has the same name, or that uses the word again and again, the word is most
likely meant.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from disambig.markup import PlainText

SURE = 0.9
"""Flags of a document's own words are kept from this probability on."""
OFTEN, TIMES = 5, 4
"""A word is repeated if it stands at least so many times, and so many times as often as its replacement."""
_SAME_STEM = 4
"""Words that begin with so many equal letters may be forms of one word, and people repeat wrong forms."""
_NAME = re.compile(r"[^\W\d_]\w*")
_WORD = re.compile(r"[^\W\d_]+")
_NAME_BEFORE = re.compile(r"(?<!\w)_*([^\W\d_]\w*s_*)[*`]*\s+\Z")
_LONGEST_NAME = 80
_NUMBERED = frozenset(
    "is are was were has have does do isn't aren't wasn't weren't hasn't haven't doesn't don't".split()
)
"""Verbs whose form says whether their subject is one thing or several."""
_MARKUP = ("](", "<", "&", "---", "+++")
"""Hidden text that begins so is markup or an address, and not code."""
_COMMON = frozenset(
    """
    a about after all also an and another any are as at be because been before being between both but by can
    could did do does done down each either else every few first for from get gets given good had has have he
    her here him his how however i if in into is it its just least less like made make makes many may me might
    more most much must my need needs neither new next no nor not now of off often on once one only or other
    our out over own per same see set she should since so some such take than that the their them then there
    these they this those through to too two under until up us use used uses using very was we well were what
    when where whether which while who whose why will with within without would yet you your
    """.split()
)
"""Words so common in prose that neither a name in code nor repetition says anything about them."""


class DocumentWords:
    """The words that stand in the code of a document, and how often each word stands in its prose.

    Parameters
    ----------
    text : str
        The text of the file.
    plain : PlainText
        The same text without markup.
    project_names : collection of str
        Names of the project, in lower case.
    """

    def __init__(self, text: str, plain: PlainText, project_names: Collection[str] = ()) -> None:
        self._text, self._plain, self._project_names = text, plain, project_names

    @cached_property
    def names(self) -> frozenset[str]:
        """Names in the hidden text that is neither a comment, nor markup, nor an address."""
        names: set[str] = set()
        for hidden in self._hidden():
            if not hidden.startswith(_MARKUP) and "://" not in hidden:
                names.update(_NAME.findall(hidden))
        return frozenset(name for name in names if name.lower() not in _COMMON)

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each word stands in the prose, in lower case."""
        return Counter(_WORD.findall(self._plain.text.lower()))

    def is_own(self, observed: str, replacement: str, end: int) -> bool:
        """Return True if a flagged word is the document's own, or the word before which one is missing.

        Parameters
        ----------
        observed, replacement : str
            The written word and its replacement, "" for no word.
        end : int
            Offset at which the written word ends.
        """
        if observed:
            # Joined words (setup, login) are names in code whatever prose needs.
            joined = replacement.replace(" ", "") == observed or "'" in observed + replacement
            if joined:
                return False
            word = observed.lower()
            return observed in self.names or word in self.names or self._is_repeated(word, replacement)
        following = _WORD.search(self._plain.text, end, end + 100)
        return following is not None and following[0] in self.names

    def is_behind_plural_name(self, observed: str, replacement: str, end: int) -> bool:
        """Return True if a correction only changes the number of a verb after a name that ends in "s".

        Behind a name in the document's code, such as ``options``, which may be singular or plural, only verbs
        such as "is" are considered. Behind the name of the project, such as "pandas", which is singular, all
        verbs are.

        Parameters
        ----------
        observed, replacement : str
        end : int
            End of the verb in the text.
        """
        start = end - len(observed)
        before = _NAME_BEFORE.search(self._plain.text[max(0, start - _LONGEST_NAME) : start])
        if before is None:
            return False
        if before[1].lower() in self._project_names:
            is_number = observed.removesuffix("s").removesuffix("e") == replacement.removesuffix("e")
            return is_number or observed.lower() in _NUMBERED
        return before[1] in self.names and observed.lower() in _NUMBERED

    def _is_repeated(self, word: str, replacement: str) -> bool:
        other = replacement.lower()
        if word in _COMMON or word[:_SAME_STEM] == other[:_SAME_STEM]:
            return False
        return self.counts[word] >= max(OFTEN, TIMES * self.counts[other])

    def _hidden(self) -> Iterator[str]:
        """Yield the stretches of text that are not prose, without comments."""
        text, plain = self._text, self._plain.text
        if text == plain:
            return
        comments = iter((*self._plain.comments, (len(text), len(text))))
        at = 0
        for start, end in comments:
            yield from _differing(text, plain, at, start)
            at = max(at, end)


def _differing(text: str, plain: str, start: int, end: int) -> Iterable[str]:
    """Yield the stretches of ``text[start:end]`` that another text of the same length does not have."""
    begin = -1
    for i in range(start, end):
        if text[i] == plain[i]:
            # blanks are equal in both, and do not end a stretch by themselves
            if begin >= 0 and not text[i].isspace():
                yield text[begin:i]
                begin = -1
        elif begin < 0:
            begin = i
    if begin >= 0:
        yield text[begin:end]
