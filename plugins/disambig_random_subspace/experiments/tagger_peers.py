"""Taggers that a user would take instead: what they learn from the same sentences, and how fast they tag.

`peers_on` trains them one after the other. A tagger is what `Fit` returns: lists of words in, tags out.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from .tag_data_penn import Sentence
from .tagger_peers_crf import crf_tagger
from .tagger_peers_spacy import spacy_tagger

Tagger = Callable[[Sequence[list[str]]], list[list[str]]]
Fit = Callable[[Sequence[Sentence], Sequence[Sentence]], Tagger]
"""Learns from sentences; the second ones say when to stop, if a tagger asks."""
SPACY, CRF = "spaCy", "CRFsuite"
INSTALL = {SPACY: "pip install spacy", CRF: "pip install python-crfsuite"}
_MODULE = {SPACY: "spacy", CRF: "pycrfsuite"}
WARM_UP = 20
"""Sentences tagged before the clock starts."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one tagger did.

    Attributes
    ----------
    system : str
    tags : mapping of str to list of list of str
        Its tags for each text; empty where it is not installed.
    training_seconds, words_per_second : float, optional
        Of processor time, one core's; the second over all texts, from words to tags.
    note : str
        Why it has no tags.
    """

    system: str
    tags: Mapping[str, list[list[str]]] = field(default_factory=dict)
    training_seconds: float | None = None
    words_per_second: float | None = None
    note: str = ""


def peers_on(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    tests: Mapping[str, Sequence[Sentence]],
    *,
    systems: Mapping[str, Fit] | None = None,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> list[Run]:
    """Return what spaCy's tagger and CRFsuite do, trained on the same sentences.

    Parameters
    ----------
    train, dev : sequence of (words, tags)
        To learn from, and to choose the best of spaCy's steps with; others may leave `dev` alone.
    tests : mapping of str to sequence of (words, tags)
        Texts to tag by name; their tags are not looked at.
    systems : mapping of str to callable, optional
        Others than `PEERS`.
    progress : callable
        Told a stage, how far it is, and how far it goes.
    """
    found = []
    chosen = PEERS if systems is None else systems
    for number, (name, fit) in enumerate(chosen.items()):
        progress(f"training and tagging: {name}", number, len(chosen))
        if name in _MODULE and find_spec(_MODULE[name]) is None:
            found.append(Run(name, note=f"{name} is not installed: {INSTALL[name]}"))
            continue
        began = cpu_seconds()
        tagger = fit(train, dev)
        found.append(tagged(name, tagger, tests, training_seconds=cpu_seconds() - began))
    return found


def tagged(
    system: str, tagger: Tagger, tests: Mapping[str, Sequence[Sentence]], *, training_seconds: float
) -> Run:
    """Return what a trained tagger does, with its speed."""
    texts = {name: [words for words, _ in sentences] for name, sentences in tests.items()}
    tagger([words for text in texts.values() for words in text][:WARM_UP])
    began = time.process_time()
    tags = {name: tagger(text) for name, text in texts.items()}
    spent = time.process_time() - began
    n = sum(len(words) for text in texts.values() for words in text)
    return Run(system, tags, training_seconds, n / spent if n and spent else None)


def cpu_seconds() -> float:
    """Return the processor time of this process and of those it waited for.

    Unlike the wall clock it does not tell how busy the machine is. Windows does not count other processes:
    there it is the wall clock.
    """
    return time.perf_counter() if os.name == "nt" else sum(os.times()[:4])


def peers(*, quick: bool = False, **settings: Any) -> dict[str, Fit]:
    """Return the peers by name; with `quick` a few steps of each."""
    steps = {"max_steps": 200} if quick else {}
    rounds = {"iterations": 20} if quick else {}
    return {
        SPACY: lambda train, dev: spacy_tagger(train, dev, **steps),
        CRF: lambda train, dev: crf_tagger(train, **rounds),
    }


PEERS = peers()
