"""Documents labelled a second, beside scikit-learn's pipeline of the same kind, in one run and one process.

    DISAMBIG_DATA=... pytest -s -m benchmark tests/benchmarks/test_topic_benchmarks.py

20 Newsgroups by date. Ours is the config that ships, which chooses its terms on folds of the training part.
Both learn TF-IDF and a linear classifier (hinge loss, five passes) from the training part and label the test
part; the best of the alternating rounds counts. Nothing here fails for being slow.
"""

from __future__ import annotations

import os
import tarfile
import time
from pathlib import Path

import pytest
import spacy

from disambig.evaluation import evaluate_labelled
from disambig.formats import Labelled
from disambig.models import annotate
from disambig.spacy.labellers import DocumentLabeller
from disambig.training import read_plan, train_labelled

pytestmark = [pytest.mark.benchmark, pytest.mark.data]
ARCHIVE = "labelled/20newsgroups/20news-bydate.tar.xz"
ROUNDS = 3
BATCH = 256
SINGLE = 300


def documents():
    parts = {"train": [], "test": []}
    with tarfile.open(Path(os.environ["DISAMBIG_DATA"]) / ARCHIVE) as archive:
        for member in archive:
            if member.isfile():
                part, label, _ = member.name.split("/")[-3:]
                text = archive.extractfile(member).read().decode("latin-1")
                parts[part.rpartition("-")[2]].append(
                    Labelled(text, 0, len(text), label, member.name, member.name)
                )
    return parts["train"], parts["test"]


def test_documents_a_second_beside_scikit_learn():
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    if "DISAMBIG_DATA" not in os.environ:
        pytest.skip("needs DISAMBIG_DATA")
    learn, test = documents()
    texts, labels = [e.text for e in learn], [e.label for e in learn]
    start = time.perf_counter()
    plan = read_plan("topic").with_learned_settings(learn)
    model = train_labelled(plan.parts, learn, name="topic", config=plan.config)
    print(f"\nours: trained, all chosen and calibrated by five folds, in {time.perf_counter() - start:.1f} s")
    print(model.provenance["chosen"])
    start = time.perf_counter()
    theirs = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+"),
        SGDClassifier(max_iter=5, tol=None, random_state=0),
    ).fit(texts, labels)
    print(f"scikit-learn: trained, without, in {time.perf_counter() - start:.1f} s")
    asked = [e.text for e in test]
    ours = evaluate_labelled(model, test)["groups"]["topic"]["accuracy"]
    print(f"accuracy: ours {ours:.4f}, scikit-learn {theirs.score(asked, [e.label for e in test]):.4f}")
    nlp = spacy.blank("en")
    component = DocumentLabeller(nlp, model, name="topic")
    asked = asked[::4]
    docs = [nlp.make_doc(text) for text in asked]

    def ours_in_batches():
        for first in range(0, len(asked), BATCH):
            annotate(asked[first : first + BATCH], [model], protect=False)
        return len(asked)

    def ours_one_by_one():
        for text in asked[:SINGLE]:
            annotate([text], [model], protect=False)
        return SINGLE

    def ours_on_docs():
        return len(list(component.pipe(docs, batch_size=BATCH)))

    def theirs_in_batches():
        return len(theirs.predict(asked))

    def theirs_one_by_one():
        return len([theirs.predict([text]) for text in asked[:SINGLE]])

    ways = (ours_in_batches, theirs_in_batches, ours_on_docs, ours_one_by_one, theirs_one_by_one)
    best = dict.fromkeys(ways, 0.0)
    for _ in range(ROUNDS):
        for way in ways:
            start = time.perf_counter()
            n = way()
            best[way] = max(best[way], n / (time.perf_counter() - start))
    for way, rate in best.items():
        print(f"{way.__name__.replace('_', ' ')}: {rate:,.0f} documents/s")
    assert ours >= 0.86
