"""Measure the pack: character errors, speed and sizes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
from disambig_boosted_lasso.kana import Conversion, has_kanji, load_in_domain
from disambig_boosted_lasso.kana.conversion import MIN_RERANKED
from material import ANNOTATED, CHECKED, SOURCES
from recipe import DOMAINS, HELD_OUT, Recipe
from spoken import spelt_out

MAX_SENTENCES = 2000
"""Maximum number of test sentences per source."""
OF_DOMAIN = {HELD_OUT.get(name, name): name for name in DOMAINS}
NOUNS = Path(__file__).with_name("nouns.tsv")
FRAMES = (("{}をみた。", "{}を見た。"), ("{}がある。", "{}がある。"), ("この{}は", "この{}は"))
"""What is typed and what is written; a noun takes the place of the braces."""
Pairs = tuple[Sequence[str], Sequence[str]]


def figures(conversion: Conversion, pairs: Pairs) -> dict[str, Any]:
    """Return the character edits of the first and the best of 20 candidates, and the total characters."""
    kana, written = pairs
    lists = conversion.converter.nbest(kana, MIN_RERANKED, references=written)
    firsts, costs = lists.offsets[:-1], lists.costs.astype(np.float64)
    best = [lists.texts[first] for first in firsts.tolist()]
    return {
        "sentences": len(kana),
        "characters": sum(map(len, written)),
        "first": float(costs[firsts].sum()),
        "oracle": float(np.minimum.reduceat(costs, firsts).sum()),
        "okurigana": sum(map(okurigana_edits, written, best)),
    }


def okurigana_edits(reference: str, text: str) -> int:
    """Return how many edits between two conversions of the same kana only change okurigana.

    Okurigana are hiragana that follow a kanji. One text may omit them: 引き出し, 引出し.
    """
    edits = 0
    blocks = SequenceMatcher(None, reference, text, autojunk=False).get_opcodes()
    for name, start, end, other_start, other_end in blocks:
        if name in ("insert", "delete") and start and has_kanji(reference[start - 1]):
            kana = reference[start:end] or text[other_start:other_end]
            edits += len(kana) if all("ぁ" <= letter <= "ん" for letter in kana) else 0
    return edits


def nouns(conversion: Conversion) -> dict[str, int]:
    """Return how many of our own everyday nouns are converted to a usual spelling, in three frames."""
    lines = NOUNS.read_text(encoding="utf8").splitlines()
    listed = [line.split("\t") for line in lines if not line.startswith("#")]
    cases = [
        (typed.format(kana), {written.format(spelling) for spelling in spellings.split("|")})
        for typed, written in FRAMES
        for kana, spellings in listed
    ]
    texts = conversion.best([kana for kana, _ in cases])
    right = sum(text in usual for text, (_, usual) in zip(texts, cases, strict=True))
    return {"nouns": len(listed), "cases": len(cases), "right": right}


SPOKEN = ("wikinews", "wikipedia", "dialogue", "tanaka")
"""Sources that write numbers in digits."""


def spoken_numbers(recipe: Recipe, conversion: Conversion, *, test: bool) -> dict[str, dict[str, int]]:
    """Return how many numbers that are spelt out in kana are converted, in digits or in kanji."""
    counts = {}
    sources = [recipe.material.held_out(source, test=test) for source in SPOKEN]
    for name, digits in (("with units", False), ("digit by digit", True)):
        cases = [case for source in sources for case in spelt_out(source, digits=digits)]
        texts = conversion.best([case.kana for case in cases])
        right = sum(case.is_right(text) for case, text in zip(cases, texts, strict=True))
        counts[name] = {"cases": len(cases), "right": right}
    return counts


def measured(recipe: Recipe, conversion: Conversion, folder: Path, *, test: bool) -> dict[str, Any]:
    """Return figures by source, in general and in its domain; `test`: on the test sentences."""
    by_kind: dict[str, Any] = {"general": {}, "domain": {}}
    sentences = recipe.chosen_by() if not test else tested(recipe)
    for name, pairs in sentences.items():
        recipe.log(f"measuring {name}")
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
        text = recipe.material.held_out(name, test=True)[:MAX_SENTENCES]
        pairs[name] = text.column(1), text.column(0)
    return pairs


def checked(recipe: Recipe, conversion: Conversion, *, choosing: bool = False) -> dict[str, Any]:
    """Return figures on sentences with readings by people that are used for nothing else.

    With `choosing`, on those by which settings are chosen.
    """
    return figures(conversion, recipe.material.read_by_people(CHECKED, choosing=choosing))


def speed(conversion: Conversion, pairs: Pairs) -> dict[str, float]:
    """Return lines per second on one core, without compilation, and characters per line."""
    kana = list(pairs[0])
    conversion.best(kana[:5])
    start = time.process_time()
    conversion.best(kana)
    lines = len(kana) / (time.process_time() - start)
    return {"lines": lines, "characters": sum(map(len, kana)) / len(kana)}


def sizes(models: Path) -> dict[str, float]:
    """Return the size of each component in MB."""
    parts = {
        "words": models / "converter" / "lexicon.npz",
        "language model": models / "converter" / "model",
        "class bigram": models / "converter" / "classes",
        **{f"domain {name}": models / "converter" / "domains" / name for name in DOMAINS},
    }
    return {name: _size(path) / 1e6 for name, path in parts.items()} | {"all": _size(models) / 1e6}


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)
