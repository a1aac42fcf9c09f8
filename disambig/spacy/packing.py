"""Decisions as plain values for ``doc.user_data``: strings, tuples and bytes, and back again.

They survive ``to_bytes``, DocBin and pickling. Flags are kept as each task raised them: which of them stand
is found anew whenever they are read, so that the order of components does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from disambig.data.decisions import Decisions
from disambig.data.groups import Group
from disambig.data.lists import CandidateLists
from disambig.errors import UserError

LAYOUT, WITH_GLOSSES, WITH_LISTS = 1, 2, 3
"""Versions of what is kept: the table's rows are (name, candidates), have glosses behind, or lists
of candidates of each decision's own lie beside them."""
LAYOUTS = (LAYOUT, WITH_GLOSSES, WITH_LISTS)
_ROW = np.dtype(
    [(name, "<i4") for name in ("starts", "ends", "groups", "observed", "chosen", "found", "asked")]
    + [("margins", "<f4"), ("probabilities", "<f4"), ("flagged", "?")]
)
_SCORE = np.dtype("<f4")


def pack(decisions: Decisions, bounds: list[int], spans_key: str, *, scope: str = "") -> list[dict[str, Any]]:
    """Return each document's decisions as strings, tuples and bytes; only groups that occur are kept.

    Parameters
    ----------
    bounds : list of int
        Where the decisions of each document begin, and where the last ones end.
    scope : str
        Flags of one scope compete for places: ``""`` of components of one task each.
    """
    rows = np.empty(len(decisions), _ROW)
    for name in _ROW.names or ():
        rows[name] = getattr(decisions, "raised" if name == "flagged" else name)
    n_groups = len(decisions.table)
    documents = decisions.documents.astype(np.int64)
    used, inverse = np.unique(documents * n_groups + decisions.groups, return_inverse=True)
    firsts = np.searchsorted(used, np.arange(len(bounds)) * n_groups)
    rows["groups"] = inverse - firsts[documents]
    entries: list[tuple[Any, ...]] = [(group.name, group.candidates) for group in decisions.table]
    if glossed := decisions.glossed:
        glosses = [group.glosses or ("",) * len(group.candidates) for group in decisions.table]
        entries = [(*entry, own) for entry, own in zip(entries, glosses, strict=True)]
    table = [entries[group] for group in (used % max(n_groups, 1)).tolist()]
    tables = firsts.tolist()
    scores = np.asarray(decisions.scores, _SCORE)
    offsets = decisions.offsets[bounds].tolist()
    own, layout = decisions.own, WITH_GLOSSES if glossed else LAYOUT
    return [
        {
            "layout": layout if own is None else WITH_LISTS,
            **({} if own is None else {"lists": _packed_lists(own.take(slice(*bounds[i : i + 2])))}),
            "task": decisions.task,
            "spans_key": spans_key,
            "model": decisions.model,
            **({"scope": scope} if scope else {}),
            "table": tuple(table[tables[i] : tables[i + 1]]),
            "rows": rows[bounds[i] : bounds[i + 1]].tobytes(),
            "scores": scores[offsets[i] : offsets[i + 1]].tobytes(),
        }
        for i in range(len(bounds) - 1)
    ]


def unpack(kept: Mapping[str, Any]) -> Decisions:
    """Return the decisions that `pack` made into plain values.

    Raises
    ------
    UserError
        D502 for what another version of this layout holds.
    """
    if kept.get("layout") not in LAYOUTS:
        raise UserError("D502", seen=kept.get("layout"), known=f"{LAYOUT} to {WITH_LISTS}")
    table = tuple(
        Group(name, tuple(candidates), glosses=tuple(*glosses))
        for name, candidates, *glosses in kept["table"]
    )
    rows = np.frombuffer(kept["rows"], _ROW)
    columns: dict[str, NDArray[Any]] = {
        name: rows[name].astype(rows[name].dtype.newbyteorder("=")) for name in _ROW.names or ()
    }
    sizes = np.array([len(group.candidates) for group in table], np.int64)
    own = _unpacked_lists(kept["lists"]) if "lists" in kept else None
    given: dict[str, Any] = columns
    return Decisions(
        task=kept["task"],
        model=kept["model"],
        table=table,
        documents=np.zeros(len(rows), np.int32),
        offsets=np.append(0, np.cumsum(sizes[columns["groups"]])) if own is None else own.offsets,
        scores=np.frombuffer(kept["scores"], _SCORE).astype(np.float32),
        own=own,
        **given,
    )


def _packed_lists(own: CandidateLists) -> dict[str, Any]:
    sizes = np.diff(own.offsets)
    return {
        "texts": tuple(own.texts),
        **{
            name: values.astype(kind).tobytes()
            for name, kind, values in (
                ("sizes", "<i4", sizes),
                ("scores", "<f8", own.scores),
                ("ranks", "<i4", own.ranks),
            )
        },
    }


def _unpacked_lists(kept: Mapping[str, Any]) -> CandidateLists:
    sizes, scores, ranks = (
        np.frombuffer(kept[name], kind)
        for name, kind in (("sizes", "<i4"), ("scores", "<f8"), ("ranks", "<i4"))
    )
    return CandidateLists(
        np.append(0, np.cumsum(sizes)).astype(np.int64),
        tuple(kept["texts"]),
        scores.astype(np.float64),
        ranks.astype(np.int32),
        np.full(len(scores), np.nan, np.float32),
    )
