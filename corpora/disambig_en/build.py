"""Builds the English pack: count, train, score, write the card.

    python corpora/disambig_en/build.py DATA

DATA is a directory with ``english/DOMAIN.train.txt.xz`` (counted) and ``english/DOMAIN.heldout.txt.xz``
(learned from, tuned on and tested on, by document; never counted), one paragraph a line, and
``labelled/qa-it`` and ``labelled/ewt`` for "it".
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from card import TWENTY, write_card
from disambig_variance_svm.it.counting import Counted, count_fillers
from disambig_variance_svm.it.normalised import NormalisedWords
from labelled_data import ewt, qa_it

from disambig.config import read_config, resolve
from disambig.counts.build import batches, counter_for
from disambig.counts.counter import NgramCounter
from disambig.counts.table import CountTable
from disambig.counts.write import write_table
from disambig.evaluation.evaluate import evaluate
from disambig.evaluation.labelled import cross_validate, evaluate_labelled
from disambig.features.ngram_counts import NgramCounts
from disambig.model.model import Model
from disambig.model.store import load_model, save_model
from disambig.text.words import Words
from disambig.training.labelled import train_labelled
from disambig.training.splits import split
from disambig.training.trainer import train
from disambig.types import FeatureExtractor

HOME = Path(__file__).parent
DOMAINS = ("fiction", "science", "speeches", "textbooks", "health", "technical", "government", "mixed")
CORRECTING = ("preposition", "spelling")
"""Tasks that correct words; *it* labels them."""
TASKS = (*CORRECTING, "it")
VERSION = "0.1.0"
GiB = 1 << 30

Least = Mapping[str, Mapping[int, int]]
LEAST: Least = {
    "preposition": {1: 1, 2: 1, 3: 2, 4: 3, 5: 5},
    "spelling": {1: 1, 2: 1, 3: 3, 4: 6, 5: 10},
    "elsewhere": {1: 20, 2: 30, 3: 60},
}
"""Least count, by order, of n-grams with a candidate of a task, and of those without any: users' own
confusion sets are decided by the last. Never less for longer n-grams: their parts are there too."""
EVERY: Least = {task: {n: 1 for n in range(1, 6)} for task in CORRECTING}
"""All n-grams with a candidate, and no others."""
LEAST_IT = 5
"""How often "it" and "they" together must be seen in a context for its fillers to be kept."""
CURVE: tuple[dict[int, int], ...] = (
    {1: 1, 2: 20, 3: 60, 4: 120, 5: 240},
    {1: 1, 2: 5, 3: 10, 4: 20, 5: 40},
    {1: 1, 2: 2, 3: 5, 4: 10, 5: 20},
    {1: 1, 2: 1, 3: 3, 4: 6, 5: 12},
    {1: 1, 2: 1, 3: 2, 4: 4, 5: 6},
    {1: 1, 2: 1, 3: 2, 4: 2, 5: 2},
)
"""Least counts, of both tasks, along the curve of size against accuracy."""
FLAGS_PER_1000 = {"preposition": 0.4, "spelling": 0.1}
"""Default rates; together they stay below one flag in 1,000 words."""
RATES = (0.3, 1.0, 4.0)
NO_SETTINGS: Mapping[str, int] = {}
QUICK = {"preposition": {"examples": 3_000_000, "epochs": 1}, "spelling": {"examples": 30_000, "epochs": 1}}
"""Settings of the networks where one is learned for each domain left out."""


def read(data: Path, part: str, domains: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of some domains."""
    for domain in domains:
        with lzma.open(data / "english" / f"{domain}.{part}.txt.xz", "rt", encoding="utf8") as lines:
            yield from (line.rstrip("\n") for line in lines)


def candidates(task: str) -> list[str]:
    """Return the candidates of a task."""
    built = resolve({"task": read_config(HOME / f"{task}.cfg")["task"]})["task"]
    return sorted({candidate for group in built.groups for candidate in group.candidates})


class Counters:
    """The n-grams of the training text: those with a candidate of each task, and all short ones."""

    def __init__(self, data: Path, domains: Sequence[str]) -> None:
        tokenisation = Words()
        self.domains = domains
        self.candidates = {task: candidates(task) for task in CORRECTING}
        self.counters = {
            task: counter_for([tokenisation.name], keep_words=words, memory=3 * GiB)
            for task, words in self.candidates.items()
        }
        self.counters["elsewhere"] = NgramCounter(tokenisation.name, orders=3, memory=2 * GiB)
        for batch in batches(read(data, "train", domains)):
            view = tokenisation(batch)
            for counter in self.counters.values():
                counter.add(view)

    def write(self, path: Path, least: Least, *, fillers: Counted | None) -> None:
        """Write a table of the n-grams that reach these counts, by task, and of the `fillers` of "it"."""
        parts = [
            part[:2]
            for name, counts in least.items()
            for part in self.counters[name].partitions(min_counts=counts)
        ]
        names = [Words.name]
        if fillers is not None:
            parts.append(fillers)
            names.append(NormalisedWords.name)
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
                "least": {name: {str(n): c for n, c in counts.items()} for name, counts in least.items()},
                "least_it": LEAST_IT if fillers is not None else None,
            },
            force=True,
        )

    def __enter__(self) -> Counters:
        return self

    def __exit__(self, *_: object) -> None:
        for counter in self.counters.values():
            counter.close()


def count(data: Path, domains: Sequence[str], path: Path, *, least: Least, it: bool) -> None:
    """Count the training text of `domains` and write a table, with the fillers of "it" or without."""
    with Counters(data, domains) as counters:
        fillers = count_fillers(lambda: read(data, "train", domains), least=LEAST_IT) if it else None
        counters.write(path, least, fillers=fillers)


def learn_it(data: Path, counts: str) -> Model:
    """Train the model that labels "it", on all of QA-It, and EWT less its test part."""
    config = it_config(counts)
    examples = [*qa_it(data), *ewt(data, "train"), *ewt(data, "dev")]
    return train_labelled(
        resolve(config), examples, name="disambig_en/it", version=VERSION, config=config, progress=_say
    )


def it_config(counts: str) -> dict[str, Any]:
    """Return the config of *it* with a count table."""
    config = dict(read_config(HOME / "it.cfg"))
    config["extractors"]["counts"]["counts"] = counts
    return config


def score_it(data: Path) -> None:
    """Cross-validate *it* over the pairs of QA-It, and score what was learned on the test part of EWT."""
    parts = resolve(it_config("disambig_en"))
    also = [*ewt(data, "train"), *ewt(data, "dev")]
    unsupervised = train_labelled(
        {**parts, "learner": parts["baseline"]}, [*qa_it(data), *also], name="disambig_en/it"
    )
    test = ewt(data, "test")
    _save(
        {
            "it": {
                "qa_it": cross_validate(parts, qa_it(data), folds=10, also=also, progress=_say),
                "qa_it_alone": cross_validate(parts, qa_it(data), folds=10, progress=_say),
                "ewt": evaluate_labelled(load_model(HOME / "models" / "it"), test),
                "ewt_baseline": evaluate_labelled(unsupervised, test),
            }
        }
    )


@dataclass(frozen=True, slots=True)
class Learned:
    """An extractor that has learned already: fitting it again would give the same."""

    extractor: FeatureExtractor

    def fit(self, *_: object) -> FeatureExtractor:
        """Return the extractor as it is."""
        return self.extractor


def learn(
    task: str,
    data: Path,
    domains: Sequence[str],
    counts: str,
    *,
    words: FeatureExtractor | None = None,
    settings: Mapping[str, int] = NO_SETTINGS,
    examples: int = 20_000,
    everywhere: bool = False,
) -> Model:
    """Train the model of one task on the held-out text of `domains`.

    Parameters
    ----------
    words : FeatureExtractor, optional
        The network over words, learned on the same text, where another table of counts is tried.
    settings : mapping of str to int
        Of that network, in place of the config's.
    examples : int
        Instances a group that the learner learns from, at most.
    everywhere : bool
        Decide at every preposition, particles, infinitives and conjunctions included.
    """
    config = dict(read_config(HOME / f"{task}.cfg"))
    config["extractors"]["counts"]["counts"] = counts
    config["extractors"]["words"].update(settings)
    if everywhere:
        config["task"]["only_as_preposition"] = False
    texts = split(read(data, "heldout", domains))
    parts = resolve(config)
    if words is None:
        texts["background"] = list(read(data, "train", domains))
    else:
        parts["extractors"]["words"] = Learned(words)
    return train(
        parts,
        texts,
        name=f"disambig_en/{task}",
        version=VERSION,
        config=config,
        flags_per_1000=FLAGS_PER_1000[task],
        max_examples=examples,
        progress=_say,
    )


def _say(stage: str, done: int, total: int) -> None:
    if done == 0 or done + 1 == total:
        print(f"  {time.strftime('%H:%M:%S')} {stage} {done + 1}/{total}", file=sys.stderr, flush=True)


def score(model: Model, data: Path, domains: Sequence[str]) -> dict[str, Any]:
    """Score a model on the test part of the held-out text of `domains`, and of each."""
    figures = {}
    for name, chosen in [("all", tuple(domains)), *((domain, (domain,)) for domain in domains)]:
        texts = split(read(data, "heldout", chosen))["test"]
        figures[name] = evaluate(model, texts, rates=RATES)
    return figures


def build(data: Path) -> None:
    """Build the pack in place."""
    table = HOME / "english.counts"
    count(data, DOMAINS, table, least=LEAST, it=True)
    (HOME / "pack.json").write_text(
        json.dumps(
            {
                "name": "disambig_en",
                "version": VERSION,
                "language": "en",
                "counts": table.name,
                "models": {task: f"models/{task}" for task in TASKS},
            },
            indent=1,
        )
        + "\n",
        encoding="utf8",
    )
    for task in CORRECTING:
        save_model(learn(task, data, DOMAINS, "disambig_en"), HOME / "models" / task, force=True)
    save_model(learn_it(data, "disambig_en"), HOME / "models" / "it", force=True)
    score_pack(data)
    score_it(data)


def score_pack(data: Path) -> None:
    """Score the models of the pack as they are."""
    figures: dict[str, Any] = {"scores": {}}
    for task in CORRECTING:
        model = load_model(HOME / "models" / task)
        figures["scores"][task] = score(model, data, DOMAINS)
        if task == "spelling":
            texts = split(read(data, "heldout", DOMAINS))["test"]
            figures["twenty"] = evaluate(model, texts, rates=RATES, groups=TWENTY)
        _save(figures)


def curve(data: Path) -> None:
    """Score the pack's models over tables of other sizes, weights and thresholds as they are."""
    texts = split(read(data, "heldout", DOMAINS))["test"]
    points: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as directory, Counters(data, DOMAINS) as counters:
        for number, least in enumerate(CURVE):
            path = Path(directory) / f"{number}.counts"
            counters.write(
                path, {**dict.fromkeys(CORRECTING, least), "elsewhere": LEAST["elsewhere"]}, fillers=None
            )
            point: dict[str, Any] = {"bytes": path.stat().st_size, "min_counts": least}
            for task in CORRECTING:
                model = load_model(HOME / "models" / task)
                others = NgramCounts(counts=path)
                model = replace(model, extractors=(others, *model.extractors[1:]))
                at = evaluate(model, texts, rates=(0.3,), groups=TWENTY if task == "spelling" else None)
                found = at["rates"]["0.3"]["errors_found"]
                point[task] = {
                    "accuracy": at["mean_accuracy"],
                    "interval": at["mean_interval"],
                    "found": found,
                }
            points.append(point)
            _save({"curve": points})


def leave_out(data: Path, domains: Sequence[str]) -> None:
    """Score on each of `domains` a pack that was counted, trained and tuned without it."""
    with tempfile.TemporaryDirectory() as directory:
        for domain in domains:
            others = [other for other in DOMAINS if other != domain]
            table = Path(directory) / "others.counts"
            count(data, others, table, least=LEAST, it=False)
            for task in CORRECTING:
                model = learn(task, data, others, str(table), settings=QUICK[task], examples=10_000)
                texts = split(read(data, "heldout", [domain]))["test"]
                scores = evaluate(model, texts, rates=RATES)
                left_out: dict[str, Any] = _figures().get("left_out", {})
                left_out.setdefault(task, {})[domain] = scores
                _save({"left_out": left_out})


def all_counts(data: Path) -> None:
    """Score the models with every n-gram around candidates in the table, as the bound of any pruning."""
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        table = Path(directory) / "all.counts"
        count(data, DOMAINS, table, least=EVERY, it=False)
        figures["all_counts"] = {"bytes": table.stat().st_size, "n_ngrams": CountTable.open(table).n_ngrams}
        for task in CORRECTING:
            words = load_model(HOME / "models" / task).extractors[1]
            model = learn(task, data, DOMAINS, str(table), words=words)
            figures["all_counts"][task] = score(model, data, DOMAINS)
            _save(figures)


def every_occurrence(data: Path) -> None:
    """Score prepositions at every occurrence, particles and infinitives included, trained so.

    The network over words is the pack's, which has learned from prepositions only.
    """
    scores: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        table = Path(directory) / "all.counts"
        count(data, DOMAINS, table, least=EVERY, it=False)
        words = load_model(HOME / "models" / "preposition").extractors[1]
        for name, counts in (("pack", "disambig_en"), ("all counts", str(table))):
            model = learn("preposition", data, DOMAINS, counts, words=words, everywhere=True)
            scores[name] = score(model, data, DOMAINS)
            _save({"every_occurrence": scores})


def _figures() -> dict[str, Any]:
    path = HOME / "figures.json"
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else {}


def _save(figures: dict[str, Any]) -> None:
    """Add `figures` to those of other runs and write the card anew."""
    figures = _figures() | figures
    (HOME / "figures.json").write_text(json.dumps(figures, separators=(",", ":")) + "\n", encoding="utf8")
    write_card(HOME, figures)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="directory with english/*.txt.xz")
    parser.add_argument(
        "--leave-out", nargs="*", metavar="DOMAIN", help="score without these domains (all: none given)"
    )
    parser.add_argument("--score", action="store_true", help="score the pack as it is")
    parser.add_argument("--every-occurrence", action="store_true", help="score prepositions everywhere")
    parser.add_argument("--curve", action="store_true", help="score tables of other sizes")
    parser.add_argument("--all-counts", action="store_true", help="score with an unpruned table")
    options = parser.parse_args()
    if options.leave_out is not None:
        leave_out(options.data, options.leave_out or DOMAINS)
    elif options.all_counts:
        all_counts(options.data)
    elif options.every_occurrence:
        every_occurrence(options.data)
    elif options.score:
        score_pack(options.data)
        score_it(options.data)
    elif options.curve:
        curve(options.data)
    else:
        build(options.data)


if __name__ == "__main__":
    main()
