"""Short documents on three topics, written for the tests, and a config that learns them."""

from __future__ import annotations

from disambig.formats import Labelled

SPORT = "ball goal team match coach player referee stadium league trainer".split()
COOKING = "bread flour oven butter soup pan recipe onion dough sugar".split()
WEATHER = "rain cloud storm wind snow frost thunder sunny forecast fog".split()
TOPICS = {"cooking": COOKING, "sport": SPORT, "weather": WEATHER}


def documents(n=12):
    """Return `n` labelled documents a topic."""
    found = []
    for label, words in TOPICS.items():
        for i in range(n):
            first, second, third = (words[(i * step + step) % 10] for step in (1, 3, 7))
            text = f"We talked about the {first} today. The {second} was there, and a {third}! Number {i}."
            found.append(Labelled(text, 0, len(text), label, text, f"{label} {i}"))
    return found


def config(**task):
    return {
        "task": {"@disambig_tasks": "random_subspace.Topic.v1", **task},
        "tokenisation": {"@disambig_tokenisations": "disambig.words.v1"},
        "extractors": {"words": {"@disambig_extractors": "disambig.Tfidf.v1"}},
        "learner": {"@disambig_learners": "random_subspace.SGD.v1"},
        "baseline": {"@disambig_learners": "disambig.NoPreference.v1"},
    }
