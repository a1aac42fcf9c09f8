"""Count the text: n-grams around candidates and of head words, frequent short n-grams, fillers of "it"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from disambig_variance_svm.prepositions import PARTS_OF_SPEECH
from disambig_variance_svm.pronoun_it import KeyCounts, NormalisedWords, count_fillers
from material import CORRECTING, HOME, read_text

from disambig.config import read_config, resolve
from disambig.counts import NgramCounter, batches, make_counter, write_table
from disambig.features import HEADWORD_TOKENISATION as HEADWORDS, HeadwordCounter, load_parts_of_speech
from disambig.text import Words
from disambig.types import Task

GiB = 1 << 30

MinCounts = Mapping[str, Mapping[int, int]]
MIN_COUNTS: MinCounts = {
    "preposition": {1: 1, 2: 1, 3: 2, 4: 3, 5: 4},
    "spelling": {1: 1, 2: 1, 3: 2, 4: 4, 5: 6},
    "elsewhere": {1: 20, 2: 30, 3: 60},
}
"""Minimum count, by order, of n-grams with a candidate of a task, and of n-grams without any, which decide
users' own confusion sets. It never falls with the order, so that the parts of a kept n-gram are kept too."""
ALL_NGRAMS: MinCounts = {task: {n: 1 for n in range(1, 6)} for task in CORRECTING}
"""All n-grams with a candidate, and no others."""
MIN_HEADWORD_COUNTS = {1: 1, 2: 3, 3: 4, 4: 5}
"""Minimum count, by order, of prepositions between head words."""
MIN_FILLER_COUNT = 5
"""Minimum count of "it" and "they" together for the fillers of a context to be kept."""


def candidates(task: str) -> list[str]:
    """Return the candidates of a task."""
    return sorted({word for group in build_task(task).groups for word in group.candidates if word})


def build_task(name: str) -> Task:
    """Return a task as its model has it."""
    task: Task = resolve({"task": read_config(HOME / f"{name}.cfg")["task"]})["task"]
    return task


class Counters:
    """The n-grams of the training text: those with a candidate of each task, and all short ones."""

    def __init__(self, data: Path, domains: Sequence[str]) -> None:
        tokenisation = Words()
        self.domains = domains
        self.candidates = {task: candidates(task) for task in CORRECTING}
        self.counters = {
            task: make_counter([tokenisation.name], keep_words=words, memory=3 * GiB)
            for task, words in self.candidates.items()
        }
        task = build_task("preposition")
        self.heads = HeadwordCounter(task, load_parts_of_speech(str(PARTS_OF_SPEECH)), memory=3 * GiB)
        self.counters["elsewhere"] = NgramCounter(tokenisation.name, orders=3, memory=2 * GiB)
        for batch in batches(read_text(data, "train", domains)):
            view = tokenisation(batch)
            for counter in (*self.counters.values(), self.heads):
                counter.add(view)

    def write(self, path: Path, min_counts: MinCounts, *, fillers: KeyCounts | None) -> None:
        """Write a table of the n-grams with at least these counts, by task, and of the `fillers` of "it"."""
        parts = [
            part[:2]
            for name, counts in min_counts.items()
            for part in self.counters[name].partitions(min_counts=counts)
        ]
        parts += self.heads.partitions(min_counts=MIN_HEADWORD_COUNTS)
        names = [Words.name, HEADWORDS]
        if fillers is not None:
            parts.append(fillers)
            names.append(NormalisedWords.name)
        # an n-gram that several counters have is written once: its counts are the same
        keys, first = np.unique(np.concatenate([keys for keys, _ in parts]), return_index=True)
        counts = np.concatenate([counts for _, counts in parts])[first]
        write_table(
            path,
            [(keys, counts)],
            tokenisations=names,
            gaps=names[1:],
            record="small",
            info={
                "licence": "figures derived from text under the licences named in the pack's card",
                "sources": [{"name": f"english/{domain}.train.txt.xz"} for domain in self.domains],
                "nested": sorted({word for words in self.candidates.values() for word in words}),
                "least": {
                    name: {str(n): c for n, c in counts.items()} for name, counts in min_counts.items()
                },
                "least_headwords": {str(n): c for n, c in MIN_HEADWORD_COUNTS.items()},
                "least_it": MIN_FILLER_COUNT if fillers is not None else None,
            },
            force=True,
        )

    def __enter__(self) -> Counters:
        return self

    def __exit__(self, *_: object) -> None:
        for counter in (*self.counters.values(), self.heads):
            counter.close()


def count(data: Path, domains: Sequence[str], path: Path, *, min_counts: MinCounts, with_it: bool) -> None:
    """Count the training text of `domains` and write a table; `with_it`: also of the fillers of "it"."""
    with Counters(data, domains) as counters:
        fillers = None
        if with_it:
            fillers = count_fillers(lambda: read_text(data, "train", domains), minimum=MIN_FILLER_COUNT)
        counters.write(path, min_counts, fillers=fillers)
