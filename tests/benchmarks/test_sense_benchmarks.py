"""Senses beside what a user would take instead, in one run and one process.

    pytest -s -m benchmark tests/benchmarks/test_sense_benchmarks.py

The others: one scikit-learn pipeline a word (CountVectorizer and SGDClassifier over the words around), asked
for each place, or for all places of a word in a batch at once. They learn a few made-up places: how much they
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
    """Return the words and tags around a token, by position, and the words as a bag."""
    near, far = range(max(0, i - 3), min(len(doc), i + 4)), range(max(0, i - 30), min(len(doc), i + 31))
    places = [f"{j - i}={doc[j].lower_}" for j in near]
    tags = [f"tag{j - i}={doc[j].tag_}" for j in near]
    return places + tags + [doc[j].lower_ for j in far]


def test_words_a_second(sense_pack):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

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
        peers[name] = make_pipeline(CountVectorizer(analyzer=list), SGDClassifier(max_iter=5, tol=None))
        peers[name].fit(rows, labels)
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
