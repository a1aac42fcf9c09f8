"""Adapting a converter to somebody's own text: a language model of it mixed in, ranks learned again.

FOLDER/
    converter/      as the converter it is made of, with an adaptation
    kana_kanji/     the model that ranks its candidates again
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from disambig.api import Model, UserError
from disambig.api.packs import saved_folder, writing
from disambig.api.training import save_model

from .conversion import Conversion
from .converter import Converter
from .cross_fitting import blocks_of, cross_fitted
from .places import CONVERTER, RERANKER, Place
from .readings import words_of
from .reranking import learn_reranker, mean_cost
from .segmented import Segmented
from .stored import fingerprint, is_converter

LEAST = 20
"""Sentences below which there is nothing to adapt to."""
ENOUGH = 2000
"""Sentences from which on ranks are learned again."""
MOST_LISTS = 40_000
MOST_TESTED = 500
FOLDS = 4
_TENTH = 10
Tell = Callable[[str, int, int], object]


@dataclass(frozen=True, slots=True)
class Adapted:
    """What came of adapting.

    Attributes
    ----------
    learned, tested : int
        Sentences learned from, and left aside to test on.
    before, after : float
        Share of the characters of the latter that came out wrong (edits over characters); NaN where
        none were left aside.
    weight : float
        Of the language model that was adapted, in the mixture.
    ranked : str
        By whose weights candidates are ranked again: ``"new"``, ``"old"`` or ``"none"``.
    """

    learned: int
    tested: int
    before: float
    after: float
    weight: float
    ranked: str


def adapt(
    sentences: Sequence[str],
    place: Place,
    output: Path,
    *,
    weight: float | None = None,
    rerank: bool = True,
    tell: Tell | None = None,
) -> Adapted:
    """Adapt a converter to some sentences, and write it into a folder, whole or not at all.

    A tenth of the sentences, in stretches and `MOST_TESTED` at most, is left aside to test on.

    Parameters
    ----------
    sentences : sequence of str
    place : Place
        Of the converter; of one that was adapted before that adaptation is replaced.
    output : Path
        A converter that was adapted before is replaced.
    weight : float, optional
        Of the language model that is adapted; by default the one under which a tenth of the sentences
        is most probable.
    rerank : bool
        Whether candidates are ranked again: by new weights, learned where there are `ENOUGH` sentences and
        better than the old ones on some more.

    Raises
    ------
    UserError
        D694 for too few sentences, D695 for a weight that is none, D670 without SudachiPy; D696 for an
        output that holds something else, D309 where it cannot be written: all before the long work.
    """
    check(sentences, weight)
    check_output(output)
    with saved_folder(output) as draft:
        return _adapt(sentences, place, draft, output, weight, rerank, tell or _nothing)


def _adapt(
    sentences: Sequence[str],
    place: Place,
    draft: Path,
    output: Path,
    weight: float | None,
    rerank: bool,
    tell: Tell,
) -> Adapted:
    """Adapt a converter into a draft of the output."""
    base = Conversion(Converter.load(place.converter), place.model() if rerank else None)
    text = _segmented(sentences, base.converter, tell)
    apart = _apart(text)
    learn, test = text.take(np.flatnonzero(~apart)), _unseen(text, apart)
    tell("mixing language models", 0, 1)
    adapted = base.converter.adapted(learn, weight=weight)
    mixed = float(getattr(adapted.model, "weight", 1.0))
    with writing(output):
        adapted.save(draft / CONVERTER, bits=8)
    adapted = Converter.load(draft / CONVERTER)
    ranked, model = _ranked(base, learn, mixed, draft, tell) if rerank else ("none", None)
    if model is not None:
        save_model(model, draft / RERANKER)
    tell("testing", 0, 1)
    before, after = error_rate(base, test), error_rate(Conversion(adapted, model), test)
    return Adapted(len(learn), len(test), before, after, mixed, ranked)


def check(sentences: Sequence[str], weight: float | None) -> None:
    """Refuse what cannot be adapted to, before the long work.

    Raises
    ------
    UserError
        D694, D695.
    """
    if weight is not None and not 0 < weight < 1:
        raise UserError("D695", value=weight)
    if len(sentences) < LEAST:
        raise UserError("D694", n=len(sentences), least=LEAST)


def check_output(output: Path) -> None:
    """Refuse to replace what is neither an empty folder nor an adapted converter.

    Raises
    ------
    UserError
        D696; D309 where it cannot be looked at.
    """
    with writing(output):
        is_free = not output.exists() or (output.is_dir() and not any(output.iterdir()))
    if not is_free and not is_converter(output / CONVERTER):
        raise UserError("D696", path=output)


def error_rate(conversion: Conversion, text: Segmented) -> float:
    """Return the edits that conversions of text need, over its characters; NaN for no text."""
    if not len(text):
        return float("nan")
    lists = conversion.converter.nbest(text.column(1), 20, references=(written := text.column(0)))
    return mean_cost(lists, conversion.reranker) * len(text) / max(sum(map(len, written)), 1)


def _segmented(sentences: Sequence[str], converter: Converter, tell: Tell) -> Segmented:
    found = []
    for number, words in enumerate(words_of(sentences, mode=converter.settings.mode)):
        if number % 1000 == 0:
            tell("cutting into words", number, len(sentences))
        found.append(words)
    return Segmented.of(found)


def _apart(text: Segmented) -> NDArray[np.bool_]:
    """Return which sentences are left aside: each tenth stretch of neighbours."""
    blocks = blocks_of(len(text), max(1, min(20, len(text) // 50)))
    apart = blocks % _TENTH == _TENTH - 1
    rows = np.flatnonzero(apart)
    if len(rows) > MOST_TESTED:
        apart[rows[MOST_TESTED:]] = False
    return apart


def _unseen(text: Segmented, apart: NDArray[np.bool_]) -> Segmented:
    """Return the sentences left aside that are not learned from as well."""
    written = text.column(0)
    known = {written[row] for row in np.flatnonzero(~apart).tolist()}
    return text.take(np.array([r for r in np.flatnonzero(apart).tolist() if written[r] not in known], int))


def _ranked(
    base: Conversion, text: Segmented, weight: float, draft: Path, tell: Tell
) -> tuple[str, Model | None]:
    """Return whose weights rank the candidates best, and the model that has them."""
    models: dict[str, Model | None] = {"none": None}
    if base.reranker is not None:
        models = {"old": _moved(base.reranker, draft / CONVERTER), **models}
    if len(text) < ENOUGH:
        return next(iter(models.items()))
    blocks = blocks_of(len(text))
    asked = np.zeros(len(text), np.bool_)
    asked[np.random.default_rng(0).permutation(len(text))[:MOST_LISTS]] = True

    def learn(rows: NDArray[np.int64]) -> Converter:
        return base.converter.adapted(text.take(rows), weight=weight)

    lists, rows = cross_fitted(text, blocks % FOLDS, learn, asked=asked, tell=tell)
    judging = blocks[rows] // FOLDS % 5 == 0
    tell("learning to rank", 0, 1)
    documents = [str(block) for block in blocks[rows][~judging].tolist()]
    models["new"] = learn_reranker(
        lists.take(~judging), documents, draft / CONVERTER, name=f"adapted/{RERANKER}"
    )
    judged = lists.take(judging)
    costs = {name: mean_cost(judged, model) for name, model in models.items()}
    best = min(costs, key=lambda name: costs[name])
    return best, models[best]


def _moved(model: Model, converter: Path) -> Model:
    """Return a model that ranks the candidates of another converter, as it is."""
    said = {"converter": str(converter), "digest": fingerprint(converter)}
    config = {**model.config, "task": {**model.config["task"], **said}}
    return replace(model, task=replace(model.task, **said), config=config)  # type: ignore[type-var]


def _nothing(stage: str, done: int, total: int) -> None:
    """Tell nobody."""
