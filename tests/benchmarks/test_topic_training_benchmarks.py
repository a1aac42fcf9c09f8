"""Training of labels for documents beside scikit-learn's pipelines.

The first test measures a whole training on one split, the second one accuracy on five splits of polar texts.

    DISAMBIG_DATA=... pytest -s -m benchmark tests/benchmarks/test_topic_training_benchmarks.py

Ours is `disambig train topic` on a table of 10,000 short texts (see `short_texts`): read, options chosen on
folds, learned, calibrated and tested for its card. Theirs is the fit alone of TF-IDF of words, or of words
and pairs, and LinearSVC. Both decide texts that neither saw. Rounds alternate and the best of each counts;
nothing here fails for being slow. McNemar's exact test says whether a difference is more than chance.

    pip download --no-deps --no-binary :all: vaderSentiment==3.3.2   # unpack it, and the archive inside
    export DISAMBIG_POLARITY=FOLDER
    pytest -s -m benchmark tests/benchmarks/test_topic_training_benchmarks.py -k polar

FOLDER has ``movieReviewSnippets_GroundTruth.txt`` and ``amazonReviewSnippets_GroundTruth.txt`` of Hutto and
Gilbert (2014): sentences of reviews of films and of products, with the mean of 20 people's ratings. Those
with a mean of less than half a point are left out; the sign of the others is the label.
"""

from __future__ import annotations

import csv
import os
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest
from short_texts import short_texts

from disambig.evaluation import add_assessment, decide
from disambig.formats import read_labelled
from disambig.training import label_instances, run

pytestmark = [pytest.mark.benchmark, pytest.mark.data]
ROUNDS = 3


def test_training_and_accuracy_on_short_texts(tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    if "DISAMBIG_DATA" not in os.environ:
        pytest.skip("needs DISAMBIG_DATA")
    sets = short_texts(Path(os.environ["DISAMBIG_DATA"]))
    behind = []
    for name, parts in sets.items():
        for part, texts in zip(("learn", "test"), parts, strict=True):
            with open(tmp_path / f"{name}.{part}.csv", "w", encoding="utf8", newline="") as file:
                csv.writer(file).writerows([("text", "label"), *texts])
        (texts, labels), (asked, right) = (tuple(zip(*part, strict=True)) for part in parts)

        def theirs(longest, texts=texts, labels=labels):
            return make_pipeline(TfidfVectorizer(ngram_range=(1, longest)), LinearSVC(random_state=0)).fit(
                texts, labels
            )

        def ours(name=name):
            return run("topic", labelled=[str(tmp_path / f"{name}.learn.csv")])

        ways = {
            "ours, with its test": lambda: add_assessment(*ours()),
            "ours, without": ours,
            "words": lambda: theirs(1),
            "words and pairs": lambda: theirs(2),
        }
        best = dict.fromkeys(ways, np.inf)
        made = {}
        for _ in range(ROUNDS):
            for way, make in ways.items():
                start = time.process_time()
                made[way] = make()
                best[way] = min(best[way], time.process_time() - start)
        model = made["ours, with its test"]
        marked = label_instances(
            model.task, model.tokenisation, read_labelled([str(tmp_path / f"{name}.test.csv")])
        )
        chosen = decide(model, marked, 0)[0]
        names = [model.task.labels[number] for number in chosen]
        given = dict(zip([example.text for example in marked.labelled], names, strict=True))
        hit = np.array([given.get(text) == label for text, label in zip(asked, right, strict=True)])
        said = model.provenance["test"]["systems"]["model"]["topic"]["accuracy"]
        print(f"\n{name}: {len(texts):,} texts to learn from, {len(asked):,} to test on")
        print(f"  chosen: {model.provenance['chosen']}")
        print(f"  ours: {hit.mean():.4f}, its card says {said:.4f}")
        for way in ("words", "words and pairs"):
            other = made[way].predict(asked) == np.array(right)
            won, lost = int((hit & ~other).sum()), int((other & ~hit).sum())
            p = binomtest(won, won + lost).pvalue
            alone = f"ours alone right {won}, theirs alone {lost}, p = {p:.2g}"
            print(f"  scikit-learn, {way}: {other.mean():.4f} ({alone})")
        for way, seconds in best.items():
            print(f"  {way}: {seconds:.2f} s, {seconds / best['words and pairs']:.1f} times words and pairs")
        if lost > won and p < 0.05:
            behind.append(name)
    assert not behind  # no set on which words and pairs with LinearSVC are better beyond chance


POLAR = ("amazonReviewSnippets", "movieReviewSnippets")
SPLITS, POLAR_SIZES = 5, (800, 2_400, 8_000)
"""Random splits of each set, and numbers of texts to learn from; a fifth is to be tested on."""


def polar_texts(path):
    """Return the texts that most people rate alike, with their polarity."""
    texts = {}
    with open(path, encoding="utf8", errors="replace") as lines:
        for line in lines:
            _, rating, text = line.rstrip("\n").split("\t", 2)
            if abs(float(rating)) >= 0.5:
                texts[text.strip()] = "good" if float(rating) > 0 else "bad"
    return list(texts.items())


def predicted(tmp_path, learn, test):
    """Return the labels of the test texts by `disambig train topic`."""
    for name, texts in (("learn", learn), ("test", test)):
        with open(tmp_path / f"{name}.csv", "w", encoding="utf8", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *texts])
    model, _, _ = run("topic", labelled=[str(tmp_path / "learn.csv")])
    marked = label_instances(model.task, model.tokenisation, read_labelled([str(tmp_path / "test.csv")]))
    names = [model.task.labels[number] for number in decide(model, marked, 0)[0]]
    given = dict(zip([example.text for example in marked.labelled], names, strict=True))
    return [given.get(text, "") for text, _ in test]


def test_five_splits_of_polar_texts(tmp_path):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    if "DISAMBIG_POLARITY" not in os.environ:
        pytest.skip("needs DISAMBIG_POLARITY")
    behind = []
    for name in POLAR:
        texts = polar_texts(Path(os.environ["DISAMBIG_POLARITY"]) / f"{name}_GroundTruth.txt")
        n_test = len(texts) // 5
        for size in POLAR_SIZES:
            if size > len(texts) - n_test:
                continue
            ours, theirs = [], []
            for seed in range(SPLITS):
                shuffled = [texts[i] for i in np.random.default_rng(seed).permutation(len(texts))]
                test, learn = shuffled[:n_test], shuffled[n_test : n_test + size]
                right = np.array([label for _, label in test])
                pipeline = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVC(random_state=0))
                pipeline.fit(*zip(*learn, strict=True))
                theirs.append(pipeline.predict([text for text, _ in test]) == right)
                ours.append(np.array(predicted(tmp_path, learn, test)) == right)
            hit, other = np.concatenate(ours), np.concatenate(theirs)
            won, lost = int((hit & ~other).sum()), int((other & ~hit).sum())
            p = binomtest(won, won + lost).pvalue
            print(f"\n{name}, {size:,} to learn from, {n_test:,} to test on, mean of {SPLITS} splits")
            print(f"  ours {hit.mean():.4f}, scikit-learn, words and pairs: {other.mean():.4f}, p = {p:.2g}")
            splits = zip(ours, theirs, strict=True)
            print("  by split: " + ", ".join(f"{a.mean():.4f}/{b.mean():.4f}" for a, b in splits))
            if lost > won and p < 0.05:
                behind.append((name, size))
    assert not behind
