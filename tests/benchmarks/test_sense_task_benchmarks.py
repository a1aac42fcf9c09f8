"""Words found a second by the task *sense*, beside spaCy's PhraseMatcher over the same forms.

    pytest -s -m benchmark tests/benchmarks/test_sense_task_benchmarks.py

A thousand words with two forms each, in made text of 400,000 tokens; both begin with tokens. The best of the
alternating rounds counts. Nothing here fails for being slow.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
import spacy
from disambig_kernel_rls.senses import SenseTask
from spacy.matcher import PhraseMatcher

from disambig.text import SpacyTokens

pytestmark = pytest.mark.benchmark
ROUNDS = 3


def test_words_found_a_second():
    rng = np.random.default_rng(0)
    letters = np.array(list("bcdfghjklmnpqrstvwz"))
    stems = sorted({"".join(rng.choice(letters, 5)) for _ in range(6000)})
    known, others = stems[:1000], stems[1000:]
    words = [[f"{stem}.x", [stem, f"{stem}s"], ["a", "b"], []] for stem in known]
    vocabulary = np.array(others + known + [f"{stem}s" for stem in known])
    texts = [" ".join(vocabulary[rng.integers(0, len(vocabulary), 400)]) for _ in range(1000)]
    nlp = spacy.blank("en")
    docs = list(nlp.pipe(texts))
    view = SpacyTokens().of_docs(docs)
    task = SenseTask(words=words)
    matcher = PhraseMatcher(nlp.vocab, attr="LOWER")
    for name, forms, _, _ in words:
        matcher.add(name, [nlp.make_doc(form) for form in forms])
    best = {"ours": np.inf, "PhraseMatcher": np.inf}
    for _ in range(ROUNDS):
        start = time.perf_counter()
        found = len(task.instances(view))
        best["ours"] = min(best["ours"], time.perf_counter() - start)
        start = time.perf_counter()
        theirs = sum(len(matcher(doc)) for doc in docs)
        best["PhraseMatcher"] = min(best["PhraseMatcher"], time.perf_counter() - start)
        assert found == theirs > 0
    n = sum(map(len, docs))
    for name, seconds in best.items():
        print(f"\n{name}: {n / seconds:,.0f} tokens/s", end="")
    print()
