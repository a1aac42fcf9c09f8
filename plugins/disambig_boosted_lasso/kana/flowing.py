"""What is written for lines of kana."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .conversion import Candidate, Conversion

Line = tuple[str, str]


def shown(
    conversion: Conversion, block: Sequence[Line], before: int, nbest: int | None, *, jsonl: bool
) -> str:
    """Return what is written for some lines, `before` of which came before.

    A line each; with `nbest` a line a candidate, of the number of the line, score and text; or JSON.
    """
    kana = [text for _, text in block]
    if nbest is None:
        return "".join(text + "\n" for text in conversion.best(kana))
    lists = conversion.nbest(kana, nbest)
    if jsonl:
        pairs = zip(block, lists, strict=True)
        return "".join(_json(where, text, found) + "\n" for (where, text), found in pairs)
    return "".join(
        f"{number}\t{candidate.score:.4f}\t{candidate.text}\n"
        for number, found in enumerate(lists, before + 1)
        for candidate in found
    )


def _json(where: str, kana: str, found: Sequence[Candidate]) -> str:
    """Return a list as `disambig train --lists` reads it: the score is the converter's, ln P."""
    candidates = [
        {
            "text": each.text,
            "score": round(each.base, 6),
            "model_score": round(each.score, 6),
            "rank": each.rank,
            "words": each.words,
            "tags": each.tags,
        }
        for each in found
    ]
    return json.dumps({"id": where, "kana": kana, "candidates": candidates}, ensure_ascii=False)
