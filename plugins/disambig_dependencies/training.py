"""Training: an averaged perceptron with a dynamic oracle (greedy), or with a beam."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.api import UserError
from disambig.api.experiments import Progress, no_progress
from disambig.api.features import WordClasses
from disambig.api.settings import whole_number_between

from .parser import BEAM, MAX_LABELS, DependencyParser, Weights, encode_words

TreebankSentence = tuple[Sequence[str], Sequence[str], Sequence[int], Sequence[str]]
"""Words, tags, heads (indices, -1 for the root), relations."""
SCALE = 8
"""Weights are multiples of an eighth."""
_EXPLORE = 0.9
"""Probability of following a wrong decision, from the second pass on."""


def train_parser(
    sentences: Sequence[TreebankSentence],
    *,
    classes: WordClasses | None = None,
    beam: int = 1,
    passes: int = 8,
    least: float = 0.0,
    most: int | None = None,
    seed: int = 0,
    language: str = "en",
    tagger: str = "tag",
    progress: Progress = no_progress,
) -> DependencyParser:
    """Train a parser on a treebank.

    Trees that are not projective are made so. Tags should be as good as those of the text that is to be
    parsed: predicted by a tagger that was trained on other sentences.

    Parameters
    ----------
    sentences : sequence of (words, tags, heads, relations)
    classes : WordClasses, optional
    beam : int
        With 1, training follows the parser's own decisions with a dynamic oracle (Goldberg and Nivre 2013);
        otherwise it updates at the largest violation in a beam (Huang, Fayong and Guo 2012).
    passes : int
    least : float
        Weights with a smaller absolute value are dropped.
    most : int, optional
        Maximum number of weights: the smallest are dropped.
    seed : int
    language, tagger : str
    progress : callable, optional

    Raises
    ------
    UserError
        D916 for a sentence that is not a tree, D919 for no sentence or too many relations, D903 for an
        invalid number of passes or width of the beam.
    """
    from ._kernels import averaged, train_beam, train_greedy

    whole_number_between(1, 1000, "D903").check("passes", passes)
    BEAM.check("beam", beam)
    trees = [_checked(number, sentence) for number, sentence in enumerate(sentences, 1)]
    if not trees:
        raise UserError("D919", problem="it contains no sentence")
    if all(tag in ("", "_") for _, tags, _, _ in trees for tag in tags):
        raise UserError("D919", problem="its words have no tags; use other ones, such as UPOS in CoNLL-U")
    arcs = chain.from_iterable(zip(heads, labels, strict=True) for _, _, heads, labels in trees)
    relations = sorted({label for head, label in arcs if head >= 0}) or ["dep"]
    if len(relations) > MAX_LABELS:
        raise UserError("D919", problem=f"it has more than {MAX_LABELS} different relations")
    own_classes = classes or WordClasses(np.zeros(0, np.uint64), np.zeros((0, 1), np.uint16))
    bounds, atoms = encode_words([(words, tags) for words, tags, _, _ in trees], own_classes)
    # as `_kernels` wants them: word 0 of each sentence stands for none, and is the head of the root
    heads = np.array([head for tree in trees for head in (0, *(h + 1 for h in tree[2]))], np.int32)
    numbers = {relation: i for i, relation in enumerate(relations, 1)}
    labels = np.array(
        [label for tree in trees for label in (0, *(numbers.get(name, 0) for name in tree[3]))], np.int32
    )
    memory = _Memory(len(atoms))
    rng = np.random.default_rng(seed)
    for turn in range(passes):
        progress("passes", turn, passes)
        order = rng.permutation(len(trees))
        examples = (bounds, atoms, heads, labels, order, len(relations))
        state = (memory.table, memory.chunks, memory.sums, memory.used, memory.clock)
        if beam == 1:
            train_greedy(*examples, 0.0 if turn == 0 else _EXPLORE, *state, seed + turn)
        else:
            train_beam(*examples, beam, *state)
    time, lowest = int(max(memory.clock[0], 1)), max(least, 0.5 / SCALE)  # half a step is rounded to 0
    used = int(memory.used[0])
    keys, actions, weights = averaged(memory.table, memory.chunks, memory.sums, used, time, lowest)
    pruned = _prune(keys, actions, weights, most)
    return DependencyParser(tuple(relations), pruned, own_classes, beam, language, tagger)


class _Memory:
    """Weights during training (see `_kernels`).

    Untouched parts of the arrays take no memory, so they are as large as the treebank may need.
    """

    def __init__(self, n_words: int) -> None:
        n_chunks = 60 * n_words + 100_000
        self.table = np.zeros(1 << n_chunks.bit_length(), np.int64)
        self.chunks = np.zeros((n_chunks, 16), np.int32)
        self.sums = np.zeros((n_chunks, 7, 2), np.int64)
        self.used, self.clock = np.zeros(1, np.int64), np.zeros(1, np.int64)


def _prune(
    keys: NDArray[np.uint32], actions: NDArray[np.uint16], weights: NDArray[np.float32], maximum: int | None
) -> Weights:
    """Return the largest weights, rounded, by ascending features."""
    bounds = np.iinfo(np.int16)
    rounded = np.clip(np.rint(weights * SCALE), bounds.min, bounds.max).astype(np.int16)
    keep = rounded != 0
    if maximum is not None and len(weights) > maximum:
        large = np.abs(weights)
        keep &= large >= np.partition(large, len(large) - maximum)[len(large) - maximum]
    order = np.lexsort((actions[keep], keys[keep]))
    distinct, sizes = np.unique(keys[keep][order], return_counts=True)
    return Weights(distinct, sizes.astype(np.uint16), actions[keep][order], rounded[keep][order])


def _checked(number: int, sentence: TreebankSentence) -> tuple[list[str], list[str], list[int], list[str]]:
    """Return a sentence with its tree made projective. Raises D916, with its number, if it is not a tree."""
    if len(sentence) != 4:
        raise UserError("D916", number=number, problem="not words, tags, heads and relations")
    words, tags, heads, relations = list(sentence[0]), list(sentence[1]), list(sentence[2]), list(sentence[3])
    problem = ""
    if not all(isinstance(text, str) for text in (*words, *tags, *relations)):
        problem = "a word, tag or relation that is not a text"
    elif not all(isinstance(head, Integral) and not isinstance(head, bool) for head in heads):
        problem = "a head that is not a whole number"
    elif not len(words) == len(tags) == len(heads) == len(relations) or not words:
        problem = "not one tag, head and relation for each of one or more words"
    elif any(not -1 <= head < len(words) for head in heads) or heads.count(-1) != 1:
        problem = "not exactly one root, or a head outside the sentence"
        if heads.count(0) == 1 and all(0 <= head <= len(words) for head in heads):
            problem += " (subtract 1 from heads that count from 1, as in CoNLL-U)"
    elif _has_cycle(heads):
        problem = "the heads form a cycle"
    if problem:
        raise UserError("D916", number=number, problem=problem)
    return words, tags, make_projective(heads), relations


def _has_cycle(heads: Sequence[int]) -> bool:
    """Return True if some word is above itself: it has an ancestor after as many steps as there are words."""
    above = np.array(heads)
    for _ in heads:
        above = np.where(above < 0, -1, np.array(heads)[above])
    return bool((above >= 0).any())


def make_projective(heads: Sequence[int]) -> list[int]:
    """Return the heads with the shortest arcs that cross others lifted (Nivre and Nilsson 2005).

    An arc is lifted to the head of its head until all words under it descend from it.
    """
    lifted = list(heads)
    while (child := _crossing(lifted)) >= 0:
        lifted[child] = lifted[lifted[child]]
    return lifted


def _crossing(heads: list[int]) -> int:
    """Return the child of the shortest arc over a word that does not descend from its head; -1 if none."""
    shortest = (len(heads) + 1, -1)
    for child, head in enumerate(heads):
        if head < 0 or abs(child - head) >= shortest[0]:
            continue
        for word in range(min(child, head) + 1, max(child, head)):
            above: Any = word
            while above not in (head, -1):
                above = heads[above]
            if above != head:
                shortest = (abs(child - head), child)
                break
    return shortest[1]
