"""Measure the pack: character errors, speed and sizes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from disambig_boosted_lasso.kana import Conversion, load_in_domain
from disambig_boosted_lasso.kana.conversion import LEAST
from material import ANNOTATED, CHECKED, SOURCES
from recipe import DOMAINS, HELD_OUT, Recipe

MOST = 2000
"""Maximum number of test sentences per source."""
OF_DOMAIN = {HELD_OUT.get(name, name): name for name in DOMAINS}
Pairs = tuple[Sequence[str], Sequence[str]]


def figures(conversion: Conversion, pairs: Pairs) -> dict[str, Any]:
    """Return the character edits of the first and the best of 20 candidates, and the total characters."""
    kana, written = pairs
    lists = conversion.converter.nbest(kana, LEAST, references=written)
    firsts, costs = lists.offsets[:-1], lists.costs.astype(np.float64)
    return {
        "sentences": len(kana),
        "characters": sum(map(len, written)),
        "first": float(costs[firsts].sum()),
        "oracle": float(np.minimum.reduceat(costs, firsts).sum()),
    }


def measured(recipe: Recipe, conversion: Conversion, folder: Path, *, test: bool) -> dict[str, Any]:
    """Return figures by source, in general and in its domain; `test`: on the test sentences."""
    by_kind: dict[str, Any] = {"general": {}, "domain": {}}
    sentences = recipe.chosen_by() if not test else tested(recipe)
    for name, pairs in sentences.items():
        recipe.say(f"measuring {name}")
        by_kind["general"][name] = figures(conversion, pairs)
        domain = OF_DOMAIN.get(name if name != ANNOTATED else "wikipedia")
        if domain is not None:
            converter = load_in_domain(conversion.converter, folder, domain)
            by_kind["domain"][name] = figures(Conversion(converter), pairs)
    return by_kind


def tested(recipe: Recipe) -> dict[str, Pairs]:
    """Return the test sentences by source."""
    pairs: dict[str, Pairs] = {}
    for name in SOURCES:
        text = recipe.material.held_out(name, test=True)[:MOST]
        pairs[name] = text.column(1), text.column(0)
    return pairs


def checked(recipe: Recipe, conversion: Conversion) -> dict[str, Any]:
    """Return figures on sentences with readings by people that are used for nothing else."""
    return figures(conversion, recipe.material.read_by_people(CHECKED))


def speed(conversion: Conversion, pairs: Pairs) -> dict[str, float]:
    """Return lines per second on one core, without compilation, and characters per line."""
    kana = list(pairs[0])
    conversion.best(kana[:5])
    begin = time.process_time()
    conversion.best(kana)
    lines = len(kana) / (time.process_time() - begin)
    return {"lines": lines, "characters": sum(map(len, kana)) / len(kana)}


def sizes(models: Path) -> dict[str, float]:
    """Return the size of each component in MB."""
    parts = {
        "words": models / "converter" / "lexicon.npz",
        "language model": models / "converter" / "model",
        **{f"domain {name}": models / "converter" / "domains" / name for name in DOMAINS},
    }
    return {name: _size(path) / 1e6 for name, path in parts.items()} | {"all": _size(models) / 1e6}


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)
