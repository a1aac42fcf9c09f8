"""Sentences with mistakes and without, for training: made mistakes, and those that people corrected."""

from __future__ import annotations

import json
import random
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from disambig_encoder.pieces import SENTENCE_END, WordPieces, sentence_around, split_words
from network import CLS, MISSING_BEFORE, NOTHING, RIGHT, SEP, SUPERFLUOUS, WRONG

from disambig.experiments import text_lines

MIN_WORDS, MAX_WORDS, MAX_PIECES = 5, 56, 80
IGNORED = -100
"""Label of pieces that have none."""

ARTICLES = ("the", "a", "an")
PREPOSITIONS = "of in to for on with at by from about into as over after through between under".split()
SMALL_WORDS = frozenset(
    "to be is are was were have has had it that will would can could do does not and or been there they we "
    "you i he she them their its this which who so if than then also up out".split()
)
_VOCABULARIES = {"article": ARTICLES, "preposition": PREPOSITIONS, "small": SMALL_WORDS}
DOMAINS = {
    "manuals": 6, "guides": 5, "essays": 5, "technical": 5, "encyclopedic": 3, "textbooks": 2,
    "government": 3, "health": 2, "mixed": 4, "science": 0.6, "speeches": 0.6, "fiction": 0.25,
}  # fmt: skip
"""Relative weight of a paragraph of each domain."""
WORDS_BEFORE, WORDS_AFTER = 28, 26
"""Maximum number of words around a place, as `disambig_encoder.Encoder` reads them."""


@dataclass(slots=True)
class Example:
    """A sentence as written and as corrected, in word pieces.

    `labels` says of each piece of the text as written what is wrong; `places` and `right_places` are the
    pieces at which each mistake shows, before and after. `targets` is the piece that should stand there
    (`gaps`: before it) in the text as written.
    """

    ids: list[int]
    labels: list[int]
    places: list[int]
    right_ids: list[int]
    right_labels: list[int]
    right_places: list[int]
    targets: list[int]
    gaps: list[bool]
    weight: float = 1.0
    real: bool = False


@dataclass(slots=True)
class Edit:
    """At word `start` of the right sentence, `n` words stand as `wrong` in the sentence with mistakes."""

    start: int
    n: int
    wrong: list[str]


def build_example(right: list[str], edits: list[Edit], pieces: WordPieces) -> Example | None:
    """Return the example of a right sentence and its mistakes; None if it is too long.

    A word that is missing shows at what follows it: the next word, or the end of the sentence.
    """
    example = Example([CLS], [IGNORED], [], [CLS], [IGNORED], [], [], [])
    ids, labels, right_ids, right_labels = (
        example.ids, example.labels, example.right_ids, example.right_labels
    )  # fmt: skip
    by_start = {edit.start: edit for edit in edits}
    missing: int | None = None  # first piece of a word that is missing before the next one

    def mark(target: int, is_gap: bool) -> None:
        example.places.append(len(ids))
        example.targets.append(target)
        example.gaps.append(is_gap)

    def write(new: list[int], label: int) -> None:
        nonlocal missing
        if missing is not None:
            mark(missing, True)
            label, missing = MISSING_BEFORE, None
        ids.extend(new)
        labels.extend([label] + [IGNORED] * (len(new) - 1))

    def write_right(new: list[int], label: int = RIGHT) -> None:
        right_ids.extend(new)
        right_labels.extend([label] + [IGNORED] * (len(new) - 1))

    i = 0
    while i <= len(right):
        edit = by_start.get(i)
        if edit is None:
            if i < len(right):
                write(pieces(right[i]), RIGHT)
                write_right(pieces(right[i]))
            i += 1
            continue
        example.right_places.append(len(right_ids))
        old = [pieces(word) for word in right[i : i + edit.n]]
        for new in old:
            write_right(new)
        if edit.wrong:
            mark(old[0][0] if old else NOTHING, False)
            first, *rest = map(pieces, edit.wrong)
            write(first, WRONG if edit.n else SUPERFLUOUS)
            for new in rest:  # only the first word of a mistake has a label
                write(new, IGNORED)
        else:
            missing = old[0][0]
        if edit.n == 0:
            by_start.pop(i)  # the word before which it stands is next
        i += edit.n
    write([SEP], RIGHT)
    write_right([SEP])
    if max(len(ids), len(right_ids)) > MAX_PIECES or len(example.places) != len(example.right_places):
        return None
    return example


def is_kept_back(repo: str) -> bool:
    """Return True for the third of the projects whose `train2` is kept for what uses the encoder's scores."""
    return zlib.crc32(repo.encode()) % 3 == 0


def read_fixes(data: Path, name: str) -> Iterator[dict]:
    """Yield the rows of both training parts, without the projects of `train2` that are kept back."""
    for split in ("train", "train2"):
        for row in map(json.loads, text_lines(data / f"labelled/fixes/{name.format(split)}.jsonl.xz")):
            if split == "train" or not is_kept_back(row["repo"]):
                yield row


def real_example(row: dict, pieces: WordPieces) -> Example | None:
    """Return the example of a corrected mistake of `labelled/fixes`."""
    before, old, new, after = proposal_words({**row, "text": row["before"]})
    example = build_example([*before, *new, *after], [Edit(len(before), len(new), old)], pieces)
    if example is not None:
        example.weight = 1.0 if row["tier"] == 1 else 0.5
        example.real = True
    return example


def proposal_words(row: dict) -> tuple[list[str], list[str], list[str], list[str]]:
    """Return the words before a proposed correction, the words written and proposed, and those after it."""
    text, start, end = row["text"], row["start"], row["end"]
    left, right = sentence_around(text, start, end)
    before = split_words(text[left:start])[-WORDS_BEFORE:]
    after = split_words(text[end:right])[:WORDS_AFTER]
    return before, split_words(text[start:end]), split_words(row["new"]), after


def proposal_example(row: dict, pieces: WordPieces) -> Example | None:
    """Return the example of a correction that models propose for a right sentence: corrected, it is wrong.

    Some of these corrections are right. An example counts less, the more certain the models are.
    """
    before, old, new, after = proposal_words(row)
    if not old and not new:
        return None
    example = build_example([*before, *old, *after], [Edit(len(before), len(old), new)], pieces)
    if example is not None:
        example.weight = 0.7 * (1 - row["p"])
    return example


KINDS = {
    "observed": 30, "form": 22, "slip": 5, "derived": 3, "possessive": 2,
    "drop article": 9, "add article": 5, "other article": 4,
    "drop preposition": 5, "other preposition": 6, "add preposition": 2,
    "drop small": 4, "add small": 1.5, "double": 1.5,
}  # fmt: skip
"""Relative frequency of each kind of made mistake: as people's, with a share of learners'."""


@dataclass
class MistakeMaker:
    """Makes mistakes as people make them."""

    pieces: WordPieces
    relations: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    observed: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    frequency: Counter = field(default_factory=Counter)

    @classmethod
    def from_files(cls, pieces: WordPieces, relation_file: Path, fixes: list[dict]) -> MistakeMaker:
        """Read the related words of the language, and what people wrote for what they meant."""
        maker = cls(pieces)
        relations: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for line in relation_file.read_text("utf8").splitlines():
            relation, _, words = line.partition("\t")
            for word in (listed := words.split()):
                relations[relation][word] += [other for other in listed if other != word]
        maker.relations = {name: dict(words) for name, words in relations.items()}
        pairs: dict[str, Counter] = defaultdict(Counter)
        for row in fixes:
            if row["old"] and row["new"] and row["class"] != "doubled":
                pairs[row["new"].lower()][row["old"].lower()] += 2 if row["tier"] == 1 else 1
        maker.observed = {word: list(olds.items()) for word, olds in pairs.items() if " " not in word}
        return maker

    def sentence(self, words: list[str], rng: random.Random) -> Example | None:
        """Return a right sentence with one to three mistakes."""
        lower = [word.lower() for word in words]
        n = 1 + (rng.random() < 0.4) + (len(words) > 14 and rng.random() < 0.25)
        edits: list[Edit] = []
        kinds, weights = list(KINDS), list(KINDS.values())
        for _ in range(3 * n):  # some tries fail: mistakes must not touch each other
            edit = self._edit(rng.choices(kinds, weights)[0], words, lower, rng)
            if edit is None:
                continue
            touched = range(edit.start - 1, edit.start + edit.n + 1)
            if any(other.start in touched or other.start + other.n in touched for other in edits):
                continue
            edits.append(edit)
            if len(edits) == n:
                break
        return build_example(words, edits, self.pieces) if edits else None

    def _edit(self, kind: str, words: list[str], lower: list[str], rng: random.Random) -> Edit | None:
        """Return a mistake of a kind at a random place of a sentence; None if no place allows one."""
        operation, _, kind_of_word = kind.partition(" ")
        vocabulary = _VOCABULARIES.get(kind_of_word, ())
        if kind == "observed":
            places = [i for i, word in enumerate(lower) if word in self.observed]
        elif kind in self.relations:
            places = [i for i, word in enumerate(lower) if word in self.relations[kind]]
        elif operation in ("drop", "other"):
            places = [i for i, word in enumerate(lower[:-1]) if word in vocabulary]
        else:
            places = [i for i, word in enumerate(words) if word[0].isalnum()]
        if not places:
            return None
        if kind == "observed":
            return self._observed_edit(places, lower, rng)
        i = rng.choice(places)
        if kind in self.relations:
            return Edit(i, 1, [rng.choice(self.relations[kind][lower[i]])])
        if operation == "drop":
            return Edit(i, 1, [])
        if operation == "other":
            return Edit(i, 1, [rng.choice([word for word in vocabulary if word != lower[i]])])
        if kind == "double":
            return Edit(i, 0, [words[i]]) if words[i].isalpha() else None
        return self._added_word(kind, i, lower, rng)

    def _observed_edit(self, places: Sequence[int], lower: list[str], rng: random.Random) -> Edit:
        """Return a mistake that people make at one of `places`, the more often the more likely."""
        weights = [
            sum(n for _, n in self.observed[lower[i]]) ** 0.75 / (1 + self.frequency[lower[i]]) ** 0.3
            for i in places
        ]
        i = rng.choices(places, weights)[0]
        mistakes = self.observed[lower[i]]
        wrong = rng.choices([words for words, _ in mistakes], [n for _, n in mistakes])[0]
        return Edit(i, 1, wrong.split())

    def _added_word(self, kind: str, i: int, lower: list[str], rng: random.Random) -> Edit | None:
        """Return a superfluous word before word `i`; None if it is beside an article or an equal word."""
        vocabulary = {"add article": ("the", "the", "a"), "add preposition": PREPOSITIONS[:11]}.get(kind)
        word = rng.choice(vocabulary or sorted(SMALL_WORDS))
        if word == "a" and lower[i][0] in "aeiou":
            word = "an"
        if lower[i] in ARTICLES or (i and lower[i - 1] in ARTICLES) or word in (lower[i], lower[i - 1]):
            return None
        return Edit(i, 0, [word])


def usable_sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph that are neither short nor long."""
    texts = [text.strip() for text in SENTENCE_END.split(paragraph)]
    return [text for text in texts if MIN_WORDS <= text.count(" ") + 1 <= MAX_WORDS]


def sentence_pool(data: Path, seed: int, limit: int) -> list[str]:
    """Return sentences of the running text, modern domains above old fiction, and of clean paragraphs."""
    rng = random.Random(seed)
    pool: list[str] = []
    for row in read_fixes(data, "clean.{}"):
        pool += usable_sentences(row["text"])
    top = max(DOMAINS.values())
    for domain, weight in DOMAINS.items():
        for paragraph in text_lines(data / f"english/{domain}.train.txt.xz"):
            if rng.random() < weight / top:
                pool += usable_sentences(paragraph)
    rng.shuffle(pool)
    return pool[:limit]
