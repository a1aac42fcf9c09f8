"""Annotating a batch of texts with several models: the words are cut once for all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from disambig.data.decisions import Decisions
from disambig.model.model import Model
from disambig.text.hashing import hash_words
from disambig.text.view import TokenView

Rates = float | Mapping[str, float] | None


def annotate(
    texts: Sequence[str],
    models: Sequence[Model],
    *,
    flags_per_1000: Rates = None,
    ignore: Collection[str] = (),
    protect: bool = True,
) -> list[Decisions]:
    """Decide in every text with every model.

    Parameters
    ----------
    texts : sequence of str
        One document each.
    models : sequence of Model
    flags_per_1000 : float or mapping from task to float, optional
        False alarms to accept per 1,000 correct words, for each task; by default each model's own.
    ignore : collection of str
        Words (in lower case) that are left alone.
    protect : bool
        Whether quotes, code, URLs and names are left alone.

    Returns
    -------
    list of Decisions
        One a model, over all texts; places that are empty and stay so are left out.
    """
    from disambig.text.documents import view_of_texts

    views: dict[str, TokenView] = {}
    decisions = []
    for model in models:
        name = model.tokenisation.name
        if name not in views:
            view = view_of_texts(texts, model.tokenisation, protected=protect)
            views[name] = ignoring(view, ignore)
        rate = flags_per_1000.get(model.task.name) if isinstance(flags_per_1000, Mapping) else flags_per_1000
        decisions.append(model.decide(views[name], flags_per_1000=rate).without_empty())
    return decisions


def ignoring(view: TokenView, ignore: Collection[str]) -> TokenView:
    """Return `view` with the words of `ignore` added to its protected ones."""
    if not ignore:
        return view
    left_alone = np.isin(view.hashes, hash_words([word.lower() for word in ignore]))
    if "protected" in view.layers:
        left_alone = left_alone | view.layers["protected"].astype(bool)
    return replace(view, layers={**view.layers, "protected": left_alone})
