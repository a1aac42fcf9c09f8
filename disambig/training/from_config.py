"""Train a model as a config file describes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from disambig.config import check_sections, read_config, resolve
from disambig.decision import check_decision_rule, check_error_corpus, default_rule_config
from disambig.errors import UserError, nearest_first
from disambig.features import check_candidate_kind
from disambig.files import ErrorCallback
from disambig.formats import Labelled, read_clean, read_fixes, read_labelled, read_nbest
from disambig.formatting import pluralize
from disambig.models import Model, NoPreference
from disambig.registry import GROUP
from disambig.training.diagnostics import ON_FITTED
from disambig.training.examples import dataset_report, split
from disambig.training.fitting import Progress
from disambig.training.labelled_dataset import as_task_decides, single_token_examples
from disambig.training.trainer import train, train_labelled
from disambig.types import Abstains, LearnsSettings, decides

ENDING = ".cfg"


def plugin_configs() -> dict[str, Path]:
    """Return the configs of all installed plugins, by the name of the file without its ending."""
    found: dict[str, Path] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        package, *inside = entry.module.split(".")[:-1] or [""]
        spec = find_spec(package) if package else None  # found without being run
        for home in (spec.submodule_search_locations if spec else None) or ():
            for path in sorted(Path(home, *inside).glob(f"*{ENDING}")):
                found.setdefault(path.stem, path)
    return found


def config_path(name: str | Path) -> Path:
    """Return the path of a config: a file, or one that a plugin brings, by its name.

    Raises
    ------
    UserError
        D472 for a name without an ending that is neither.
    """
    path = Path(name)
    if path.suffix or path.is_file() or path.name != str(name):
        return path
    known = plugin_configs()
    if str(name) not in known:
        raise UserError("D472", name=str(name), names=nearest_first(str(name), known))
    return known[str(name)]


OBJECTS = ("task", "tokenisation", "extractors", "learner", "baseline", "judge")
OPTIONAL = ("baseline", "judge", "tokenisation")
WORDS = {"@disambig_tokenisations": "disambig.words.v1"}
"""What stands for the tokenisation of a task outside any text, which asks for none."""
NO_BASELINE = {"@disambig_learners": "disambig.NoPreference.v1"}
"""What stands in for the baseline of a task of labels whose config has none."""
SOURCES = ("text", "labelled", "lists", "encoding", "lines", "fixes", "clean")
"""The settings of ``[training]`` that say what is read."""
SECTIONS = ("model", *OBJECTS, "training")


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
    judge: Callable[..., dict[str, Any]] | None = None,
    progress: Progress | None = None,
) -> Model:
    """Train the model that a config file describes.

    Parameters
    ----------
    path : path
        Sections ``[model]`` (name, version), ``[task]``, ``[tokenisation]``, ``[extractors]`` with an
        ``[extractors.NAME]`` each, ``[learner]``, ``[baseline]`` (tasks of labels can do without) and
        ``[training]`` (text, labelled, lists, fixes, clean, encoding, lines, flags_per_1000, max_examples,
        min_examples, seed); or the name of a config that a plugin brings, such as ``topic``.
    text : sequence of str
        Files and directories to learn from, in place of those that the config names.
    labelled : sequence of str
        Labelled examples (see `read_labelled`) to learn from, in place of text.
    lists : sequence of str
        Files of n-best lists (see `disambig.formats.nbest`) for a task that decides between the
        candidates of lists.
    fixes, clean : sequences of str
        Files of mistakes that people made and of paragraphs without any, beside text, for tasks that correct
        words (see `disambig.formats.fixes`).
    encoding : str, optional
        Of the labelled examples, in place of what the config says.
    lines : bool, optional
        Whether each line of a text file is a document, in place of what the config says.
    strict : bool
        Whether a broken example in XML is an error; else it is left out.
    tell : callable, optional
        Gets a line for each of these.
    judge : callable, optional
        Says how good the model is, for its card: see `disambig.evaluation.model_test.test_model`.

    Raises
    ------
    UserError
        D005 for the config, D3xx for the text, D412 where it holds nothing to learn from, D426 to D429 for
        mistakes that cannot be used.
    """
    plan = read_plan(path, overrides=overrides, mistakes=bool(fixes))
    settings = dict(plan.settings)
    said = {name: settings.pop(name, None) for name in SOURCES}
    written = list(fixes) or said["fixes"] or [], list(clean) or said["clean"] or []
    if any(written):
        check_error_files(plan, *written, other=bool(lists or labelled or (said["labelled"] and not text)))
    if decides(plan.parts["task"]).where == "items" or lists:
        return _run_lists(plan, list(lists) or said["lists"] or [], settings, judge, progress)
    examples = list(labelled) or (not text and said["labelled"]) or []
    reading: dict[str, Any] = {"encoding": encoding or said["encoding"], "strict": strict, "tell": tell}
    places = read_labelled(examples, **reading) if examples else []
    plan = plan.with_learned_settings(places) if examples else plan
    parts = plan.parts
    about: dict[str, Any] = {"name": plan.name, "version": plan.version, "config": plan.config}
    if examples:
        model = train_labelled(parts, places, progress=progress, **about, **settings)
        return _evaluate_model(model, judge, parts, labelled=places, progress=progress, **settings)
    if decides(parts["task"]).between == "labels":
        raise UserError("D463", task=parts["task"].name)
    sources = list(text) or said["text"]
    if not sources:
        raise nothing_named()
    people = read_error_corpus(*written)
    by_line = bool(said["lines"]) if lines is None else lines
    texts = split(read_texts(sources, lines=by_line))
    model = train(parts, texts, **people, progress=progress, **about, **settings)
    n = sum(map(len, texts.values()))
    empty = sum(not text.strip() for part in texts.values() for text in part)
    numbers = {
        "documents": {name: len(part) for name, part in texts.items()},
        "account": dataset_report(n - empty, ["text: empty"] * empty, "documents"),
    }
    model = replace(model, provenance=model.provenance | {"examples": model.provenance["examples"] | numbers})
    return _evaluate_model(model, judge, parts, texts=texts["test"], progress=progress, **settings)


def nothing_named() -> UserError:
    """Return the error of settings that name nothing to learn from."""
    hint = "name text under [training] or with --text, labelled examples with --labelled"
    return UserError("D412", what="the settings", hint=hint)


def check_error_files(plan: TrainingPlan, fixes: Sequence[str], clean: Sequence[str], *, other: bool) -> None:
    """Refuse mistakes that people made, or clean paragraphs, that nothing would learn from.

    Parameters
    ----------
    other : bool
        Whether something else than text is learned from, such as labelled examples.

    Raises
    ------
    UserError
        D426, D427 or D429.
    """
    if not (fixes and clean) or other:
        problem = "text is missing" if other else f"{'clean' if fixes else 'fixes'} is missing"
        raise UserError("D426", problem=problem)
    check_error_corpus(plan.parts["judge"], plan.parts["task"])


def read_error_corpus(fixes: Sequence[str], clean: Sequence[str]) -> dict[str, Any]:
    """Return ``mistakes`` and ``clean`` paragraphs of some files, as `train` takes them."""
    return {
        "mistakes": [fix for name in fixes for fix in read_fixes(name)],
        "clean": [paragraph for name in clean for paragraph in read_clean(name)],
    }


def _run_lists(
    plan: TrainingPlan,
    paths: Sequence[str],
    settings: dict[str, Any],
    judge: Callable[..., dict[str, Any]] | None,
    progress: Progress | None,
) -> Model:
    """Train on n-best lists; some documents are left aside to test on."""
    from disambig.training.lists import split_lists, train_lists

    task = plan.parts["task"]
    if decides(task).where != "items":
        raise UserError("D336", model=plan.name, task=task.name)
    if not paths:
        raise UserError("D412", what="the settings", hint="name lists under [training] or with --lists")
    plan = plan.with_settings(task.learn_settings(()) if isinstance(task, LearnsSettings) else {})
    items = list(read_nbest(paths))
    learned, tested = split_lists(items)
    about: dict[str, Any] = {"name": plan.name, "version": plan.version, "config": plan.config}
    model = train_lists(plan.parts, learned, put_aside=len(tested), progress=progress, **about, **settings)
    if not tested:
        n = len({item.document for item in items})
        note = f"not tested, too few to leave any aside: {pluralize(n, 'document')} (equal references count as one)"
        notes = [*model.provenance["notes"], note]
        return replace(model, provenance={**model.provenance, "notes": notes})
    return _evaluate_model(model, judge, plan.parts, lists=tested, progress=progress, **settings)


def _evaluate_model(
    model: Model, judge: Callable[..., dict[str, Any]] | None, parts: dict[str, Any], **material: Any
) -> Model:
    """Return a model with its test, which replaces the accuracy on what calibration was fitted to.

    One that cannot be tested says why, and is not lost.
    """
    if judge is None:
        return model
    try:
        found: dict[str, Any] = {"test": judge(model, parts, **material)}
        if found["test"] and "notes" in model.provenance:
            found["notes"] = [note for note in model.provenance["notes"] if ON_FITTED not in note]
    except UserError as error:
        found = {"notes": [*model.provenance.get("notes", []), f"not tested: {error}"]}
    return replace(model, provenance=model.provenance | found)


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What a config file says: the objects it describes, the settings of ``[training]``, the model's name."""

    parts: dict[str, Any]
    settings: dict[str, Any]
    config: dict[str, Any]
    name: str
    version: str

    def with_learned_settings(self, labelled: Sequence[Labelled]) -> TrainingPlan:
        """Return a plan whose task has the settings that it learns from labelled examples, if it does.

        These are those of its ``get_settings(labelled, tokenisation)``.

        Raises
        ------
        UserError
            D467 where all examples have the same label, and there is no baseline to decide; whatever the
            task raises.
        """
        task = self.parts["task"]
        if decides(task).between != "labels":
            return self
        labelled = as_task_decides(task, labelled)
        labels = sorted({example.label for example in labelled})
        if len(labels) < 2 and isinstance(self.parts["baseline"], NoPreference):
            raise UserError("D467", n=len(labelled), label=labels[0])
        tokenisation = self.parts["tokenisation"]
        usable = labelled
        if decides(task).where == "tokens":
            usable = single_token_examples(labelled, tokenisation) or labelled
        learned = task.learn_settings(usable, tokenisation) if isinstance(task, LearnsSettings) else {}
        return self.with_settings(learned)

    def with_settings(self, learned: dict[str, Any]) -> TrainingPlan:
        """Return a plan whose task has some settings besides those of the config."""
        if not learned:
            return self
        parts = {**self.parts, "task": replace(self.parts["task"], **learned)}
        return replace(self, parts=parts, config={**self.config, "task": {**self.config["task"], **learned}})


def read_plan(
    path: str | Path, *, overrides: dict[str, Any] | None = None, mistakes: bool = False
) -> TrainingPlan:
    """Read a config file, or the one that a plugin brings under a name, and make what it describes.

    Parameters
    ----------
    mistakes : bool
        Whether there are mistakes that people made: the judge, where the config names none, learns from them.

    Raises
    ------
    UserError
        D005 where something is missing or unknown, D472 for a name that is no config; D418, D419, D422 for
        an extractor or a judge that is for tasks of other candidates.
    """
    path = config_path(path)
    config = read_config(path, overrides)
    unknown = [name for name in config if name not in SECTIONS]
    if unknown:
        names = nearest_first(unknown[0], SECTIONS)
        raise UserError("D005", path=path, problem=f"unknown section [{unknown[0]}]: there are {names}")
    missing = [name for name in (*OBJECTS, "model") if name not in config and name not in OPTIONAL]
    if missing:
        raise UserError(
            "D005", path=path, problem=f"no section [{missing[0]}]; `disambig train --example` shows all"
        )
    settings = dict(config.get("training", {}))
    _check(settings, path)
    kept = {name: config[name] for name in OBJECTS if name in config}
    check_sections(kept, path)
    parts = resolve(kept, source=path)
    if "tokenisation" not in parts:
        if decides(parts["task"]).where != "items":
            raise UserError("D005", path=path, problem="no section [tokenisation]")
        kept, parts = {**kept, "tokenisation": WORDS}, {**parts, **resolve({"tokenisation": WORDS})}
    if "baseline" not in parts:
        if decides(parts["task"]).between == "words":
            raise UserError("D005", path=path, problem="no section [baseline]")
        kept, parts = {**kept, "baseline": dict(NO_BASELINE)}, {**parts, "baseline": NoPreference()}
    if "judge" not in parts:
        section = default_rule_config(parts["task"], mistakes=mistakes or bool(settings.get("fixes")))
        kept, parts = {**kept, "judge": section}, {**parts, **resolve({"judge": section}, source=path)}
    check_decision_rule(parts["judge"], parts["task"])
    for extractor in parts["extractors"].values():
        check_candidate_kind(extractor, own=decides(parts["task"]).between == "own")
    if "least_margin" in settings and not isinstance(parts["judge"], Abstains):
        problem = (
            "training.least_margin is for tasks of labels; of words flags_per_1000 says how many are flagged"
        )
        raise UserError("D005", path=path, problem=problem)
    about = config["model"]
    name, version = str(about.get("name", parts["task"].name)), str(about.get("version", "0.1.0"))
    return TrainingPlan(parts, settings, kept, name, version)


def _check(settings: dict[str, Any], path: str | Path) -> None:
    """Refuse a setting of ``[training]`` that is unknown (D005), or whose value makes no sense (D005)."""
    for name, value in settings.items():
        if name not in SETTINGS:
            names = nearest_first(name, SETTINGS)
            raise UserError("D005", path=path, problem=f"unknown setting training.{name}: there are {names}")
        good, wanted = SETTINGS[name]
        if not good(value):
            raise UserError("D005", path=path, problem=f"training.{name} is {value!r}, not {wanted}")


def _is_whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_rate(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and value >= 0


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "flags_per_1000": (_is_rate, "a number of at least 0"),
    "max_examples": (lambda value: _is_whole(value, 1), "a whole number of at least 1"),
    "min_examples": (lambda value: _is_whole(value, 0), "a whole number of at least 0"),
    "seed": (lambda value: _is_whole(value, 0), "a whole number of at least 0"),
    "labelled": (_are_texts, 'a list such as ["examples.tsv", "more.jsonl"]'),
    "lists": (_are_texts, 'a list such as ["lists.jsonl"]'),
    "fixes": (_are_texts, 'a list such as ["fixes.jsonl"]'),
    "clean": (_are_texts, 'a list such as ["clean.jsonl"]'),
    "encoding": (lambda value: isinstance(value, str), 'a name such as "latin-1"'),
    "text": (_are_texts, 'a list such as ["texts", "more.txt"]'),
    "lines": (lambda value: isinstance(value, bool), "true or false"),
    "least_margin": (lambda value: _is_rate(value) and value <= 99, "a number from 0 to 99"),
}
"""What a setting of ``[training]`` may be: a check, and how the message puts it."""


def read_texts(paths: Sequence[str], *, lines: bool = False) -> list[str]:
    """Return the texts of all documents in `paths`; the first unreadable one is an error."""
    from disambig.formats import UnreadableDocument, find_inputs, read_all

    texts = []
    for document in read_all(find_inputs(paths, lines=lines)):
        if isinstance(document, UnreadableDocument):
            raise document.error
        texts.append(document.text)
    return texts
