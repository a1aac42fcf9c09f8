"""Ways by which people go and come, and mistakes there: for small models that know no word."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from toy_learners import Constant, Perceptron

from disambig.data import CandidateLists, Group
from disambig.formats import Clean, Fix, fix_kind
from disambig.tasks import OwnCandidates
from disambig.text import Words
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
    """The places of own candidates, each with a list of its own that holds them: the same decisions."""

    candidates: tuple = ("to", "by", "")
    name: str = "way"
    language: str = ""
    decides: Decides = field(default=Decides("words", "own"))
    groups: tuple = (Group("way", ()),)

    def instances(self, view):
        found = OwnCandidates(candidates=self.candidates, name=self.name).instances(view)
        return replace(found, own=CandidateLists.from_texts([self.candidates] * len(found)))


def trained(task, extractor, judge, **about):
    parts = {
        "task": task,
        "tokenisation": Words(),
        "extractors": {"only": extractor},
        "learner": Perceptron(epochs=3),
        "baseline": Constant(),
        "judge": judge,
    }
    return train(parts, {"train": TEXTS, "dev": TEXTS}, name="made", min_examples=2, **about)
