"""The tokenisation `web1t.v1`: the conventions of Google's Web 1T 5-gram counts. English only.

As the Penn Treebank has it, with the exceptions that Web 1T names:

* case is kept, numbers are kept as they are;
* clitics are words: ``it 's``, ``ca n't``, ``we 'll``; ``cannot`` is ``can not``;
* hyphenated words are split at the hyphen, which is a word; numbers joined by ``. , : / -`` are one;
* addresses (URL, e-mail) are one word; ``--`` and ``...`` are one, other punctuation is single;
* a full stop belongs to an abbreviation inside a sentence (``Mr.``) and to initials (``U.S.``), and
  is a word at a sentence's end;
* curly quotes and apostrophes become straight ones.

Sentences are those of `disambig.words.v1`. A word of more than 255 bytes has the hash `UNKNOWN`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from disambig.text import characters as ch
from disambig.text.hashing import UNKNOWN, hash_word
from disambig.text.tokenisations import words_reference
from disambig.text.view import END_HASH, SENTENCE_END, SENTENCE_START, START_HASH, TokenView

_PLAIN = str.maketrans("\u2018\u2019\u201b\u02bc\u201c\u201d\u201e\u201f", "''''\"\"\"\"")
_CLITIC = re.compile("(?<=.)(?:n't|'(?:s|re|ve|ll|d|m))$", re.IGNORECASE)
_CANNOT = re.compile("(can)(not)", re.IGNORECASE)


@functools.cache
def _pattern() -> re.Pattern[str]:
    word = (
        "["
        + ch.character_set(ch.PLANE_0, ch.DIGIT, ch.LETTER, ch.UPPER, ch.CASELESS)
        + "\U00010000-\U0003ffff]"
    )
    space = "[" + ch.character_set(ch.PLANE_0, *range(ch.LAST_SPACE + 1)) + "]"
    address = (
        '(?:[A-Za-z][A-Za-z0-9+.-]{1,20}://|www\\.)[^\\s<>"]*[^\\s<>".,;:!?)\\]\']'
        "|[\\w.+-]{1,64}@[\\w-]{1,64}(?:\\.[\\w-]{1,64})+"
    )
    number = "\\d+(?:[.,:/-]\\d+)+(?!{word})".replace("{word}", word)
    initials = "(?:(?<!{word})[^\\W\\d_]\\.){2,}".replace("{word}", word)
    plain = f"{word}+(?:'{word}+)*"
    last = "(?=[)\\]}\"']*\\Z)"  # a full stop there ends the sentence
    return re.compile(
        f"{address}|{number}|{initials}|{plain}(?:\\.(?!{last}|\\.|{word}))?|--+|\\.\\.+|(?!{space}).",
        re.DOTALL,
    )


def _cut(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each word of one sentence, quotes already plain."""
    for match in _pattern().finditer(text):
        start, end = match.span()
        cannot = _CANNOT.fullmatch(match[0])
        cuts = [start + 3] if cannot else []
        stop = end
        while "'" in match[0]:
            clitic = _CLITIC.search(text[start:stop])
            if not clitic:
                break
            stop = start + clitic.start()
            cuts.insert(0, stop)
        for cut in cuts:
            yield start, cut
            start = cut
        yield start, end


@dataclass(frozen=True, slots=True)
class Web1T:
    """Cut English texts into words as Web 1T has them (see the module)."""

    name: ClassVar[str] = "web1t.v1"

    def __call__(self, texts: Sequence[str]) -> TokenView:
        """Return the words of `texts`, one document each."""
        hashes: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        sentences = [0]
        documents = [0]
        for text in texts:
            for start, end in _sentences(text):
                spans = list(_cut(text[start:end].translate(_PLAIN)))
                hashes += [START_HASH, *(_hash(text[start + a : start + b]) for a, b in spans), END_HASH]
                starts += [start, *(start + a for a, _ in spans), end]
                ends += [start, *(start + b for _, b in spans), end]
                sentences.append(len(hashes))
            documents.append(len(hashes))
        return TokenView(
            self.name,
            texts,
            np.array(hashes, dtype=np.uint64),
            np.array(starts, dtype=np.int32),
            np.array(ends, dtype=np.int32),
            np.array(sentences, dtype=np.int64),
            np.array(documents, dtype=np.int64),
        )

    def words(self, text: str) -> list[str]:
        """Return the words of one text, boundary words included."""
        found = []
        for start, end in _sentences(text):
            sentence = text[start:end].translate(_PLAIN)
            found += [SENTENCE_START, *(sentence[a:b] for a, b in _cut(sentence)), SENTENCE_END]
        return found


def _sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence of `text` starts and ends, without the space around it."""
    _, starts, ends, sentences, _ = words_reference.tokenise(text, np.zeros(1, dtype=np.int64))
    return list(zip(starts[sentences[:-1]].tolist(), ends[sentences[1:] - 1].tolist(), strict=True))


def _hash(raw: str) -> int:
    word = raw.translate(_PLAIN).encode("utf8", "surrogatepass")
    return hash_word(word) if len(word) <= words_reference.LONGEST else UNKNOWN
