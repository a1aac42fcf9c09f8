"""Sentences about ways of travelling, with mistakes, for small models without a vocabulary."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from toy_components import toy_components
from toy_learners import Perceptron

from disambig.data import CandidateLists, Group, Instances
from disambig.formats import Clean, Fix, fix_kind
from disambig.tasks import OwnCandidates
from disambig.training import train
from disambig.types import Decides

WHO = "She He Anna Paul We They Maria Tom Ida Jon".split()
TEXTS = [
    text
    for who in WHO
    for text in (
        f"{who} went to school by bus. {who} came home to rest.",
        f"{who} came by train to town. Then {who} sat by day.",
        f"{who} went home soon. {who} came to town by car.",
    )
] * 4


def fix(before, start, old, new):
    return Fix(before, start, start + len(old), old, new, "x", "", fix_kind(old, new), 1, "r", "")


FIXES = [fix(f"{who} went by school soon.", len(who) + 6, "by", "to") for who in WHO]
FIXES += [fix(f"{who} went school by bus.", len(who) + 6, "", "to") for who in WHO]
CLEAN = [Clean(text, "r") for text in TEXTS]
WORDS = OwnCandidates(candidates=["to", "by"], name="way")
OR_NONE = OwnCandidates(candidates=["to", "by", ""], name="way")


@dataclass(frozen=True)
class OwnLists:
    """The same decisions with per-instance candidate lists instead of a group."""

    candidates: tuple = ("to", "by", "")
    name: str = "way"
    language: str = ""
    decides: Decides = field(default=Decides("words", "lists"))
    groups: tuple = (Group("way", ()),)

    def instances(self, view):
        result = OwnCandidates(candidates=self.candidates, name=self.name).instances(view)
        return replace(result, lists=CandidateLists.from_texts([self.candidates] * len(result)))


@dataclass(frozen=True, eq=False)
class ListedWords:
    """A task that decides between the candidates listed for a word, which may lack the word itself."""

    lists: dict[str, tuple[str, ...]]
    name: str
    language: str = "en"
    decides: Decides = field(default=Decides("words", "lists"))

    @property
    def groups(self):
        return (Group(self.name, ()),)

    def instances(self, view):
        spans = zip(view.document_indices(np.arange(len(view))), view.starts, view.ends, strict=True)
        words = [view.texts[document][start:end].lower() for document, start, end in spans]
        at = [i for i, word in enumerate(words) if word in self.lists]
        lists = [self.lists[words[i]] for i in at]
        pairs = zip([words[i] for i in at], lists, strict=True)
        observed = np.array(
            [candidates.index(word) if word in candidates else -1 for word, candidates in pairs], np.int32
        )
        ones = np.ones(len(at), np.int32)
        return Instances(np.array(at, np.int64), ones, 0 * ones, observed, CandidateLists.from_texts(lists))


def trained(task, extractor, judge, **about):
    parts = toy_components(task, extractors={"only": extractor}, learner=Perceptron(epochs=3), judge=judge)
    return train(parts, {"train": TEXTS, "dev": TEXTS}, name="made", min_examples=2, **about)
