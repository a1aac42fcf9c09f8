"""Look up tokenisations by their registered names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from disambig.errors import contract_error, describe_value
from disambig.registry import describe_component, get, registered_entries
from disambig.text.view import END_HASH, START_HASH, Tokenisation, TokenView


def tokenisation_named(name: str) -> Tokenisation:
    """Return the tokenisation with a registered name, optionally with a language: ``"NAME/LANGUAGE"``.

    Raises
    ------
    UserError
        D001 for an unknown name.
    """
    registered, _, language = name.partition("/")
    settings: dict[str, Any] = {"language": language} if language else {}
    made: Tokenisation = get("tokenisations", registered)(**settings)
    return made


def check_tokens(tokenisation: Tokenisation) -> None:
    """Check that a tokenisation has a name and returns a view. Raises D414."""
    component = describe_component("tokenisations", tokenisation)
    if not isinstance(getattr(tokenisation, "name", None), str):
        raise contract_error(component, "it has no name", "its registered name")
    entries = registered_entries("tokenisations").values()
    names = [entry.name for entry in entries if entry.has_factory(type(tokenisation))]
    registered = re.split("[/+]", tokenisation.name)[0]  # a language and layers may follow
    if names and registered not in names:
        raise contract_error(
            component, f"its name is {tokenisation.name!r}", f"the registered name, {names[0]}"
        )
    for name in ("__call__", "words"):
        if not callable(getattr(tokenisation, name, None)):
            raise contract_error(
                component, f"it has no method {name}", "a tokenisation with __call__ and words"
            )
    view: object = tokenisation([])
    if not isinstance(view, TokenView):
        raise contract_error(component, f"it returned {describe_value(view)} for no texts", "a TokenView")


_COLUMNS = {"hashes": np.uint64, "starts": np.int32, "ends": np.int32}
_BOUNDARIES = "sentences that begin and end with a token without width, START_HASH and END_HASH"


def check_view(tokenisation: Tokenisation, view: TokenView, texts: Sequence[str]) -> None:
    """Check that the tokens of some texts are inside them and in order, sentence by sentence. Raises D414."""
    if problem := _view_problem(tokenisation, view, texts):
        raise contract_error(describe_component("tokenisations", tokenisation), *problem)


def _view_problem(
    tokenisation: Tokenisation, view: TokenView, texts: Sequence[str]
) -> tuple[str, str] | None:
    """Return what is wrong with a view and what is expected instead; None if nothing is wrong."""
    if view.tokenisation != tokenisation.name:
        return f"its view is of {view.tokenisation!r}", f"the name of the tokenisation, {tokenisation.name!r}"
    n = len(view.hashes)
    for name, dtype in _COLUMNS.items():
        column: Any = getattr(view, name)
        if not isinstance(column, np.ndarray) or column.shape != (n,) or column.dtype != dtype:
            wanted = f"an array of {np.dtype(dtype)} of shape ({n},), one per token"
            return f"{name} of its view is {describe_value(column)}", wanted
    for name in ("sentences", "documents"):
        offsets: Any = getattr(view, name)
        if not isinstance(offsets, np.ndarray) or offsets.ndim != 1 or offsets.dtype.kind not in "iu":
            return f"{name} of its view is {describe_value(offsets)}", "an array of integers"
        if not len(offsets) or offsets[-1] != n or bool((np.diff(offsets) < 0).any()):
            end = f"ends with {offsets[-1]}" if len(offsets) else "is empty"
            return f"{name} of its view {end}", f"ascending offsets that end with the number of tokens, {n}"
    if len(view.documents) != len(texts) + 1:
        return f"its view has {len(view.documents) - 1:,} documents", f"{len(texts):,}, one for each text"
    if list(view.texts) != list(texts):
        return "its view has other texts than it was called with", "the same texts, unchanged"
    lengths = np.repeat(np.array([len(text) for text in texts], np.int64), np.diff(view.documents))
    outside = np.flatnonzero((view.starts < 0) | (view.starts > view.ends) | (view.ends > lengths))
    if len(outside):
        token = int(outside[0])
        seen = f"token {token:,} is from {view.starts[token]} to {view.ends[token]}"
        return seen, f"offsets in its own text, which has {lengths[token]} characters"
    if n:
        first, last = view.sentences[:-1], view.sentences[1:] - 1
        empty = (view.starts[first] == view.ends[first]) & (view.starts[last] == view.ends[last])
        marked = (view.hashes[first] == START_HASH) & (view.hashes[last] == END_HASH)
        if not bool((empty & marked).all()):
            number = int(np.flatnonzero(~(empty & marked))[0])
            return f"sentence {number:,} of its view begins or ends with another token", _BOUNDARIES
    return None
