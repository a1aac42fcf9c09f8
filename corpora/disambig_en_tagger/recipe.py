"""The recipe of the tagger: a first tagger tags plain text, a second one completes partially tagged corpora.

1. Words of plain text are clustered by neighbouring words (`company`).
2. A first tagger is trained on the tagged sentences. It tags the plain text; words are clustered by these
   tags and by their capitals.
3. A second tagger, with these classes as features, fills in the missing tags of NOAD-MASC (which has the
   parts of speech of content words) and CRAFT (whose conventions differ).
4. The tagger is trained on the tagged sentences, each used twice, and on the completed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from disambig_random_subspace.experiments import craft_partly, noad_partly
from disambig_random_subspace.tagger import Partly, fill_in_tags, predict_tags, token_views, train_tagger

from disambig.api import Model, TokenView
from disambig.api.features import WordClasses, learn_classes, learn_usage
from disambig.features import CLASS, SHAPE

Sentences = Sequence[tuple[Sequence[str], Sequence[str]]]
MODERN = ("essays", "guides", "encyclopedic", "manuals", "mixed")
OTHERS = ("government", "health", "technical", "textbooks", "science", "speeches", "fiction")
WORDS = {**dict.fromkeys(MODERN, 2_000_000), **dict.fromkeys(OTHERS, 700_000)}
"""Maximum number of tokens that are read from each domain."""
COMPANY = {"n_words": 50_000, "sizes": (128, 512)}
CRAFT_SENTENCES = 5_000
SEED = 1
PERCEPTRON = {"@disambig_learners": "random_subspace.StructuredPerceptron.v1"}
SHAPES = [(SHAPE, -1, SHAPE, 0), (SHAPE, 0, SHAPE, 1)]
"""Pairs of features: the shape of a word with that of each neighbour."""


def subspaces(n: int, passes: int) -> dict[str, Any]:
    """Return the config of a learner over random subspaces, each without half of the features."""
    return {
        "@disambig_learners": "random_subspace.RandomSubspaces.v1",
        "n_subspaces": n,
        "removal_rate": 0.5,
        "base": {**PERCEPTRON, "passes": passes},
    }


TEACHER = subspaces(8, 5)
LEARNER = subspaces(16, 5)
ALONE = {**PERCEPTRON, "passes": 5}
"""Nearly as good as `LEARNER`, and sixteen times as fast."""


@dataclass(frozen=True, slots=True)
class TaggerData:
    """Training data besides the tagged sentences, independent of them.

    Attributes
    ----------
    views : list of TokenView
        Plain text.
    company : WordClasses
        Its words clustered by neighbouring words.
    partly : list of (words, tags that each may have)
    """

    views: list[TokenView]
    company: WordClasses
    partly: list[Partly]


def load_data(data: Path, progress: Callable[[str, int, int], None]) -> TaggerData:
    """Read plain text and partially tagged corpora from the data directory."""
    views = []
    for number, (domain, most) in enumerate(WORDS.items()):
        progress(f"reading {domain}", number, len(WORDS))
        views += list(token_views(data / f"english/{domain}.train.txt.xz", most))
    progress("classes by company", 0, 1)
    company = learn_classes((view.hashes for view in views), **COMPANY)
    progress("corpora tagged in part", 0, 1)
    craft = list(craft_partly(data))
    some = np.random.default_rng(SEED).choice(len(craft), CRAFT_SENTENCES, replace=False)
    return TaggerData(views, company, [*noad_partly(data), *(craft[i] for i in np.sort(some))])


def with_usage(company: WordClasses, usage: WordClasses) -> WordClasses:
    """Return both classes, with the features that help: coarse classes two words away, all others nearby."""
    both = company.joined_with(usage)
    fine = [CLASS + g for g in range(both.depth)]
    coarse, capitals = fine.pop(company.depth), fine[-1]
    near = [(attribute, place, -1, 0) for attribute in fine for place in (-1, 0, 1)]
    far = [(coarse, place, -1, 0) for place in (-2, 2)]
    return replace(both, chosen=np.array([*near, *far, (capitals, 0, SHAPE, 0), *SHAPES], np.int64))


def train_tagger_by_recipe(
    train: Sentences,
    dev: Sentences,
    tagger_data: TaggerData,
    *,
    learner: Mapping[str, Any] = LEARNER,
    progress: Callable[[str, int, int], None],
    **settings: Any,
) -> Model:
    """Return the tagger trained on tagged sentences and `tagger_data`; `settings`: see `train_tagger`."""
    progress("first tagger", 0, 1)
    first = train_tagger(train, dev, name="first", learner=TEACHER, classes=tagger_data.company)
    progress("tagging plain text", 0, 1)
    n_tags = len(first.task.groups[0].candidates)
    usage = learn_usage(((view, predict_tags(first, view)) for view in tagger_data.views), n_tags)
    classes = with_usage(tagger_data.company, usage)
    progress("second tagger", 0, 1)
    second = train_tagger(train, dev, name="second", learner=TEACHER, classes=classes)
    progress("filling in", 0, 1)
    more = list(fill_in_tags(second, tagger_data.partly))
    progress("tagger", 0, 1)
    about = {"learner": learner, "classes": classes, "more": more, **settings}
    return train_tagger(train, dev, progress=progress, **about)
