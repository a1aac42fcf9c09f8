"""Places in small texts and their features, for the tests of extractors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from disambig.data import Group, Instances
from disambig.features import transform_checked
from disambig.types import Decides


def instances_at(positions, lengths=1, observed=0):
    """Return instances of one group at some positions."""
    n = len(positions)
    numbers = (np.full(n, lengths, np.int32), np.zeros(n, np.int32), np.full(n, observed, np.int32))
    return Instances(np.array(positions, np.int64), *numbers)


def places(view, *spans, observed=0):
    """Return instances at (document, first word, number of words) of documents of one sentence."""
    positions = [int(view.documents[d]) + 1 + first for d, first, _ in spans]
    return instances_at(positions, [n for _, _, n in spans], observed)


def fit_and_transform(extractor, view, where, group):
    """Fit an extractor to instances, and return their features."""
    return transform_checked(extractor.fit(view, where, [group]), view, where, group)


@st.composite
def texts_and_spans(draw, words, longest=6, most=5, widest=3):
    """Draw documents of one sentence, and places in them."""
    one = st.lists(words, min_size=1, max_size=longest)
    documents, spans = draw(st.lists(one, min_size=1, max_size=most - 1)), []
    for _ in range(draw(st.integers(1, most))):
        d = draw(st.integers(0, len(documents) - 1))
        first = draw(st.integers(0, len(documents[d]) - 1))
        spans.append((d, first, draw(st.integers(0, min(widest, len(documents[d]) - first)))))
    return documents, spans


@dataclass(frozen=True)
class EveryToken:
    """A task that tags each token, jointly for the tokens of a sentence."""

    decides = Decides("tokens", "labels", together=True)
    name: str = "tags"
    language: str = ""
    groups: tuple[Group, ...] = (Group("tag", ("A", "B", "C")),)

    def instances(self, view):
        return instances_at(np.flatnonzero(view.ends > view.starts), observed=-1)


def spoiled_folders(archive):
    """Return functions that damage a folder with a header and an archive."""
    return [
        lambda folder: (folder / "header.json").unlink(),
        lambda folder: (folder / archive).unlink(),
        lambda folder: (folder / "header.json").write_text("{"),
        lambda folder: (folder / "header.json").write_text("[]"),
        lambda folder: (folder / archive).write_bytes(b"no archive"),
        lambda folder: (folder / archive).write_bytes((folder / archive).read_bytes()[:-99]),
    ]
