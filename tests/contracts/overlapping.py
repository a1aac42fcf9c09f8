"""Two toy models that correct words by rules, and texts in which they flag the same places."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from disambig.data import Decisions, Group
from disambig.text import Words
from disambig.types import Decides

TEXT = """I saw a a box of a old house in the rain.

The a dog ran. He went to to home, and I seen it with a owl. Nothing here.
"""
FLAGS = [  # task, observed word, right word, and other proposals
    ("doubled", "a", "", [("form", "an")]),
    ("form", "a", "an", []),
    ("doubled", "The", "", [("form", "An")]),
    ("doubled", "to to", "to", [("form", "")]),
    ("form", "seen", "saw", [("doubled", "have ")]),  # both together would give "have saw"
    ("form", "a", "an", []),
]
CORRECTED = """I saw a box of an old house in the rain.

A dog ran. He went to home, and I saw it with an owl. Nothing here.
"""


@dataclass(frozen=True)
class ToyTask:
    name: str
    groups: tuple[Group, ...]
    decides: Decides = field(default_factory=Decides)


@dataclass(frozen=True)
class ToyJudge:
    flags_per_1000: float = 0.5

    def limit(self, flags_per_1000=None):
        return 0.5


@dataclass(frozen=True)
class ToyModel:
    """A model that proposes another word wherever a pattern matches, with the probability of its rule."""

    rules: tuple[tuple[str, str, str, float], ...]  # pattern, observed word, proposed word, probability
    task: ToyTask
    judge: ToyJudge = field(default_factory=ToyJudge)
    name: str = "toy"
    version: str = "1"
    language: str = "en"
    tokenisation: Words = field(default_factory=Words)

    @classmethod
    def of(cls, task, *rules):
        groups = tuple(Group(f"{old}/{new}", (old, new)) for _, old, new, _ in rules)
        return cls(rules, ToyTask(task, groups))

    def decide(self, view, *, flags_per_1000=None, near=None):
        rows = sorted(
            (d, *match.span(1), g, rule[3])
            for d, text in enumerate(view.texts)
            for g, rule in enumerate(self.rules)
            for match in re.finditer(rule[0], text)
        )
        documents, starts, ends, groups, sure = np.array(rows, float).reshape(-1, 5).T
        n = len(rows)
        return Decisions(
            task=self.task.name,
            model=f"{self.name} {self.version}",
            table=self.task.groups,
            documents=documents.astype(np.int32),
            starts=starts.astype(np.int32),
            ends=ends.astype(np.int32),
            groups=groups.astype(np.int32),
            observed=np.zeros(n, np.int32),
            chosen=np.ones(n, np.int32),
            offsets=np.arange(n + 1) * 2,
            scores=np.tile(np.array([0.0, 1.0], np.float32), n),
            margins=np.ones(n, np.float32),
            probabilities=sure.astype(np.float32),
            flagged=np.full(n, flags_per_1000 != 0),
            n_hits=np.ones(n, np.int32),
            n_queries=np.ones(n, np.int32),
        )


FORM = ToyModel.of(
    "form",
    (r"\b(a) (?:old|owl)", "a", "an", 0.9),
    (r"saw (a) a", "a", "an", 0.3),
    (r"(The) a", "the", "an", 0.4),
    (r"to (to) home", "to", "", 0.6),
    (r"\b(seen)\b", "seen", "saw", 0.8),
)
DOUBLED = ToyModel.of(
    "doubled",
    (r"saw (a) a", "a", "", 0.7),
    (r"(The) a", "the", "", 0.8),
    (r"(to to)", "to to", "to", 0.95),
    (r"I ()seen", "", "have", 0.75),
)
MODELS = {"form": FORM, "doubled": DOUBLED}
