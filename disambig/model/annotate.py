"""Annotating a batch of texts with several models: the words are cut once for all of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from disambig.alarm import check_time
from disambig.data.decisions import Decisions
from disambig.model.model import Model
from disambig.model.one_place import settle
from disambig.model.rates import Asked, rates_of
from disambig.text.hashing import hash_words
from disambig.text.view import TokenView


def annotate(
    texts: Sequence[str],
    models: Sequence[Model],
    *,
    flags_per_1000: Asked = None,
    ignore: Collection[str] = (),
    protect: bool = True,
) -> list[Decisions]:
    """Decide in every text with every model, and leave one flag in every place.

    Parameters
    ----------
    texts : sequence of str
        One document each.
    models : sequence of Model
    flags_per_1000 : float or mapping from task to float, optional
        False alarms to accept per 1,000 correct words: one number, which all models that flag share by what
        each gains with it, or one a task; by default each model's own.
    ignore : collection of str
        Words (in lower case) that are left alone.
    protect : bool
        Whether quotes, code, URLs and names are left alone.

    Returns
    -------
    list of Decisions
        One a model, over all texts; places that are empty and stay so are left out. Of flags whose edits
        overlap the surest stands and has the others as its alternatives (`disambig.model.one_place`).

    Raises
    ------
    UserError
        D401 for an impossible rate, D950 for one of a task that no model decides.
    """
    found = decide_each(texts, models, flags_per_1000=flags_per_1000, ignore=ignore, protect=protect)
    return settle(found, texts)


def decide_each(
    texts: Sequence[str],
    models: Sequence[Model],
    *,
    flags_per_1000: Asked = None,
    ignore: Collection[str] = (),
    protect: bool = True,
) -> list[Decisions]:
    """Decide as `annotate` does, each model for itself: their flags may overlap."""
    from disambig.text.documents import view_of_texts

    views: dict[str, TokenView] = {}
    rates = rates_of(models, flags_per_1000)
    decisions = []
    for model in models:
        check_time()
        name = model.tokenisation.name
        if name not in views:
            view = view_of_texts(texts, model.tokenisation, protected=protect)
            views[name] = ignoring(view, ignore)
        rate = rates.get(model.task.name)
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
