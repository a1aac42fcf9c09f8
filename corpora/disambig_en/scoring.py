"""Scores the models of the pack, and others made in the same way; each run adds its figures to the card."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from card import TWENTY, write_card
from counting import EVERY, LEAST, Counters, count
from disambig_variance_svm.gate.missing import learn as learn_gaps
from disambig_variance_svm.it.corpora import ewt, qa_it
from disambig_variance_svm.it.picked import picked
from disambig_variance_svm.peers.harper import Harper
from learning import it_config, learn
from material import CORRECTING, DOMAINS, HOME, people, read, say
from real_words import TASKS as REAL_WORDS

from disambig.config import resolve
from disambig.counts.table import CountTable
from disambig.evaluation.evaluate import evaluate
from disambig.evaluation.figures import figures as figures_of
from disambig.evaluation.labelled import cross_validate, decide, evaluate_labelled
from disambig.evaluation.mistakes.checkers import Models
from disambig.evaluation.mistakes.figures import figures as mistakes_found
from disambig.evaluation.mistakes.rates import over_rates
from disambig.evaluation.mistakes.trial import Trial
from disambig.formats.labelled.example import Labelled
from disambig.judges.labels import softmax
from disambig.measures.intervals import wilson
from disambig.measures.reliability import reliability
from disambig.model.model import Model
from disambig.model.store import load_model
from disambig.text.documents import view_of_texts
from disambig.training.labelled import train_labelled
from disambig.training.marking import mark
from disambig.training.splits import split

CURVE: tuple[dict[int, int], ...] = (
    {1: 1, 2: 20, 3: 60, 4: 120, 5: 240},
    {1: 1, 2: 5, 3: 10, 4: 20, 5: 40},
    {1: 1, 2: 2, 3: 5, 4: 10, 5: 20},
    {1: 1, 2: 1, 3: 3, 4: 6, 5: 12},
    {1: 1, 2: 1, 3: 2, 4: 4, 5: 6},
    {1: 1, 2: 1, 3: 2, 4: 2, 5: 2},
)
"""Least counts, of both tasks, along the curve of size against accuracy."""
RATES = (0.3, 1.0, 4.0)
PEOPLE_RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
QUICK = {"preposition": {"examples": 2_000_000, "epochs": 1}, "spelling": {"examples": 15_000, "epochs": 1}}
QUICK_TEXT = 4
"""Settings of the networks where one is learned for each domain left out, and of how many paragraphs one is
learned from: what ships has learned from more."""


def score(model: Model, data: Path, domains: Sequence[str]) -> dict[str, Any]:
    """Score a model on the test part of the held-out text of `domains`, and of each."""
    figures = {}
    for name, chosen in [("all", tuple(domains)), *((domain, (domain,)) for domain in domains)]:
        figures[name] = scores(model, split(read(data, "heldout", chosen))["test"])
    return figures


def scores(model: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Score a model on some texts; of prepositions, also the choice among the words."""
    found = evaluate(model, texts, rates=RATES)
    if model.task.name == "preposition":
        found["among_words"] = among_words(model, texts)
    return found


def score_pack(data: Path) -> None:
    """Score the models of the pack as they are."""
    figures: dict[str, Any] = {"scores": {}}
    for task in CORRECTING:
        model = load_model(HOME / "models" / task)
        figures["scores"][task] = score(model, data, DOMAINS)
        if task == "spelling":
            texts = split(read(data, "heldout", DOMAINS))["test"]
            figures["twenty"] = evaluate(model, texts, rates=RATES, groups=TWENTY)
        save_figures(figures)


def score_it(data: Path) -> None:
    """Cross-validate *it* over the pairs of QA-It, and score what was learned on the test part of EWT."""
    parts = resolve(it_config("disambig_en"))
    also = [*ewt(data, "train"), *ewt(data, "dev"), *picked(data)]
    unsupervised = train_labelled(
        {**parts, "learner": parts["baseline"]}, [*qa_it(data), *also], name="disambig_en/it"
    )
    test = ewt(data, "test")
    save_figures(
        {
            "it": {
                "qa_it": cross_validate(parts, qa_it(data), folds=10, also=also, progress=say),
                "qa_it_alone": cross_validate(parts, qa_it(data), folds=10, progress=say),
                "ewt": evaluate_labelled(load_model(HOME / "models" / "it"), test),
                "ewt_baseline": evaluate_labelled(unsupervised, test),
                "left_out": dict(it_left_out(data)),
            }
        }
    )


def it_left_out(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each genre of EWT, and QA-It, with the figures of a model that learned from all the others.

    The test part of EWT is in none of it.
    """
    genres: dict[str, list[Labelled]] = {"QA-It": qa_it(data)}
    for example in (*ewt(data, "train"), *ewt(data, "dev")):
        genres.setdefault(example.where.partition(".")[0], []).append(example)
    parts, more = resolve(it_config("disambig_en")), picked(data)
    for genre, tested in genres.items():
        say(f"it without {genre}", 0, 1)
        others = [example for name, each in genres.items() if name != genre for example in each]
        model = train_labelled(parts, [*others, *more], name="disambig_en/it")
        marked = mark(model.task, model.tokenisation, tested)
        chosen, logits = decide(model, marked, 0)
        gold = marked.examples.instances.observed
        sure = softmax(logits)[np.arange(len(chosen)), chosen]
        figure = figures_of(marked.examples.instances, model.task.groups[0], gold, chosen, logits)
        yield genre, {**figure, "reliability": reliability(sure, chosen == gold)}


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
                model = replace(model, extractors=tuple(map(partial(over, path), model.extractors)))
                at = evaluate(model, texts, rates=(0.3,), groups=TWENTY if task == "spelling" else None)
                found = at["rates"]["0.3"]["errors_found"]
                point[task] = {
                    "accuracy": at["mean_accuracy"],
                    "interval": at["mean_interval"],
                    "found": found,
                }
            points.append(point)
            save_figures({"curve": points})


def over(path: Path, extractor: Any) -> Any:
    """Return an extractor over the table at `path`, where it asks one."""
    return type(extractor)(counts=path) if hasattr(extractor, "counts") else extractor


def leave_out(data: Path, domains: Sequence[str]) -> None:
    """Score on each of `domains` a pack that was counted, trained and tuned without it.

    What kind of word each word mostly is, and people's mistakes, are those of the pack.
    """
    with tempfile.TemporaryDirectory() as directory:
        for domain in domains:
            others = [other for other in DOMAINS if other != domain]
            table, gaps = Path(directory) / "others.counts", Path(directory) / "gaps"
            count(data, others, table, least=LEAST, it=False)
            learn_gaps(data, others).save(gaps)
            for task in CORRECTING:
                about: dict[str, Any] = {
                    "settings": QUICK[task],
                    "every": QUICK_TEXT,
                    "examples": 10_000,
                    "gaps": gaps,
                }
                model = learn(task, data, others, str(table), **about)
                left_out: dict[str, Any] = figures_so_far().get("left_out", {})
                found = scores(model, split(read(data, "heldout", [domain]))["test"])
                left_out.setdefault(task, {})[domain] = found
                save_figures({"left_out": left_out})


def all_counts(data: Path) -> None:
    """Score the models with every n-gram around candidates in the table, as the bound of any pruning.

    Those of head words are pruned as in the pack.
    """
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        table = Path(directory) / "all.counts"
        count(data, DOMAINS, table, least=EVERY, it=False)
        figures["all_counts"] = {"bytes": table.stat().st_size, "n_ngrams": CountTable.open(table).n_ngrams}
        for task in CORRECTING:
            words = load_model(HOME / "models" / task).extractors[1]
            model = learn(task, data, DOMAINS, str(table), words=words)
            figures["all_counts"][task] = score(model, data, DOMAINS)
            save_figures(figures)


def score_people(data: Path, parts: Sequence[str] = ("dev", "test")) -> None:
    """Score the models on mistakes that people made and on clean paragraphs, all together."""
    checker = Models.named("+".join(f"disambig_en/{task}" for task in (*CORRECTING, *REAL_WORDS)))
    found: dict[str, Any] = figures_so_far().get("people", {})
    for part in parts:
        trial = Trial.of(checker, *people(data, part))
        found[part] = mistakes_found(trial, checker.limits())
        found[part]["curve"] = over_rates(checker, trial, PEOPLE_RATES)
        if Harper.is_installed():
            found[part]["harper"] = mistakes_found(Trial.of(Harper(), *people(data, part)))
    save_figures({"people": found})


def among_words(model: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Return how often the author's preposition has the best score of all, at every one that is written."""
    view = view_of_texts(texts, model.tokenisation)
    instances = model.instances(view)
    instances = instances.take(instances.lengths > 0)
    group = model.task.groups[0]
    scores = model.decide_at(instances, view).scores.reshape(len(instances), -1)
    words = [r for r, word in enumerate(group.candidates) if word]
    right = int((scores[:, words].argmax(axis=1) == instances.observed).sum())
    counts = np.bincount(instances.observed, minlength=len(words))
    n = max(len(instances), 1)
    return {
        "n": len(instances),
        "majority": float(counts.max() / n),
        "accuracy": right / n,
        "interval": wilson(right, n),
    }


def figures_so_far() -> dict[str, Any]:
    """Return the figures of all runs."""
    path = HOME / "figures.json"
    return json.loads(path.read_text(encoding="utf8")) if path.exists() else {}


def save_figures(figures: dict[str, Any]) -> None:
    """Add `figures` to those of other runs and write the card anew."""
    figures = figures_so_far() | figures
    (HOME / "figures.json").write_text(json.dumps(figures, separators=(",", ":")) + "\n", encoding="utf8")
    write_card(HOME, figures)
