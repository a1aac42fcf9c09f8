"""A training run as a config file states it: read the text, split it by document, train."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from disambig.config import read_config, resolve
from disambig.corpora.labelled import read_labelled
from disambig.errors import UserError, nearest_first
from disambig.model.labels import are_labels
from disambig.model.model import Model
from disambig.training.labelled import train_labelled
from disambig.training.splits import split
from disambig.training.trainer import Progress, train

OBJECTS = ("task", "tokenisation", "extractors", "learner", "baseline")
SECTIONS = ("model", *OBJECTS, "training")


def run(
    path: str | Path,
    *,
    text: Sequence[str] = (),
    labelled: Sequence[str] = (),
    lines: bool | None = None,
    overrides: dict[str, Any] | None = None,
    judge: Callable[..., dict[str, Any]] | None = None,
    progress: Progress | None = None,
) -> Model:
    """Train the model that a config file describes.

    Parameters
    ----------
    path : path
        Sections ``[model]`` (name, version), ``[task]``, ``[tokenisation]``, ``[extractors]`` with an
        ``[extractors.NAME]`` each, ``[learner]``, ``[baseline]`` and ``[training]`` (text, labelled,
        lines, flags_per_1000, max_examples, min_examples, seed).
    text : sequence of str
        Files and directories to learn from, in place of those that the config names.
    labelled : sequence of str
        Files of labelled examples (see `read_labelled`) to learn from, in place of text.
    lines : bool, optional
        Whether each line of a text file is a document, in place of what the config says.
    judge : callable, optional
        Says how good the model is, for its card: see `disambig.evaluation.judging.judge`.

    Raises
    ------
    UserError
        D005 for the config, D3xx for the text, D412 where it holds nothing to learn from.
    """
    plan = read_plan(path, overrides=overrides)
    parts, settings = plan.parts, dict(plan.settings)
    said_text, said_labelled = settings.pop("text", []), settings.pop("labelled", [])
    by_line = settings.pop("lines", False) if lines is None else lines
    settings.pop("lines", None)
    about: dict[str, Any] = {"name": plan.name, "version": plan.version, "config": plan.config}
    examples = list(labelled) or ([] if text else said_labelled)
    if examples:
        places = read_labelled(examples)
        model = train_labelled(parts, places, progress=progress, **about, **settings)
        return _judged(model, judge, parts, labelled=places, progress=progress, **settings)
    if are_labels(parts["task"]):
        raise UserError("D463", task=parts["task"].name)
    sources = list(text) or said_text
    if not sources:
        raise UserError("D412", what="the settings", hint="name text under [training] or with --text")
    texts = split(read_texts(sources, lines=by_line))
    model = train(parts, texts, progress=progress, **about, **settings)
    numbers = {"documents": {name: len(part) for name, part in texts.items()}}
    model = replace(model, provenance=model.provenance | {"examples": model.provenance["examples"] | numbers})
    return _judged(model, judge, parts, texts=texts["test"], progress=progress, **settings)


def _judged(
    model: Model, judge: Callable[..., dict[str, Any]] | None, parts: dict[str, Any], **material: Any
) -> Model:
    if judge is None:
        return model
    return replace(model, provenance=model.provenance | {"test": judge(model, parts, **material)})


@dataclass(frozen=True, slots=True)
class Plan:
    """What a config file says: the objects it describes, the settings of ``[training]``, the model's name."""

    parts: dict[str, Any]
    settings: dict[str, Any]
    config: dict[str, Any]
    name: str
    version: str


def read_plan(path: str | Path, *, overrides: dict[str, Any] | None = None) -> Plan:
    """Read a config file and make what it describes; D005 where something is missing or unknown."""
    config = read_config(path, overrides)
    missing = [name for name in (*OBJECTS, "model") if name not in config]
    if missing:
        raise UserError("D005", path=path, problem=f"no section [{missing[0]}]")
    unknown = [name for name in config if name not in SECTIONS]
    if unknown:
        names = nearest_first(unknown[0], SECTIONS)
        raise UserError("D005", path=path, problem=f"unknown section [{unknown[0]}]: there are {names}")
    settings = dict(config.get("training", {}))
    _check(settings, path)
    kept = {name: config[name] for name in OBJECTS}
    parts = resolve(kept, source=path)
    about = config["model"]
    name, version = str(about.get("name", parts["task"].name)), str(about.get("version", "0.1.0"))
    return Plan(parts, settings, kept, name, version)


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
    "text": (_are_texts, 'a list such as ["texts", "more.txt"]'),
    "lines": (lambda value: isinstance(value, bool), "true or false"),
}
"""What a setting of ``[training]`` may be: a check, and how the message puts it."""


def read_texts(paths: Sequence[str], *, lines: bool = False) -> list[str]:
    """Return the texts of all documents in `paths`; the first unreadable one is an error."""
    from disambig.corpora.documents import Bad
    from disambig.corpora.inputs import find_inputs
    from disambig.corpora.readers import read_all

    texts = []
    for document in read_all(find_inputs(paths, lines=lines)):
        if isinstance(document, Bad):
            raise document.error
        texts.append(document.text)
    return texts
