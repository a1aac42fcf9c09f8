"""Score the models of the pack, measure how often their flags are right, and score KenLM as a baseline."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from card import TWENTY, write_card
from counting import ALL_NGRAMS, MIN_COUNTS, Counters, count
from disambig_variance_svm import PACK_DOMAINS
from disambig_variance_svm.external_systems import HarperChecker, KenLM, make_kenlm, missing, with_scores
from disambig_variance_svm.prepositions import learn_missing as learn_gaps
from disambig_variance_svm.pronoun_it import pick_examples, read_ewt, read_qa_it
from learning import it_config, it_examples, learn
from manual_review import readings, reviewed_mistakes
from material import CORRECTING, HOME, read_people, read_text
from real_words import TASKS as REAL_WORDS

from disambig.checking import ModelChecker, sweep_rates
from disambig.config import resolve
from disambig.counts import CountTable
from disambig.data import PUT_IN, TAKEN_OUT, PrecisionPoint, PrecisionTable
from disambig.decision import label_softmax
from disambig.evaluation import (
    PER_1000,
    MistakeTrial,
    cross_validate,
    decide,
    evaluate,
    evaluate_labelled,
    figures as figures_of,
    measure_precision,
    mistake_figures as mistakes_found,
    precision_by_rule,
    share_at,
)
from disambig.experiments import PackFigures, log_progress
from disambig.formats import Labelled
from disambig.metrics import reliability, wilson
from disambig.models import Model, load_model, write_precision
from disambig.rules import MeasuredShare, save_measured
from disambig.text import view_of_texts
from disambig.training import label_instances, split, train_labelled
from disambig.types import task_rules

CURVE: tuple[dict[int, int], ...] = (
    {1: 1, 2: 20, 3: 60, 4: 120, 5: 240},
    {1: 1, 2: 5, 3: 10, 4: 20, 5: 40},
    {1: 1, 2: 2, 3: 5, 4: 10, 5: 20},
    {1: 1, 2: 1, 3: 3, 4: 6, 5: 12},
    {1: 1, 2: 1, 3: 2, 4: 4, 5: 6},
    {1: 1, 2: 1, 3: 2, 4: 2, 5: 2},
)
"""Minimum counts, for both tasks, along the curve of size against accuracy."""
FIGURES = PackFigures(HOME, write_card, indent=None)
RATES = (0.3, 1.0, 4.0)
PEOPLE_RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
QUICK = {"preposition": {"examples": 2_000_000, "epochs": 1}, "spelling": {"examples": 15_000, "epochs": 1}}
QUICK_TEXT = 4
"""Settings of the networks for models that leave a domain out, which are trained on every `QUICK_TEXT`-th
paragraph; the shipped networks are trained on more."""


def score(model: Model, data: Path, domains: Sequence[str]) -> dict[str, Any]:
    """Score a model on the test part of the held-out text of all `domains`, and of each domain."""
    figures = {}
    for name, chosen in [("all", tuple(domains)), *((domain, (domain,)) for domain in domains)]:
        figures[name] = scores(model, split(read_text(data, "heldout", chosen))["test"])
    return figures


def scores(model: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Score a model on some texts; for prepositions also the choice between the words alone."""
    figures = evaluate(model, texts, rates=RATES)
    if model.task.name == "preposition":
        figures["among_words"] = among_words(model, texts)
    return figures


def score_pack(data: Path) -> None:
    """Score the models of the pack as they are."""
    figures: dict[str, Any] = {"scores": {}}
    for task in CORRECTING:
        model = load_model(HOME / "models" / task)
        figures["scores"][task] = score(model, data, PACK_DOMAINS)
        if task == "spelling":
            texts = split(read_text(data, "heldout", PACK_DOMAINS))["test"]
            figures["twenty"] = evaluate(model, texts, rates=RATES, groups=TWENTY)
        FIGURES.add(figures)


def score_it(data: Path) -> None:
    """Cross-validate *it* over the pairs of QA-It, and score the trained model on the test part of EWT."""
    parts = resolve(it_config("disambig_en"))
    qa_it, more, test = read_qa_it(data), it_examples(data), read_ewt(data, "test")
    unsupervised = train_labelled(
        {**parts, "learner": parts["baseline"]}, [*qa_it, *more], name="disambig_en/it"
    )
    figures = {
        "qa_it": cross_validate(parts, qa_it, folds=10, also=more, progress=log_progress),
        "qa_it_alone": cross_validate(parts, qa_it, folds=10, progress=log_progress),
        "ewt": evaluate_labelled(load_model(HOME / "models" / "it"), test),
        "ewt_baseline": evaluate_labelled(unsupervised, test),
        "left_out": dict(it_left_out(data)),
    }
    FIGURES.add({"it": figures})


def it_left_out(data: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each genre of EWT, and QA-It, with the figures of a model trained on all the others.

    The test part of EWT is not used.
    """
    genres: dict[str, list[Labelled]] = {"QA-It": read_qa_it(data)}
    for example in (*read_ewt(data, "train"), *read_ewt(data, "dev")):  # files are named GENRE.PART
        genres.setdefault(example.where.partition(".")[0], []).append(example)
    parts, more = resolve(it_config("disambig_en")), pick_examples(data)
    for genre, tested in genres.items():
        log_progress(f"it without {genre}", 0, 1)
        others = [example for name, examples in genres.items() if name != genre for example in examples]
        model = train_labelled(parts, [*others, *more], name="disambig_en/it")
        marked = label_instances(model.task, model.tokenisation, tested)
        chosen, logits = decide(model, marked, 0)
        gold = marked.examples.instances.observed
        probabilities = label_softmax(logits)[np.arange(len(chosen)), chosen]
        figures = figures_of(marked.examples.instances, model.task.groups[0], gold, chosen, logits)
        yield genre, {**figures, "reliability": reliability(probabilities, chosen == gold)}


def curve(data: Path) -> None:
    """Score the pack's models with tables of other sizes and unchanged weights and thresholds."""
    texts = split(read_text(data, "heldout", PACK_DOMAINS))["test"]
    points: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as directory, Counters(data, PACK_DOMAINS) as counters:
        for number, min_counts in enumerate(CURVE):
            path = Path(directory) / f"{number}.counts"
            by_task = {**dict.fromkeys(CORRECTING, min_counts), "elsewhere": MIN_COUNTS["elsewhere"]}
            counters.write(path, by_task, fillers=None)
            point: dict[str, Any] = {"bytes": path.stat().st_size, "min_counts": min_counts}
            for task in CORRECTING:
                model = load_model(HOME / "models" / task)
                model = replace(model, extractors=tuple(map(partial(with_table, path), model.extractors)))
                figures = evaluate(model, texts, rates=(0.3,), groups=TWENTY if task == "spelling" else None)
                point[task] = {
                    "accuracy": figures["mean_accuracy"],
                    "interval": figures["mean_interval"],
                    "found": figures["rates"]["0.3"]["errors_found"],
                }
            points.append(point)
            FIGURES.add({"curve": points})


def with_table(path: Path, extractor: Any) -> Any:
    """Return the extractor with the table at `path`, if it uses one."""
    return type(extractor)(counts=path) if hasattr(extractor, "counts") else extractor


def leave_out(data: Path, domains: Sequence[str]) -> None:
    """Score, on each of `domains`, a pack that was counted, trained and tuned without it.

    The usual part of speech of each word, and people's mistakes, are those of the pack.
    """
    with tempfile.TemporaryDirectory() as directory:
        for domain in domains:
            others = [other for other in PACK_DOMAINS if other != domain]
            table, gaps = Path(directory) / "others.counts", Path(directory) / "gaps"
            count(data, others, table, min_counts=MIN_COUNTS, with_it=False)
            learn_gaps(data, others).save(gaps)
            quick: dict[str, Any] = {"every": QUICK_TEXT, "examples": 10_000, "gaps": gaps}
            for task in CORRECTING:
                model = learn(task, data, others, str(table), settings=QUICK[task], **quick)
                left_out: dict[str, Any] = FIGURES.read().get("left_out", {})
                figures = scores(model, split(read_text(data, "heldout", [domain]))["test"])
                left_out.setdefault(task, {})[domain] = figures
                FIGURES.add({"left_out": left_out})


def all_counts(data: Path) -> None:
    """Score the models with all n-grams around candidates in the table: an upper bound for any pruning.

    N-grams of head words are pruned as in the pack.
    """
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as directory:
        table = Path(directory) / "all.counts"
        count(data, PACK_DOMAINS, table, min_counts=ALL_NGRAMS, with_it=False)
        figures["all_counts"] = {"bytes": table.stat().st_size, "n_ngrams": CountTable.open(table).n_ngrams}
        for task in CORRECTING:
            network = load_model(HOME / "models" / task).extractors[1]
            model = learn(task, data, PACK_DOMAINS, str(table), network=network)
            figures["all_counts"][task] = score(model, data, PACK_DOMAINS)
            FIGURES.add(figures)


def score_people(data: Path, parts: Sequence[str] = ("dev", "test")) -> None:
    """Score the models on mistakes that people made and on clean paragraphs, all together."""
    checker = correcting_checker()
    people: dict[str, Any] = FIGURES.read().get("people", {})
    for part in parts:
        trial = MistakeTrial.from_checker(checker, *read_people(data, part), readings())
        harper = people.get(part, {}).get("harper")  # kept from an earlier run if it is not installed here
        people[part] = mistakes_found(trial, checker.limits())
        people[part]["curve"] = sweep_rates(checker, trial, PEOPLE_RATES)
        if HarperChecker.is_installed():
            harper = mistakes_found(MistakeTrial.from_checker(HarperChecker(), *read_people(data, part)))
        if harper is not None:
            people[part]["harper"] = harper
    FIGURES.add({"people": people})


def among_words(model: Model, texts: Sequence[str]) -> dict[str, Any]:
    """Return how often the author's preposition has the highest score, at every occurrence of one."""
    view = view_of_texts(texts, model.tokenisation)
    instances = model.instances(view)
    instances = instances.take(instances.lengths > 0)
    group = model.task.groups[0]
    scores = model.decide_at(instances, view).scores.reshape(len(instances), -1)
    words = [number for number, word in enumerate(group.candidates) if word]
    right = int((scores[:, words].argmax(axis=1) == instances.observed).sum())
    counts = np.bincount(instances.observed, minlength=len(words))
    n = max(len(instances), 1)
    shares = {"majority": float(counts.max() / n), "accuracy": right / n, "interval": wilson(right, n)}
    return {"n": len(instances), **shares}


def correcting_checker() -> ModelChecker:
    """Return a checker with all models of the pack that correct words."""
    return ModelChecker.from_names("+".join(f"disambig_en/{task}" for task in (*CORRECTING, *REAL_WORDS)))


SHARES = (0.5, 2 / 3, 0.8, 0.9)
"""What the card shows: one in two, two in three, four in five, nine in ten."""


def measure_trust(data: Path) -> None:
    """Measure how often flags are right, and write ``trust.json`` for each model and the figures of the card.

    The curves are measured on the development part; the card also shows the test part. Flags on unchanged
    paragraphs that show a mistake according to the review or the readings are left out.
    """
    checker = correcting_checker()
    trials = {}
    for number, part in enumerate(("dev", "test")):
        log_progress(f"trust: {part}", number, 2)
        trial = MistakeTrial.from_checker(checker, *read_people(data, part))
        trials[part] = trial.without(reviewed_mistakes(trial.clean))

    # a curve for each task with enough flags, beside its model
    dev = trials["dev"]
    tables = measure_precision(dev, checker.limits(), text=_text(dev))
    for task in checker.tasks:
        path = HOME / "models" / task
        if task in tables:
            write_precision(path, tables[task])
        else:
            (path / "trust.json").unlink(missing_ok=True)

    # the card's rows, also for the words that are put in or taken out
    tasks = {}
    for task, trust in tables.items():
        for kind in ("", *(kind for kind in (PUT_IN, TAKEN_OUT) if kind in trust.pairs)):
            if rows := _rows(trust, trials["test"], kind):
                tasks[f"{task}, {kind}" if kind else task] = rows
    FIGURES.add({"trust": {"per_1000": PER_1000, "text": _text(dev), "tasks": tasks}})


def measure_rules(data: Path) -> None:
    """Measure how often flags of each rule are right at the usual rates, and write the page of the rules."""
    checker = correcting_checker()
    dev = MistakeTrial.from_checker(checker, *read_people(data, "dev"))
    write_rules(dev.without(reviewed_mistakes(dev.clean)), checker)


def write_rules(trial: MistakeTrial, checker: ModelChecker) -> None:
    """Write how often flags of each rule were right in a trial, and the page of the rules."""
    rules = {model.task.name: task_rules(model.task) for model in checker.models}
    points = precision_by_rule(trial, checker.limits(), rules)
    shares = {
        name: MeasuredShare(point.share, point.right + point.wrong + point.false)
        for name, point in sorted(points.items())
    }
    save_measured(shares, text=_text(trial))


def _text(trial: MistakeTrial) -> str:
    projects = len({text.repo for text in (*trial.fixes, *trial.clean)})
    return f"documentation of {projects} projects, as if {PER_1000:g} words in 1,000 were mistakes"


def _rows(trust: PrecisionTable, test: MistakeTrial, kind: str) -> list[dict[str, Any]]:
    """Return, for each of `SHARES`, the lowest probability that reaches it, and the figures of both parts."""
    rows: list[dict[str, Any]] = []
    for share in SHARES:
        points = trust.pairs[kind] if kind else trust.points
        point = next((point for point in points if point.share >= share), None)
        if point is not None:
            on_test = share_at(test, trust.task, point.least, kind=kind)
            rows.append({"asked": share, "dev": _plain(point), "test": on_test and _plain(on_test)})
    return rows


def _plain(point: PrecisionPoint) -> dict[str, Any]:
    return {name: getattr(point, name) for name in PrecisionPoint.__slots__}


def leave_out_kenlm(data: Path, domains: Sequence[str]) -> None:
    """Score, on each of `domains`, a KenLM model made from the text of all others.

    The instances are those of `leave_out`, the candidates those of the pack.
    """
    if without := missing(data):
        raise SystemExit(f"KenLM needs {without}")
    models = [load_model(HOME / "models" / task) for task in CORRECTING]
    for number, domain in enumerate(domains):
        log_progress("KenLM", number, len(domains))
        texts = split(read_text(data, "heldout", [domain]))["test"]
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "others.bin"
            make_kenlm(read_text(data, "train", [other for other in PACK_DOMAINS if other != domain]), path)
            by_task = {model.task.name: _kenlm_scores(model, KenLM(path=path), texts) for model in models}
        left_out: dict[str, Any] = FIGURES.read().get("left_out_kenlm", {})
        for task, figures in by_task.items():
            left_out.setdefault(task, {})[domain] = figures
        FIGURES.add({"left_out_kenlm": left_out})


def _kenlm_scores(model: Model, kenlm: KenLM, texts: Sequence[str]) -> dict[str, Any]:
    """Return how often the author's word is the most probable, by group; for prepositions among words."""
    view = view_of_texts(texts, model.tokenisation)
    instances = model.instances(view)
    with_kenlm: Model = with_scores(model, kenlm.fit(view, instances, model.task.groups))
    if model.task.name == "preposition":
        return {"among_words": among_words(with_kenlm, texts)}
    right = with_kenlm.decide_at(instances, view).chosen == instances.observed
    groups = {}
    for g in np.unique(instances.groups).tolist():
        rows = instances.groups == g
        groups[model.task.groups[g].name] = {"n": int(rows.sum()), "accuracy": float(right[rows].mean())}
    return {"groups": groups}
