"""Tagging beside what a user would take instead, in one run and one process.

    pytest -s -m benchmark tests/benchmarks/test_tagger_benchmarks.py

spaCy's tagger has the settings of ``spacy init config`` for a CPU and random weights: they do not change its
speed. CRFsuite learns a few sentences of the samples. Rounds alternate, so that a busy machine slows all
alike; the best round of each counts, and the range of the ratios is that of the rounds. Nothing here fails
for being slow: the figures are printed.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import spacy
from disambig_random_subspace.experiments import crf_tagger
from spacy.cli.init_config import init_config
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config

pytestmark = pytest.mark.benchmark
WORDS, ROUNDS = 30_000, 5
SAMPLES = Path(__file__).parents[2] / "corpora" / "samples"


@pytest.fixture(scope="module")
def sentences():
    """Return the samples' sentences, again and again, as lists of words."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    docs = nlp.pipe(path.read_text(encoding="utf8") for path in sorted(SAMPLES.glob("*.txt")))
    some = [[token.text for token in sentence] for doc in docs for sentence in doc.sents]
    return some * (1 + WORDS // sum(map(len, some)))


def test_words_a_second(sentences):
    ours = spacy.blank("en")
    ours.add_pipe("disambig_tagger")
    config = init_config(lang="en", pipeline=["tagger"], optimize="efficiency", gpu=False)
    theirs = load_model_from_config(config, auto_fill=True)
    tags = ours.get_pipe("disambig_tagger").labels
    first = [Doc(theirs.vocab, words=list(map(str, range(len(tags)))), tags=list(tags))]
    theirs.initialize(lambda: [Example(doc, doc) for doc in first])
    learn = [(words, ["NN"] * (len(words) - 1) + ["."]) for words in sentences[:100]]
    crf = crf_tagger(learn)

    def of(nlp):
        docs = [Doc(nlp.vocab, words=words) for words in sentences]
        start = time.process_time()
        for _ in nlp.pipe(docs):
            pass
        return time.process_time() - start

    def of_crf():
        start = time.process_time()
        crf(sentences)
        return time.process_time() - start

    n = sum(map(len, sentences))
    rounds = {"disambig_tagger": lambda: of(ours), "spaCy": lambda: of(theirs), "CRFsuite, two tags": of_crf}
    seconds = {name: [] for name in rounds}
    for run in rounds.values():  # the first time is no round: kernels are loaded
        run()
    for _ in range(ROUNDS):
        for name, run in rounds.items():
            seconds[name].append(run())
    ours_best = min(seconds["disambig_tagger"])
    print()
    for name, each in seconds.items():
        ratios = [theirs / own for theirs, own in zip(each, seconds["disambig_tagger"], strict=True)]
        said = f"{min(each) / ours_best:.1f} times as fast ({min(ratios):.1f} to {max(ratios):.1f})"
        print(f"{name}: {n / min(each):,.0f} words/s; disambig_tagger is {said}")
