"""Usage odds: what correct text has in a syntactic context, learned from text that a parser parsed.

Three questions are answered by logistic regression over hashed features of a parse: is a verb plural ("are")
rather than singular, is a noun plural, and does a singular noun have an article.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.features import read_stored, write_stored
from disambig.api.packs import packs
from disambig.api.text import hash_words

from .grammar import SentenceParse, noun_number, subject, verb_form

QUESTIONS = ("verb", "noun", "article")
FORMAT = "disambig.usage.v1"
FILE = "usage.npz"
FOLDER = "usage"
"""Key of the odds in a pack's `folders`."""
_SCALE = 24.0
"""Weights are stored as 24ths."""
MOST = 6.0
"""Log-odds are limited to this value."""


@dataclass(frozen=True, slots=True, eq=False)
class UsageOdds:
    """Weights of the three questions.

    Attributes
    ----------
    weights : array of int8, shape (3, 2 ** bits)
    constants : array of float64, shape (3,)
    """

    weights: NDArray[np.int8]
    constants: NDArray[np.float64]

    def log_odds(self, question: str, features: Sequence[str]) -> float:
        """Return the log-odds of "plural" or "with an article" for the features of a place."""
        if not features:
            return 0.0
        number = QUESTIONS.index(question)
        at = hash_words(features) & np.uint64(self.weights.shape[1] - 1)
        total = self.constants[number] + float(self.weights[number, at].sum()) / _SCALE
        return max(-MOST, min(MOST, total))

    def save(self, folder: Path, *, about: Mapping[str, Any] | None = None) -> None:
        """Write the odds into a folder."""
        header = {"format": FORMAT, "about": dict(about or {})}
        write_stored(folder, FILE, header, weights=self.weights, constants=self.constants)


def load_usage(folder: Path) -> UsageOdds:
    """Return the odds in a folder.

    Raises
    ------
    UserError
        D900 if a file is missing, damaged or not from this program.
    """
    header, (weights, constants) = read_stored(folder, FILE, ("weights", "constants"), code="D900")
    problem = ""
    if not isinstance(header, Mapping) or header.get("format") != FORMAT:
        problem = f"its format is not {FORMAT}"
    elif weights.dtype != np.int8 or weights.ndim != 2 or len(weights) != len(QUESTIONS):
        problem = "its weights have another type or shape"
    elif weights.shape[1] < 2 or weights.shape[1] & (weights.shape[1] - 1):
        problem = "the number of its weights is not a power of two"
    elif (
        constants.dtype != np.float64
        or constants.shape != (len(QUESTIONS),)
        or not np.isfinite(constants).all()
    ):
        problem = "its constants are not three numbers"
    if problem:
        raise UserError("D900", path=folder, problem=problem)
    return UsageOdds(weights, constants)


def pack_usage(name: str) -> UsageOdds | None:
    """Return the odds of an installed pack, None if it has none."""
    installed = packs()
    if name in installed and FOLDER in installed[name].folders:
        return load_usage(installed[name].folders[FOLDER])
    return None


# ---- features


def verb_features(parse: SentenceParse, verb: int) -> list[str]:
    """Return the features of a finite verb's number; none if it has no subject."""
    at, reliable = subject(parse, verb)
    if at < 0:
        return []
    number, confidence, cues = noun_number(parse, at)
    word, tag, relation = parse.words[at], parse.tags[at], parse.relations[at]
    determiner = _first(parse, at, "det")
    joined = _joined(parse, at)
    of = _of(parse, at)
    kind = _verb_kind(parse.words[verb])
    side = "after" if at > verb else "near" if verb - at < 3 else "far"
    clear = f"{number}{int(4 * confidence * reliable)}"
    relative = "relative" if parse.heads[parse.predicate(verb)] == at else ""
    return [
        f"number {clear}",
        f"word {word}",
        f"tag {tag} {joined}",
        f"cue {cues[0] if cues else ''} {number}",
        f"number {clear} {kind}",
        f"number {clear} {side} {relative}",
        f"determiner {determiner} {tag}",
        f"word {word} {determiner}",
        f"word {word} {tag} {joined}",
        f"of {word} {of}",
        f"of {number} {of} {determiner}",
        f"joined {joined} {number} {relation}",
        f"ending {word[-3:]} {tag}",
        f"kind {kind} {tag} {side}",
    ]


def noun_features(parse: SentenceParse, noun: int, singular: str) -> list[str]:
    """Return the features of a noun's number; `singular` is its form without -s."""
    determiner = _first(parse, noun, "det") or _first(parse, noun, "nummod") or _possessor(parse, noun)
    relation = parse.relations[noun]
    preposition = _first(parse, noun, "case")
    head = parse.heads[noun]
    above = parse.words[head] if head >= 0 else ""
    adjective, compound = _first(parse, noun, "amod"), _first(parse, noun, "compound")
    partner = _partner(parse, noun)
    verb = _finite(parse, noun)
    of = _of(parse, noun)
    return [
        f"noun {singular}",
        f"noun {singular} {determiner}",
        f"noun {singular} {relation}",
        f"noun {singular} {preposition} {determiner}",
        f"noun {singular} {adjective}",
        f"noun {singular} {compound}",
        f"noun {singular} {above}",
        f"determiner {determiner} {relation} {preposition}",
        f"determiner {determiner} {adjective}",
        f"above {above} {preposition} {determiner}",
        f"above {above} {relation} {determiner}",
        f"adjective {adjective}",
        f"partner {partner} {determiner}",
        f"verb {verb} {determiner}",
        f"of {of} {determiner}",
        f"ending {singular[-3:]} {determiner}",
    ]


def article_features(parse: SentenceParse, noun: int, ignore: int = -1) -> list[str]:
    """Return the features of whether a singular noun has an article; one at `ignore` is not seen."""
    others = [i for i in parse.select(noun, "det", "nummod") if i != ignore]
    if others or _possessor(parse, noun):
        return []
    word, relation = parse.words[noun], parse.relations[noun]
    preposition = _first(parse, noun, "case")
    head = parse.heads[noun]
    above = parse.words[head] if head >= 0 else ""
    adjective, compound = _first(parse, noun, "amod"), _first(parse, noun, "compound")
    of = "of" if _of(parse, noun) else ""
    clause = "clause" if parse.select(noun, "acl") else ""
    first = min([noun, *[i for i in parse.children[noun] if i < noun and parse.relations[i] in _INSIDE]])
    before = parse.words[first - 1] if first > 0 and first - 1 != ignore else ""
    if ignore == first - 1 and ignore > 0:
        before = parse.words[ignore - 1]
    return [
        f"article {word}",
        f"article {word} {relation}",
        f"article {word} {preposition}",
        f"article {word} {preposition} {above}",
        f"article {word} {above}",
        f"article {word} {adjective}",
        f"article {word} {compound}",
        f"article {word} {of} {clause}",
        f"article {word} {before}",
        f"relation {relation} {preposition} {of} {clause}",
        f"relation {relation} {above}",
        f"adjective {adjective}",
        f"adjective {adjective} {relation} {preposition}",
        f"compound {compound}",
        f"before {before}",
        f"before {before} {relation} {bool(adjective)}",
        f"ending {word[-3:]}",
        f"ending {word[-4:]} {relation}",
        f"partner {_partner(parse, noun)}",
    ]


_INSIDE = ("amod", "compound", "advmod", "nummod")


def _first(parse: SentenceParse, word: int, relation: str) -> str:
    children = parse.select(word, relation)
    return parse.words[children[0]] if children else ""


def _possessor(parse: SentenceParse, noun: int) -> str:
    return "possessor" if any(parse.relations[i] == "nmod:poss" for i in parse.children[noun]) else ""


def _of(parse: SentenceParse, noun: int) -> str:
    """Return the tag of the noun after "of"."""
    for i in parse.select(noun, "nmod"):
        if _first(parse, i, "case") == "of":
            return parse.tags[i]
    return ""


def _joined(parse: SentenceParse, noun: int) -> str:
    conjuncts = parse.select(noun, "conj")
    return (_first(parse, conjuncts[-1], "cc") or ",") if conjuncts else ""


def _partner(parse: SentenceParse, noun: int) -> str:
    """Return the tag of a word that is coordinated with a noun."""
    if parse.relations[noun] == "conj":
        return parse.tags[parse.heads[noun]]
    conjuncts = parse.select(noun, "conj")
    return parse.tags[conjuncts[0]] if conjuncts else ""


def _finite(parse: SentenceParse, noun: int) -> str:
    """Return the number of the finite verb whose subject a noun is."""
    predicate = parse.heads[noun]
    if predicate < 0 or not parse.relations[noun].startswith("nsubj"):
        return ""
    first = min([*parse.select(predicate, "aux", "cop"), predicate])
    form = verb_form(parse.words[first], "", parse.tags[first])
    return form if form in ("s", "base") else "other"


def _verb_kind(word: str) -> str:
    return next((name for name, forms in _KINDS.items() if word in forms), "other")


_KINDS = {
    "be": ("is", "are", "was", "were", "isn't", "aren't", "'s", "'re"),
    "have": ("has", "have"),
    "do": ("does", "do"),
}


def learn_usage_odds(
    examples: Mapping[str, Sequence[tuple[Sequence[str], bool]]], *, bits: int = 17, seed: int = 0
) -> UsageOdds:
    """Return the odds learned from examples.

    Parameters
    ----------
    examples : mapping from question to sequence of (features, answer)
    bits : int
        Two to this power weights per question.
    seed : int
    """
    from scipy.sparse import csr_array
    from sklearn.linear_model import SGDClassifier

    weights, constants = np.zeros((len(QUESTIONS), 1 << bits), np.int8), np.zeros(len(QUESTIONS))
    for number, question in enumerate(QUESTIONS):
        own = examples[question]
        sizes = np.array([len(features) for features, _ in own], np.int64)
        distinct: dict[str, int] = {}
        at = np.array(
            [distinct.setdefault(feature, len(distinct)) for features, _ in own for feature in features]
        )
        columns = (hash_words(list(distinct)) & np.uint64((1 << bits) - 1)).astype(np.int32)[at]
        rows = csr_array(
            (np.ones(len(columns)), columns, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)),
            (len(own), 1 << bits),
        )
        answers = np.array([answer for _, answer in own])
        learner = SGDClassifier(
            loss="log_loss", alpha=5e-5, max_iter=8, tol=None, average=True, random_state=seed
        )
        learner.fit(rows, answers)
        scaled = np.clip(np.rint(learner.coef_[0] * _SCALE), -127, 127)
        weights[number], constants[number] = scaled.astype(np.int8), float(learner.intercept_[0])
    return UsageOdds(weights, constants)


def log_odds(share: float) -> float:
    """Return the log-odds of a probability, limited to `MOST`."""
    return max(-MOST, min(MOST, math.log((share + 1e-9) / (1 - share + 1e-9))))
