"""Train the model that a config file describes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.config import check_sections, read_config, resolve
from disambig.data import CandidateLists
from disambig.decision import check_decision_rule, check_fit, default_rule_config
from disambig.errors import UserError, contract_error, describe_value, nearest_first
from disambig.features import check_candidate_kind
from disambig.files import ErrorCallback
from disambig.formats import (
    Labelled,
    NBestList,
    UnreadableDocument,
    find_inputs,
    list_instances,
    name_error_place,
    read_all,
    read_clean,
    read_fixes,
    read_labelled,
    read_nbest,
    to_candidate_lists,
)
from disambig.formatting import pluralize
from disambig.metrics import list_measure_named, text_costs
from disambig.models import Model
from disambig.registry import describe_component, plugin_configs
from disambig.settings import COUNT, NON_NEGATIVE, NON_NEGATIVE_COUNT, get_settings
from disambig.text import hash_word
from disambig.training.fitting import Parts, ResolvedConfig
from disambig.training.labelled_dataset import (
    TextExamples,
    as_task_decides,
    dataset_report,
    single_token_examples,
    split,
)
from disambig.training.trainer import train, train_examples, train_labelled
from disambig.type_aliases import Progress, no_progress
from disambig.types import (
    DecisionRuleTraits,
    LearnsSettings,
    Task,
    check_declarations,
    decides,
    get_trait,
    is_language_code,
    metric,
    needs_training,
)


def config_path(name: str | Path) -> Path:
    """Return the path of a config, given as a file or as the name of a plugin's config.

    Raises D472 for a name without a suffix that is neither.
    """
    path = Path(name)
    if path.suffix or path.is_file() or path.name != str(name):
        return path
    configs = plugin_configs()
    if str(name) not in configs:
        raise UserError("D472", name=str(name), names=nearest_first(str(name), configs))
    return configs[str(name)]


_OBJECTS = ("task", "tokenisation", "extractors", "learner", "baseline", "judge")
_OPTIONAL = ("baseline", "judge", "tokenisation")
_WORDS = {"@disambig_tokenisations": "disambig.words.v1"}
"""The tokenisation of a task on items outside any text, which needs none."""
_NO_BASELINE = {"@disambig_learners": "disambig.NoPreference.v1"}
"""The baseline of a task with labels whose config has none."""
_BASELINE_HELP = "name a learner that needs no training, such as disambig.NoPreference.v1"
_SOURCES = ("text", "labelled", "lists", "encoding", "lines", "fixes", "clean")
"""The settings of ``[training]`` that name the input."""
_SECTIONS = ("model", *_OBJECTS, "training")
_RATE = "flags_per_1000"
"""A setting of the decision rule that can also be in ``[training]``."""


def run(
    path: str | Path,
    *,
    text: Sequence[str] = (),
    labelled: Sequence[str] = (),
    lists: Sequence[str] = (),
    fixes: Sequence[str] = (),
    clean: Sequence[str] = (),
    encoding: str | None = None,
    lines: bool | None = None,
    strict: bool = False,
    tell: ErrorCallback | None = None,
    overrides: dict[str, Any] | None = None,
    progress: Progress = no_progress,
) -> tuple[Model, TrainingPlan, dict[str, Any]]:
    """Train the model that a config file describes.

    `path`: a file with the sections ``[model]`` (name, version), ``[task]``, ``[tokenisation]``,
    ``[extractors]`` with one ``[extractors.NAME]`` per extractor, ``[learner]``, ``[baseline]`` (optional for
    tasks with labels) and ``[training]`` (text, labelled, lists, fixes, clean, encoding, lines,
    flags_per_1000, max_examples, min_examples, seed); or the name of a plugin's config, such as ``topic``.
    `text`: files and directories to learn from, overriding those of the config.
    `labelled`: labelled examples (see `read_labelled`) to learn from instead of text.
    `lists`: files of n-best lists (see `disambig.formats.nbest`) for a task that decides between the
    candidates of lists.
    `fixes` and `clean`: files of mistakes that people made and of paragraphs without mistakes, in addition to
    text, for tasks that correct words (see `disambig.formats.fixes`).
    `encoding`: encoding of the labelled examples, overriding that of the config.
    `lines`: whether each line of a text file is a document, overriding the config.
    `strict`: whether a malformed example in XML is an error; otherwise it is left out.
    `tell`: called with one line for each example that is left out, and for each count table that does not
    fit.
    Returns the model, the plan that it was trained with, and what `disambig.evaluation.add_assessment` tests
    it on: the ``texts`` or ``lists`` that were held out, or all ``labelled`` examples, for cross-validation;
    empty if there are too few lists.
    Raises D005 for the config, D3xx for the text, D412 if there is nothing to learn from, D426 to D429 for
    mistakes that cannot be used.
    """
    plan = read_plan(path, overrides=overrides, mistakes=bool(fixes))
    sources, settings = plan.sources, plan.settings
    error_files = list(fixes) or sources.get("fixes", []), list(clean) or sources.get("clean", [])
    examples = list(labelled) or (not text and sources.get("labelled")) or []
    if any(error_files):
        check_error_files(plan, *error_files, other=bool(lists or examples))
    if plan.parts.decides.where == "items" or lists:
        return _run_lists(plan, list(lists) or sources.get("lists", []), progress)
    options: dict[str, Any] = {"name": plan.name, "version": plan.version, "tell": tell, "progress": progress}
    if examples:
        encoding = encoding or sources.get("encoding")
        labelled_examples = read_labelled(examples, encoding=encoding, strict=strict, tell=tell)
        plan = plan.with_learned_settings(labelled_examples)
        model = train_labelled(plan.parts, labelled_examples, config=plan.config, **options, **settings)
        return model, plan, {"labelled": labelled_examples}
    if plan.parts.decides.between == "labels":
        raise UserError("D463", task=plan.parts.task.name)
    paths = list(text) or sources.get("text")
    if not paths:
        raise nothing_named()
    error_corpus = read_error_corpus(*error_files)
    texts = split(read_texts(paths, lines=sources.get("lines", False) if lines is None else lines))
    model = train(plan.parts, texts, config=plan.config, **error_corpus, **options, **settings)
    n = sum(map(len, texts.values()))
    n_empty = sum(not text.strip() for part in texts.values() for text in part)
    counts = {
        "documents": {name: len(part) for name, part in texts.items()},
        "account": dataset_report(n - n_empty, ["empty"] * n_empty, "documents"),
    }
    model = replace(model, provenance=model.provenance | {"examples": model.provenance["examples"] | counts})
    return model, plan, {"texts": texts["test"]}


def nothing_named() -> UserError:
    """Return the error for settings that name no input."""
    hint = "name text under [training] or with --text, labelled examples with --labelled"
    return UserError("D412", what="the settings", hint=hint)


def check_error_files(plan: TrainingPlan, fixes: Sequence[str], clean: Sequence[str], *, other: bool) -> None:
    """Raise if mistakes that people made, or clean paragraphs, would not be used.

    `other` says whether something other than text is learned from, such as labelled examples. Raises D426,
    D427 or D429.
    """
    if not (fixes and clean) or other:
        problem = "text is missing" if other else f"{'clean' if fixes else 'fixes'} is missing"
        raise UserError("D426", problem=problem)
    plan.parts.with_error_rule(plan.config)  # raises what training would raise


def read_error_corpus(fixes: Sequence[str], clean: Sequence[str]) -> dict[str, Any]:
    """Read ``mistakes`` and ``clean`` paragraphs from files, as keyword arguments of `train`."""
    return {
        "mistakes": [fix for name in fixes for fix in read_fixes(name)],
        "clean": [paragraph for name in clean for paragraph in read_clean(name)],
    }


def _run_lists(
    plan: TrainingPlan, paths: Sequence[str], progress: Progress
) -> tuple[Model, TrainingPlan, dict[str, Any]]:
    """Train on n-best lists; the lists of some documents are held out for testing."""
    task = plan.parts.task
    if plan.parts.decides.where != "items":
        raise UserError("D336", model=plan.name, task=task.name)
    if not paths:
        raise UserError("D412", what="the settings", hint="name lists under [training] or with --lists")
    plan = plan.with_settings(task.learn_settings(()) if isinstance(task, LearnsSettings) else {})
    items = list(read_nbest(paths))
    learned, tested = split_lists(items)
    options: dict[str, Any] = {"n_test_lists": len(tested), "progress": progress, **plan.settings}
    model = train_lists(
        plan.parts, learned, name=plan.name, version=plan.version, config=plan.config, **options
    )
    if tested:
        return model, plan, {"lists": tested}
    n = len({item.document for item in items})
    of_documents = f"{pluralize(n, 'document')} (equal references count as one)"
    notes = [*model.provenance["notes"], f"not tested: too few to hold any out: {of_documents}"]
    return replace(model, provenance={**model.provenance, "notes": notes}), plan, {}


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """The contents of a config file: its objects, the settings of ``[training]`` and the model's name.

    Those settings that name the input are in `sources`, the others in `settings`.
    """

    parts: ResolvedConfig
    sources: dict[str, Any]
    settings: dict[str, Any]
    config: dict[str, Any]
    name: str
    version: str

    def with_learned_settings(self, labelled: Sequence[Labelled]) -> TrainingPlan:
        """Return a plan whose task has the settings that it learns from labelled examples, if any.

        These are those of its ``learn_settings(labelled, tokenisation)``.

        Raises D467 if all examples have the same label and there is no baseline; D414 for other settings than
        a config can have; whatever the task raises.
        """
        task, tokenisation = self.parts.task, self.parts.tokenisation
        if self.parts.decides.between != "labels":
            return self
        labelled = as_task_decides(task, labelled)
        labels = sorted({example.label for example in labelled})
        if len(labels) < 2 and not self.parts.has_baseline:
            raise UserError("D467", n=len(labelled), label=labels[0])
        if self.parts.decides.where == "tokens":
            # labels of examples that will be rejected must not become labels of the model
            labelled = single_token_examples(labelled, tokenisation) or labelled
        learned = task.learn_settings(labelled, tokenisation) if isinstance(task, LearnsSettings) else {}
        return self.with_settings(learned)

    def with_settings(self, learned: dict[str, Any]) -> TrainingPlan:
        """Return a plan whose task has additional settings besides those of the config.

        Raises D414 if a config cannot have these settings, or the task then has invalid groups.
        """
        task: Any = self.parts.task
        part = describe_component("tasks", task)
        if not isinstance(learned, dict):
            wanted = "a dict of settings, which is empty if there is nothing to learn"
            raise contract_error(part, f"learn_settings returned {describe_value(learned)}", wanted)
        if not learned:
            return self
        section = {**self.config["task"], **learned}
        settings = get_settings(type(task))
        if unknown := [name for name in learned if name not in settings]:
            seen = f"learn_settings returned the setting {unknown[0]!r}"
            raise contract_error(part, seen, f"settings of the task: {', '.join(settings)}")
        try:
            json.dumps(learned)
            resolve({"task": section})  # a saved model is built from this section
        except TypeError as problem:
            raise contract_error(part, f"learn_settings returned {learned!r}", _CONFIG_VALUES) from problem
        except UserError as problem:
            seen = f"learn_settings returned settings that a saved config cannot have ({problem.text})"
            raise contract_error(part, seen, _CONFIG_VALUES) from problem
        new = replace(task, **learned)
        check_declarations(new)
        return replace(self, parts=replace(self.parts, task=new), config={**self.config, "task": section})


_CONFIG_VALUES = "values of JSON of the types of the settings, such as a list of texts for Sequence[str]"


def read_plan(
    path: str | Path, *, overrides: dict[str, Any] | None = None, mistakes: bool = False
) -> TrainingPlan:
    """Read a config, given as a file or by the name of a plugin's config, and build its objects.

    `mistakes` says whether there are mistakes that people made: if the config names no decision rule, the
    default is one that learns from them. Raises D005 if something is missing or unknown, D472 for an unknown
    config name; D418, D419, D422 for an extractor or a decision rule that is for tasks with other candidates.
    """
    path = config_path(path)
    config = read_config(path, overrides)
    unknown = [name for name in config if name not in _SECTIONS]
    if unknown:
        names = nearest_first(unknown[0], _SECTIONS)
        raise _invalid_config(path, f"unknown section [{unknown[0]}]; known sections: {names}")
    missing = [name for name in (*_OBJECTS, "model") if name not in config and name not in _OPTIONAL]
    if missing:
        problem = f"section [{missing[0]}] is missing; `disambig train --example` shows all"
        raise _invalid_config(path, problem)
    settings = dict(config.get("training", {}))
    _check_settings(settings, path)
    sections = {name: config[name] for name in _OBJECTS if name in config}
    check_sections(sections, path)
    parts = resolve(sections, source=path)
    task, decided = parts["task"], decides(parts["task"])
    # what the config says of the task is checked first, for a message that names the section
    task_name = sections["task"].get("name")
    if isinstance(task_name, str) and not task_name.isidentifier():
        expected = "a name of letters, digits and underscores that does not begin with a digit"
        raise _invalid_config(path, f"name in [task] is {task_name!r}: give {expected}")
    task_language = sections["task"].get("language")
    if isinstance(task_language, str) and not is_language_code(task_language):
        expected = 'a code such as "en", or "" for any language'
        raise _invalid_config(path, f"language in [task] is {task_language!r}: give {expected}")
    check_declarations(task)
    # sections that some tasks need not have
    if "tokenisation" not in parts:
        if decided.where != "items":
            raise _invalid_config(path, "section [tokenisation] is missing")
        sections["tokenisation"] = _WORDS
    if "baseline" not in parts:
        if decided.between == "words":
            raise _invalid_config(path, f"section [baseline] is missing: {_BASELINE_HELP}")
        sections["baseline"] = dict(_NO_BASELINE)
    elif needs_training(parts["baseline"]):
        # It is fitted without examples to each batch that it decides.
        name = sections["baseline"]["@disambig_learners"]
        raise _invalid_config(path, f"{name} cannot be the [baseline]: {_BASELINE_HELP}")
    if "judge" not in parts:
        sections["judge"] = default_rule_config(task, mistakes=mistakes or bool(settings.get("fixes")))
    parts |= resolve({name: sections[name] for name in _OPTIONAL if name not in parts}, source=path)
    # the settings of [training], and whether all components support the task
    if _RATE in settings:
        sections["judge"] = _with_rate(sections["judge"], parts["judge"], settings.pop(_RATE), path)
        parts |= resolve({"judge": sections["judge"]}, source=path)
    check_decision_rule(parts["judge"], task)
    for extractor in parts["extractors"].values():
        check_candidate_kind(extractor, lists=decided.between == "lists")
    abstains = get_trait(parts["judge"], DecisionRuleTraits, "least_margin") is not None
    if "least_margin" in settings and not abstains:
        problem = f"training.least_margin is for tasks with labels; tasks with words use {_RATE}"
        raise _invalid_config(path, problem)
    model_section = config["model"]
    name, version = str(model_section.get("name") or task.name), str(model_section.get("version") or "0.1.0")
    sources = {name: settings.pop(name) for name in _SOURCES if name in settings}
    return TrainingPlan(ResolvedConfig.from_parts(parts), sources, settings, sections, name, version)


def _with_rate(section: dict[str, Any], rule: Any, rate: float, path: str | Path) -> dict[str, Any]:
    """Return the section of a decision rule with the rate of ``[training]``; D005 if that is not possible."""
    check_fit(rule)
    if _RATE in section:
        problem = f"{_RATE} is in [training] and in [judge]; keep one of them"
        raise _invalid_config(path, problem)
    if _RATE not in {field.name for field in fields(rule)}:
        rule_name = section["@disambig_judges"]
        problem = f"training.{_RATE} is set, but the decision rule {rule_name} has no such setting"
        raise _invalid_config(path, problem)
    return {**section, _RATE: rate}


def _invalid_config(path: str | Path, problem: str) -> UserError:
    return UserError("D005", path=path, problem=problem)


def _check_settings(settings: dict[str, Any], path: str | Path) -> None:
    """Raise D005 for a setting of ``[training]`` that is unknown or has an invalid value."""
    for name, value in settings.items():
        if name not in _SETTINGS:
            names = nearest_first(name, _SETTINGS)
            raise _invalid_config(path, f"unknown setting training.{name}; known settings: {names}")
        is_valid, expected = _SETTINGS[name]
        if not is_valid(value):
            raise _invalid_config(path, f"training.{name} is {value!r}, not {expected}")


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    _RATE: (NON_NEGATIVE.accepts, "a number of at least 0"),
    "max_examples": (COUNT.accepts, "a whole number of at least 1"),
    "min_examples": (NON_NEGATIVE_COUNT.accepts, "a whole number of at least 0"),
    "seed": (NON_NEGATIVE_COUNT.accepts, "a whole number of at least 0"),
    "labelled": (_are_texts, 'a list such as ["examples.tsv", "more.jsonl"]'),
    "lists": (_are_texts, 'a list such as ["lists.jsonl"]'),
    "fixes": (_are_texts, 'a list such as ["fixes.jsonl"]'),
    "clean": (_are_texts, 'a list such as ["clean.jsonl"]'),
    "encoding": (lambda value: isinstance(value, str), 'a name such as "latin-1"'),
    "text": (_are_texts, 'a list such as ["texts", "more.txt"]'),
    "lines": (lambda value: isinstance(value, bool), "true or false"),
    "least_margin": (lambda value: NON_NEGATIVE.accepts(value) and value <= 99, "a number from 0 to 99"),
}
"""For each setting of ``[training]``, a check of its value and a description for the message."""


def read_texts(paths: Sequence[str], *, lines: bool = False) -> list[str]:
    """Return the texts of all documents in `paths`; raise for the first unreadable one, or a directory."""

    def raise_if_unreadable(note: UserError) -> None:
        if note.code == "D308":
            raise note

    texts = []
    for document in read_all(find_inputs(paths, lines=lines, note=raise_if_unreadable)):
        if isinstance(document, UnreadableDocument):
            raise document.error
        texts.append(document.text)
    return texts


_N_PARTS = 5
"""Number of parts that documents are split into: one for testing, one for tuning, the rest for learning."""
_TEST, _TUNE = 0, 1
_MIN_DOCUMENTS = 2 * _N_PARTS
"""Minimum number of documents for holding some out for testing."""


def split_lists(items: Sequence[NBestList]) -> tuple[list[NBestList], list[NBestList]]:
    """Split lists into those for learning and tuning, and those for testing, by whole documents.

    If there are fewer than `_MIN_DOCUMENTS` documents, none are held out for testing.
    """
    documents = [item.document for item in items]
    if len(set(documents)) < _MIN_DOCUMENTS:
        return list(items), []
    parts = _split_parts(documents).tolist()
    return (
        [item for item, part in zip(items, parts, strict=True) if part != _TEST],
        [item for item, part in zip(items, parts, strict=True) if part == _TEST],
    )


def train_lists(
    parts: Parts, items: Sequence[NBestList], *, name: str, n_test_lists: int = 0, **settings: Any
) -> Model:
    """Train a model that finds the best candidate of a list.

    Raises D337 if no list has candidates of different costs.

    `items`: with costs, or with references from which the task's measure computes costs.
    `parts`, `name`, `n_test_lists`, `**settings`: see `train_candidates`.
    """
    parts, documents = ResolvedConfig.from_parts(parts), [item.document for item in items]
    with name_error_place(items):
        lists = lists_with_costs(parts.task, items)
        return train_candidates(parts, lists, documents, name=name, n_test_lists=n_test_lists, **settings)


def train_candidates(
    parts: Parts,
    lists: CandidateLists,
    documents: Sequence[str],
    *,
    name: str,
    tune: CandidateLists | None = None,
    n_test_lists: int = 0,
    **settings: Any,
) -> Model:
    """Train a model that finds the best candidate of a list, from lists in columns.

    Parameters
    ----------
    parts : dict or ResolvedConfig
        The resolved config, as for `trainer.train`, with a task on items that have their own candidates.
    lists : CandidateLists
        Lists without costs are left out.
    documents : sequence of str, shape (n_lists,)
        Document of each list; documents are never split between learning and tuning.
    tune : CandidateLists, optional
        Lists with costs for tuning: development data for the learners, and examples for the decision rule.
        By default a fifth of the documents or, if there are few, all of them.
    n_test_lists : int
        Number of lists held out for testing, for the dataset report.
    **settings
        As for `trainer.train`.

    Raises
    ------
    UserError
        D337 if no list has candidates of different costs, or no tuning list has costs.
    ValueError
        If there is not one document per list.
    """
    if len(documents) != len(lists):
        raise ValueError(f"expected one document per list: {len(documents)} documents for {len(lists)} lists")
    parts = ResolvedConfig.from_parts(parts)
    examples = _examples(parts, lists)
    costs = examples.instances.costs(parts.task.groups[0])
    if not (costs[~np.isnan(costs)] > 0).any() or (examples.instances.observed < 0).all():
        raise UserError("D337", n=len(lists))
    usable = np.flatnonzero(examples.instances.observed >= 0)
    if tune is None:
        learn, tuned, notes = _split_tuning(examples, usable, [documents[i] for i in usable.tolist()])
    else:
        learn, tuned, notes = _take(examples, usable), _examples(parts, tune), []
        tuned = _take(tuned, np.flatnonzero(tuned.instances.observed >= 0))
        if not len(tuned.instances):
            raise UserError("D337", n=len(tune))
    model = train_examples(parts, learn, tuned, learn, name=name, **settings)
    left_out = ["neither costs nor a reference"] * (len(lists) - len(usable))
    report = dataset_report(len(usable) + n_test_lists, left_out, "lists")
    counts = {
        "lists": len(usable),
        "without_right": examples.instances.take(usable).without_right(),
        "documents": len(set(documents)),
        "train_words": 0,
        "account": report,
    }
    return replace(model, provenance={**model.provenance, "examples": counts, "notes": notes})


def _split_tuning(
    examples: TextExamples, usable: NDArray[np.int64], documents: Sequence[str]
) -> tuple[TextExamples, TextExamples, list[str]]:
    """Return the examples for learning, those for tuning, and warnings."""
    tuned = _split_parts(documents) == _TUNE
    if tuned.any() and not tuned.all():
        return _take(examples, usable[~tuned]), _take(examples, usable[tuned]), []
    n = pluralize(len(set(documents)), "document")
    note = f"too few to hold any out for tuning: {n} (equal references count as one)"
    return _take(examples, usable), _take(examples, usable), [note]


def lists_with_costs(task: Task, items: Sequence[NBestList]) -> CandidateLists:
    """Return lists in columns, with the costs that the task's measure gives them."""
    measure = list_measure_named(metric(task)[0])
    return to_candidate_lists(items, lambda texts, references: text_costs(measure, texts, references))


def _examples(parts: ResolvedConfig, lists: CandidateLists) -> TextExamples:
    return TextExamples(parts.tokenisation([]), list_instances(lists), 0)


def _take(examples: TextExamples, rows: NDArray[np.int64]) -> TextExamples:
    return replace(examples, instances=examples.instances.take(rows))


def _split_parts(documents: Sequence[str]) -> NDArray[np.int64]:
    """Return the part of each list, which depends on its document only and not on the order."""
    names = sorted(set(documents), key=hash_word)
    number = {name: i for i, name in enumerate(names)}
    return np.array([number[document] % _N_PARTS for document in documents], np.int64)
