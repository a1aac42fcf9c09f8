"""``bergsma2010.peers``: the paper's systems and external systems on the same places in the text.

The text is the held-out text of the pack's twelve domains. Besides the paper's systems, the experiment runs
the n-gram ratio rule of LanguageTool's confusion check, and the KenLM models and trained models that are
named in a JSON file. The environment variable ``DISAMBIG_PEERS`` contains the path of this file::

    {"counts": "all.counts", "ratio": "three.counts",
     "kenlm": {"KenLM, unpruned": "unpruned.bin"},
     "extractors": {"spelling": {"encoder": {"@disambig_extractors": "encoder.CandidateOdds.v1",
                                             "folder": "disambig_en"}}},
     "models": {"preposition": {"pack": "disambig_en/preposition"}},
     "most_places": 2500}

``counts`` is the table for SumLM and VAR-SVM (by default the pack's), ``ratio`` the table for the rule,
which needs all 1- to 3-grams (by default the same), ``kenlm`` are language models, which should be made
from the text that the pack counts, ``extractors`` are sections of a configuration by task and name, each of
which decides alone with a conditional logit, and ``models`` are names or directories by task and name.
``most_places`` is the number of test places of a task above which documents of the development and test
parts are left out, for extractors that take milliseconds per candidate. The task ``every`` is *preposition*
at every occurrence of one.

All systems decide at places that have a word. A model that can also choose no word is asked which word it
would be; missing and superfluous words are measured by ``people.mistakes``.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from disambig.api import (
    FeatureExtractor,
    Group,
    UserError,
    Words,
    load_model,
    nearest_first,
    resolve,
    train,
)
from disambig.api.counts import NgramCounts, open_table
from disambig.api.evaluation import SharedTestSet, SystemDecisions, flag_limits, flagged, judge, mcnemar
from disambig.api.experiments import Claim, ExperimentResult, Progress, ResultRow, text_lines
from disambig.api.features import MissingWordOdds
from disambig.api.judges import RaisesFlags
from disambig.api.training import FittedExtractor, split

from ..external_systems.kenlm import NAME as KENLM, KenLM
from ..external_systems.ngram_ratio import NAME as RATIO, NgramRatio
from ..learners.baselines import SumLM
from ..learners.conditional_logit import ConditionalLogit
from ..learners.variance_svm import VarianceSVM
from ..plain_text import PACK_DOMAINS, PACK_HELD_OUT, find_files
from ..prepositions.task import Preposition
from ..spelling import Spelling
from .learning_curves import SETS as FIVE, check_parts

SETTINGS = "DISAMBIG_PEERS"
TABLES = ("counts", "ratio")
LIMIT = "most_places"


class _UnusableSetting(Exception):
    """A value in the settings file that cannot be used; its text is the reason."""


def read_external_settings(
    decided: Mapping[str, Sequence[Group]], systems: Sequence[str]
) -> Mapping[str, Any]:
    """Return the settings from the file that `SETTINGS` names, or nothing if the variable is not set.

    Raises D743 for the first unusable value: a key, a type, a file, or a model with other candidates.

    `decided` has the tasks that models can be given for, and the groups on which each task is scored;
    `systems` are names that are already in use.
    """
    path = os.environ.get(SETTINGS)
    if not path:
        return {}
    try:
        settings = json.loads(Path(path).read_text(encoding="utf8"))
        check_external_settings(settings, decided, systems)
    except (OSError, ValueError, RecursionError, _UnusableSetting) as error:
        raise UserError("D743", path=path, problem=str(error)) from error
    return dict(settings)


def check_external_settings(
    settings: Any, decided: Mapping[str, Sequence[Group]], systems: Sequence[str]
) -> None:
    """Check all settings, the cheap checks before those that open models."""
    _check_names_and_types(settings, decided, systems)
    for key in TABLES:
        if key in settings:
            _try_open(key, settings[key], lambda place: open_table(place).require(Words.name))
    for name, place in settings.get("kenlm", {}).items():
        _try_open(f"kenlm: {name}", place, lambda place: KenLM(path=place).model)
    for task, sections in settings.get("extractors", {}).items():
        for name, section in sections.items():
            _try_open(f"extractors: {task}: {name}", section, resolve_extractor)
    for task, task_models in settings.get("models", {}).items():
        for name, place in task_models.items():
            model = _try_open(f"models: {task}: {name}", place, load_model)
            _check_model(f"models: {task}: {name}", model, decided[task])


def _check_names_and_types(
    settings: Any, decided: Mapping[str, Sequence[Group]], systems: Sequence[str]
) -> None:
    """Check the names of settings, tasks and systems, and the types of values."""
    _check_object("it", settings)
    _check_names("key", settings, (*TABLES, "kenlm", "extractors", "models", LIMIT))
    maximum = settings.get(LIMIT, 1)
    if type(maximum) is not int or maximum < 1:
        raise _UnusableSetting(f"{LIMIT} is {maximum!r}, not a whole number from 1 on")
    language_models, extractors, models = (settings.get(key, {}) for key in ("kenlm", "extractors", "models"))
    _check_object("kenlm", language_models)
    _check_object("extractors", extractors)
    _check_object("models", models)
    for key, by_task in (("extractors", extractors), ("models", models)):
        _check_names("task", by_task, decided)
        for task, named in by_task.items():
            _check_object(f"{key}: {task}", named)
    for task in decided:
        names = Counter([*systems, *language_models, *extractors.get(task, {}), *models.get(task, {})])
        for name, count in names.items():
            if count > 1:
                raise _UnusableSetting(f"two systems are called {name!r}")
    for key in TABLES:
        if key in settings:
            _check_place(key, settings[key])
    for name, place in language_models.items():
        _check_place(f"kenlm: {name}", place)
    for task, sections in extractors.items():
        for name, section in sections.items():
            _check_object(f"extractors: {task}: {name}", section)
    for task, task_models in models.items():
        for name, place in task_models.items():
            _check_place(f"models: {task}: {name}", place)


def _check_object(what: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise _UnusableSetting(f"{what} is {value!r}, not an object {{...}} with names")


def _check_names(kind: str, names: Iterable[str], allowed: Iterable[str]) -> None:
    for name in names:
        if name not in allowed:
            raise _UnusableSetting(f"no {kind} is called {name!r}: there are {nearest_first(name, allowed)}")


def _check_place(what: str, place: Any) -> None:
    if not isinstance(place, str):
        raise _UnusableSetting(f"{what} is {place!r}, not a name or path in quotes")


def _try_open(what: str, value: Any, open_: Callable[[Any], Any]) -> Any:
    """Return the object that a setting describes; its errors name the setting."""
    try:
        return open_(value)
    except UserError as error:
        raise _UnusableSetting(f"{what}: {error}") from error


def _check_model(what: str, model: Any, groups: Sequence[Group]) -> None:
    """Check that a model flags words, has the same tokenisation and decides between all candidates."""
    if model.tokenisation.name != Words.name:
        raise _UnusableSetting(f"{what}: it reads {model.tokenisation.name}, not {Words.name}")
    if not isinstance(model.judge, RaisesFlags):
        raise _UnusableSetting(f"{what}: it flags no words")
    candidates = {group.name: set(group.candidates) for group in model.task.groups}
    for group in groups:
        if not candidates.get(group.name, set()).issuperset(group.candidates):
            raise _UnusableSetting(f"{what}: its task {model.task.name} does not decide {_describe(group)}")


def _describe(group: Group) -> str:
    shown = ", ".join(group.candidates[:4]) + (", ..." if len(group.candidates) > 4 else "")
    return f"{group.name!r} between {shown}"


Texts = Mapping[str, Mapping[str, Sequence[str]]]
FALSE_ALARMS = 0.005
"""Share of the correct words that may be flagged in the development text."""
TWENTY = (
    *FIVE,
    *"their/there/they're than/them/then affect/effect quiet/quite accept/except/expect loose/lose".split(),
    *"its/it's principal/principle weather/whether your/you're advice/advise desert/dessert".split(),
    *"passed/past lead/led fewer/less".split(),
)
PATTERNS = {
    "preposition": ["3-gram", "4-gram", "5-gram"],
    "spelling": ["2-gram", "3-gram", "4-gram", "5-gram"],
}
TASKS: Mapping[str, Callable[[], Any]] = {
    "every": lambda: Preposition(only_as_preposition=False),
    "preposition": Preposition,
    "spelling": Spelling,
}
RULE, SUM, VAR = "n-gram ratio rule", "SumLM", "VAR-SVM"
FEW_EXAMPLES = 2_000
"""Maximum number of examples per group for further extractors: some take milliseconds per candidate."""
QUICK = 10
"""With `quick`, one document in this many is read."""


@dataclass(frozen=True, slots=True)
class Bergsma2010Peers:
    """Compare systems by accuracy, and by swapped words found at an equal rate of false alarms."""

    title: ClassVar[str] = "Alternatives: other systems on the same decisions"
    description: ClassVar[str] = (
        "the n-gram ratio rule, KenLM, SumLM, VAR-SVM and trained models at the same places"
    )
    needs: ClassVar[tuple[str, ...]] = PACK_HELD_OUT

    def run(self, *, data: Path, quick: bool, progress: Progress) -> ExperimentResult:
        """Score every system on each task; with `quick` on a tenth of the documents."""
        tasks = {name: make() for name, make in TASKS.items()}
        decided = {
            name: [group for group in task.groups if name != "spelling" or group.name in TWENTY]
            for name, task in tasks.items()
        }
        settings = read_external_settings(decided, (RULE, SUM, VAR))
        all_texts = read_parts(data, every=QUICK if quick else 1)
        rows: list[ResultRow] = []
        claims: list[Claim] = []
        details: dict[str, Any] = {}
        for task_name, task in tasks.items():
            groups = [group.name for group in decided[task_name]]
            texts, dev, test = _shared_parts(task, all_texts, groups, settings.get(LIMIT))
            places = {"to tune on": len(dev.instances), "to test on": len(test.instances)}
            check_parts(data, f"the task {task_name}", places)
            judged: dict[str, SystemDecisions] = {}
            systems = list(system_builders(task_name, settings))
            for number, (name, build) in enumerate(systems):
                progress(f"{task_name}: {name}", number, len(systems))
                model = build(task, texts)
                on_dev, judged[name] = judge(model, dev), judge(model, test)
                figures = measure_system(on_dev, dev, judged[name], test)
                details[f"{task_name}: {name}"] = figures
                rows += table_rows(name, task_name, figures, test)
            claims += compare_systems(task_name, judged)
        return ExperimentResult(rows=rows, claims=claims, notes=NOTES, details=details)


NOTES = (
    "Train, dev and test come from different paragraphs of the held-out text; accuracy is over all "
    "positions, including those in quotes and names, which are never flagged.",
    "Found: swapped words that are flagged, at the threshold that flags 0.5 % of the right words of the "
    "dev text. It is one threshold on calibrated log-odds; every system gets the same calibration, for "
    "each group, fitted on dev. Models of packs keep their own decision rule, which was fitted to mistakes "
    "that people make. It gives less weight to rare confusions, and here all are equally frequent.",
    "By scores alone: the threshold is on the difference of the scores, without any calibration.",
    "All systems choose among words in positions that have one; models that also decide whether there "
    "should be none are asked which word it would be.",
    "Results with a threshold for each group on the difference of uncalibrated scores, such as "
    "LanguageTool's factor for a pair, are in the JSON output (`margin_by_group`).",
    "Synthetic errors replace the numbers of words, not the text: an extractor that reads the text, such as "
    "that of the encoder, puts each candidate into the text, but reads the neighbours as they were written.",
    "KenLM, further extractors and models are included if DISAMBIG_PEERS names a file with their locations.",
)


def read_parts(data: Path, *, every: int = 1) -> Texts:
    """Return the documents of each part (train, dev, test) by domain."""
    texts: dict[str, dict[str, list[str]]] = {"train": {}, "dev": {}, "test": {}}
    for domain, path in zip(PACK_DOMAINS, find_files(data, PACK_HELD_OUT), strict=True):
        parts = split(line for number, line in enumerate(text_lines(path)) if number % every == 0)
        for part, documents in parts.items():
            texts[part][domain] = documents
    return texts


def _shared_parts(
    task: Any, texts: Texts, groups: Sequence[str], maximum: int | None
) -> tuple[Texts, SharedTestSet, SharedTestSet]:
    """Return the texts, and the places in the development and test parts that all systems decide.

    If there are more than `maximum` test places, only one document in so many of both parts is kept.
    """

    def places(texts: Texts, part: str) -> SharedTestSet:
        return SharedTestSet.from_texts(task, texts[part], Words(), groups=groups)

    test = places(texts, "test")
    if maximum is not None and len(test.instances) > maximum:
        every = -(-len(test.instances) // maximum)
        fewer = {
            part: {domain: documents[::every] for domain, documents in texts[part].items()}
            for part in ("dev", "test")
        }
        texts = {**texts, **fewer}
        test = places(texts, "test")
    return texts, places(texts, "dev"), test


def system_builders(
    task_name: str, settings: Mapping[str, Any]
) -> Iterator[tuple[str, Callable[[Any, Texts], Any]]]:
    """Yield each system's name and a function that builds its model from the task and the texts."""
    counts = settings.get("counts", "disambig_en")
    patterns = PATTERNS["spelling" if task_name == "spelling" else "preposition"]
    ratio = NgramRatio(counts=settings.get("ratio", counts))
    yield RULE, trained_system(ratio, SumLM(patterns=[RATIO]))
    for name, path in settings.get("kenlm", {}).items():
        yield name, trained_system(KenLM(path=path), SumLM(patterns=[KENLM]))
    for name, section in settings.get("extractors", {}).get(task_name, {}).items():
        extractor = resolve_extractor(section)
        yield name, trained_system(extractor, ConditionalLogit(), max_examples=FEW_EXAMPLES)
    counted, summed = NgramCounts(counts=counts), SumLM(patterns=patterns)
    yield SUM, trained_system(counted, summed)
    yield VAR, trained_system(counted, VarianceSVM(variance=patterns), summed)
    for name, place in settings.get("models", {}).get(task_name, {}).items():
        yield name, saved_model(place)
        model = load_model(place)
        for extractor in model.extractors if len(model.extractors) > 1 else ():
            if not isinstance(extractor, MissingWordOdds):  # its scores do not depend on the word
                system = trained_system(
                    FittedExtractor(extractor), ConditionalLogit(), fitted_task=model.task
                )
                yield f"{name}, its {type(extractor).__name__} alone", system


def resolve_extractor(section: Mapping[str, Any]) -> FeatureExtractor:
    """Return the extractor of a section of a configuration.

    Raises the errors of `disambig.api.resolve`.
    """
    extractor: FeatureExtractor = resolve({"extractors": {"only": dict(section)}})["extractors"]["only"]
    return extractor


def saved_model(place: str) -> Callable[[Any, Texts], Any]:
    """Return a function that loads a saved model."""
    return lambda task, texts: load_model(place)


def trained_system(
    extractor: Any, learner: Any, baseline: Any = None, *, fitted_task: Any = None, **settings: Any
) -> Callable[[Any, Texts], Any]:
    """Return a function that trains and calibrates a model with one extractor, as `disambig train` does.

    `fitted_task` is the task that the extractor was fitted to. The model decides between the candidates of
    this task if they differ from those of the task under test. Further settings are those of
    `disambig.api.train`.
    """

    def build(task: Any, texts: Texts) -> Any:
        parts = {
            "task": task if fitted_task is None or fitted_task.groups == task.groups else fitted_task,
            "tokenisation": Words(),
            "extractors": {"only": extractor},
            "learner": learner,
            "baseline": baseline or learner,
        }
        joined = {
            part: [text for documents in texts[part].values() for text in documents]
            for part in ("train", "dev")
        }
        return train(parts, joined, name="peer", **settings)

    return build


def measure_system(
    on_dev: SystemDecisions, dev: SharedTestSet, on_test: SystemDecisions, test: SharedTestSet
) -> dict[str, Any]:
    """Return one system's accuracy and its recall on synthetic errors, in %."""
    groups, group_names = test.instances.groups, [group.name for group in test.task.groups]
    by_domain = {
        name: _percent(on_test.right[test.parts == part])
        for part, name in enumerate(test.names)
        if (test.parts == part).any()
    }
    figures: dict[str, Any] = {
        "accuracy": _percent(on_test.right),
        "by_domain": by_domain,
        "mean_of_domains": float(np.mean(list(by_domain.values()))),
        "by_group": {group_names[g]: _percent(on_test.right[groups == g]) for g in np.unique(groups)},
    }
    pairs = {
        "odds": (on_dev.odds, on_test.odds, on_test.error_odds),
        "margin": (on_dev.margins, on_test.margins, on_test.error_margins),
    }
    for kind, (tuned, plain, errors) in pairs.items():
        for by_group in (False, True):
            limit = flag_limits(dev, tuned, FALSE_ALARMS, by_group=by_group)
            hits = flagged(test, errors, on_test.rows, limit)
            alarms = flagged(test, plain, None, limit)[~test.shielded]
            figures[f"{kind}{'_by_group' if by_group else ''}"] = {
                "found": _percent(hits),
                "false_alarms": _percent(alarms),
                "by_domain": {
                    name: _percent(hits[test.parts[on_test.rows] == part])
                    for part, name in enumerate(test.names)
                    if (test.parts[on_test.rows] == part).any()
                },
            }
    return figures


def table_rows(name: str, task: str, figures: Mapping[str, Any], test: SharedTestSet) -> Iterator[ResultRow]:
    """Yield the rows of the result table for one system."""
    n, errors = len(test.instances), sum(len(made.rows) for made in test.errors)
    by_group = figures["by_group"]
    yield ResultRow(name, f"{task}: accuracy", None, figures["accuracy"], n)
    yield ResultRow(name, f"{task}: accuracy, mean of domains", None, figures["mean_of_domains"], n)
    if len(by_group) > 1:
        for title, names in (("twenty", TWENTY), ("five", FIVE)):
            accuracies = [by_group[group] for group in names if group in by_group]
            if accuracies:
                yield ResultRow(
                    name, f"{task}: accuracy, mean of {title} sets", None, float(np.mean(accuracies)), n
                )
    for kind, title in (("odds", ""), ("margin", ", by scores alone")):
        recall = figures[kind]["found"] if errors else None
        yield ResultRow(name, f"{task}: found at 0.5 % false alarms{title}", None, recall, errors)
    for domain, accuracy in figures["by_domain"].items():
        part = int((test.parts == test.names.index(domain)).sum())
        yield ResultRow(name, f"{task}: accuracy, {domain}", None, accuracy, part)


def compare_systems(task: str, judged: Mapping[str, SystemDecisions]) -> Iterator[Claim]:
    """Yield the claims that each learned system is better than the best KenLM model, if there is one."""
    rivals = {name: decisions.right for name, decisions in judged.items() if name.startswith("KenLM")}
    if not rivals:
        return
    best = max(rivals, key=lambda name: rivals[name].mean())
    for name, decisions in judged.items():
        if name in rivals or name in (RULE, SUM):
            continue
        lead = _percent(decisions.right) - _percent(rivals[best])
        p = mcnemar(decisions.right, rivals[best])
        claim = f"{task}: {name} chooses better than {best}"
        yield Claim(claim, bool(lead > 0 and p < 0.05), f"{lead:+.2f} points, McNemar p = {p:.2g}")


def _percent(hits: Any) -> float:
    return 100.0 * float(np.mean(hits)) if len(hits) else 0.0
