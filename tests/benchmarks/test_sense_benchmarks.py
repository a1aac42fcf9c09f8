"""Senses beside what a user would take instead, in one run and one process.

    pytest -s -m benchmark tests/benchmarks/test_sense_benchmarks.py

The others: one scikit-learn pipeline a word (DictVectorizer and LinearSVC over the words around), asked for
each place, or for all places of a word in a batch at once. They learn a few made-up places: how much they
learned hardly changes how fast they decide. Docs are tagged before the clock starts. Nothing here fails for
being slow: the figures are printed.
"""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path

import pytest
import spacy

pytestmark = pytest.mark.benchmark
WORDS, ROUNDS = 20_000, 3
SAMPLES = Path(__file__).parents[2] / "corpora" / "samples"


def features_of(doc, i):
    """Return the words around a token, by position and as a bag."""
    low, high = max(0, i - 30), min(len(doc), i + 31)
    found = {f"{j - i}={doc[j].lower_}": 1.0 for j in range(max(0, i - 3), min(len(doc), i + 4))}
    found |= {f"tag{j - i}={doc[j].tag_}": 1.0 for j in range(max(0, i - 3), min(len(doc), i + 4))}
    for j in range(low, high):
        found[doc[j].lower_] = found.get(doc[j].lower_, 0.0) + 1.0
    return found


def test_words_a_second(sense_pack):
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    tagged = spacy.blank("en")
    tagged.add_pipe("disambig_tagger")
    texts = [path.read_text(encoding="utf8") for path in sorted(SAMPLES.glob("*.txt"))]
    some = list(tagged.pipe(texts))
    docs = [doc.copy() for _ in range(1 + WORDS // sum(map(len, some))) for doc in some]
    component = spacy.blank("en").add_pipe("disambig_sense", config={"least_margin": 0.0})
    places = defaultdict(list)
    for doc in component.pipe(doc.copy() for doc in some):
        for span in doc.spans["sense"]:
            places[span._.disambig["group"]].append((doc, span.start))
    names = {
        name: len(component.model.task.groups[g].candidates)
        for g, name in enumerate(group.name for group in component.model.task.groups)
    }
    peers = {}
    for name, found in places.items():
        rows = [features_of(doc, i) for doc, i in found] * 10
        labels = [number % max(2, names[name]) for number in range(len(rows))]
        peers[name] = make_pipeline(DictVectorizer(), LinearSVC(max_iter=200, tol=0.1)).fit(rows, labels)
    where = [
        [(name, i) for name, found in places.items() for d, i in found if d.text == doc.text] for doc in docs
    ]

    def ours():
        for _ in component.pipe(doc.copy() for doc in docs):
            pass

    def one_by_one():
        for doc, own in zip(docs, where, strict=True):
            for name, i in own:
                peers[name].predict([features_of(doc, i)])

    def by_word():
        rows = defaultdict(list)
        for doc, own in zip(docs, where, strict=True):
            for name, i in own:
                rows[name].append(features_of(doc, i))
        for name, own in rows.items():
            peers[name].predict(own)

    rounds = {
        "disambig_sense": ours,
        "scikit-learn, all places of a word": by_word,
        "scikit-learn": one_by_one,
    }
    seconds = defaultdict(list)
    for _ in range(ROUNDS):
        for name, run in rounds.items():
            start = time.process_time()
            run()
            seconds[name].append(time.process_time() - start)
    n, best = sum(map(len, docs)), min(seconds["disambig_sense"])
    print()
    for name, each in seconds.items():
        ratio = min(each) / best
        print(f"{name}: {n / min(each):,.0f} words/s; disambig_sense is {ratio:.1f} times as fast")
