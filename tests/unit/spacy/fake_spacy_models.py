"""A fake model that decides each candidate word by a simple rule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from disambig.data import Decisions, Group
from disambig.errors import UserError
from disambig.text import Words, hash_word

PREPOSITIONS = Group("preposition", ("in", "to", "from", "among", "except", "during"))
SETS = (Group("quite/quiet", ("quite", "quiet")), Group("to/too/two", ("to", "too", "two")))
WRONG = hash_word("wrong")
FLAGGED = np.array([hash_word(word) for word in ("to", "quite", "except")], np.uint64)


class FakeOperating:
    def threshold(self, rate=None):
        if rate is not None and not rate >= 0:
            raise UserError("D401", rate=rate)
        return 0.0


@dataclass(frozen=True)
class FakeTask:
    name: str
    groups: tuple[Group, ...]
    extra: tuple[Group, ...] = ()


@dataclass(frozen=True)
class FakeModel:
    """A model that chooses the observed word, but the next candidate of its group before the word "wrong".

    Only some candidates are flagged, so that their replacements are not flagged again. A text with "BAD"
    makes it fail. At a rate of zero, nothing is flagged.
    """

    task: FakeTask
    name: str = "fake"
    version: str = "0.0.1"
    language: str = "en"
    tokenisation: Words = field(default_factory=Words)
    operating: FakeOperating = field(default_factory=FakeOperating)
    judge: None = None  # flags do not depend on probabilities

    def with_groups(self, groups):
        return replace(self, task=replace(self.task, groups=(*self.task.groups, *groups)))

    def decide(self, view, *, flags_per_1000=None, near=None):
        if any("BAD" in text for text in view.texts):
            raise RuntimeError("a bad document")
        groups = self.task.groups
        places = {}
        for g, group in enumerate(groups):
            for c, candidate in enumerate(group.candidates):
                places.setdefault(hash_word(candidate), []).append((g, c))
        protected = view.layers.get("protected", np.zeros(len(view), bool))
        hashes = view.hashes.tolist()
        rows = [
            (i, g, c, i + 1 < len(hashes) and hashes[i + 1] == WRONG)
            for i, word in enumerate(hashes)
            for g, c in places.get(word, ())
            if not protected[i]
        ]
        position, group, observed, wrong = np.array(rows, np.int64).reshape(-1, 4).T
        wrong = wrong.astype(bool)
        sizes = np.array([len(g.candidates) for g in groups], np.int64)[group]
        offsets = np.append(0, np.cumsum(sizes))
        chosen = np.where(wrong, (observed + 1) % np.maximum(sizes, 1), observed)
        scores = np.zeros(offsets[-1], np.float32)
        scores[offsets[:-1] + observed] = 1.25
        scores[offsets[:-1] + chosen] = 2.5
        n = len(rows)
        return Decisions(
            task=self.task.name,
            model=f"{self.name} {self.version}",
            table=groups,
            documents=view.document_indices(position).astype(np.int32),
            starts=view.starts[position],
            ends=view.ends[position],
            groups=group.astype(np.int32),
            observed=observed.astype(np.int32),
            chosen=chosen.astype(np.int32),
            offsets=offsets,
            scores=scores,
            margins=np.full(n, 1.25, np.float32),
            probabilities=np.where(wrong, 0.75, 0.125).astype(np.float32),
            flagged=wrong & np.isin(view.hashes[position], FLAGGED) & (flags_per_1000 != 0),
            n_hits=(view.starts[position] % 7).astype(np.int32),
            n_queries=np.full(n, 14, np.int32),
        )


def preposition_model(**changes):
    return replace(FakeModel(FakeTask("preposition", (PREPOSITIONS,))), **changes)


def spelling_model(**changes):
    return replace(FakeModel(FakeTask("spelling", SETS)), **changes)
