"""Made errors in texts themselves, where each place has candidates of its own.

What stands at such a place may decide what its other candidates are, and tags may too. So the texts are
written anew and cut again, and the task finds its places in them as in any text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from disambig.data.decisions import replacement
from disambig.data.instances import Instances
from disambig.evaluation.substitution import Substituted
from disambig.formats.edits import edit_of
from disambig.judges.corrections import substitutes
from disambig.text.documents import view_of_texts
from disambig.text.view import Tokenisation, TokenView

Edit = tuple[int, int, str, int]
"""Characters that are replaced, by what, and where the place begins in what stands there then."""


def rewrite(
    view: TokenView,
    instances: Instances,
    tokenisation: Tokenisation,
    *,
    share: float,
    rng: np.random.Generator,
) -> Substituted:
    """Replace a random `share` of the instances, each by another candidate of its own list at random.

    Where the text holds none of them nothing is replaced, and of places that overlap only the first.
    """
    chosen = np.flatnonzero((rng.random(len(instances)) < share) & (instances.observed >= 0))
    own = instances.take(chosen).own
    assert own is not None
    sizes = np.diff(own.offsets)
    candidates = np.arange(int(sizes.max(initial=1)))
    barred = (candidates >= sizes[:, None]) | (candidates == instances.observed[chosen][:, None])
    swapped, possible = substitutes(barred, rng)
    starts, ends = _spans(view, instances, chosen)
    documents = view.document_of(instances.positions[chosen])
    edits: dict[int, list[Edit]] = {}
    moved: dict[int, int] = {}  # by how much the edits of a text move what follows them
    rows, places = [], []
    for i in possible.tolist():
        document, start, end = int(documents[i]), int(starts[i]), int(ends[i])
        done = edits.setdefault(document, [])
        edit = _edit(view.texts[document], start, end, own.texts[own.offsets[i] + swapped[i]])
        if edit is None or (done and edit[0] < done[-1][1]):
            continue
        done.append(edit)
        rows.append(i)
        places.append(edit[3] + moved.get(document, 0))
        moved[document] = moved.get(document, 0) + len(edit[2]) - (edit[1] - edit[0])
    texts = [_edited(text, edits.get(document, ())) for document, text in enumerate(view.texts)]
    return Substituted(
        view_of_texts(texts, tokenisation, protected="protected" in view.layers),
        chosen[rows],
        swapped[rows],
        documents[rows],
        np.array(places, np.int32),
    )


def _spans(
    view: TokenView, instances: Instances, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the characters that instances take; empty places begin and end with the word after them."""
    positions, lengths = instances.positions[rows], instances.lengths[rows]
    starts = view.starts[positions]
    return starts, np.where(lengths > 0, view.ends[positions + np.maximum(lengths, 1) - 1], starts)


def _edit(text: str, start: int, end: int, candidate: str) -> Edit | None:
    """Return what puts a candidate into a place; None where no empty place would be left of it."""
    record = {
        "start": start,
        "end": end,
        "observed": text[start:end],
        "replacement": replacement(candidate, text, start, end),
    }
    edit = edit_of(record, text)
    if edit["start"] < start or text[start:end] == edit["replacement"]:
        return None
    return edit["start"], edit["end"], edit["replacement"], start


def _edited(text: str, edits: Sequence[Edit]) -> str:
    parts, done = [], 0
    for start, end, new, _ in edits:
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])
