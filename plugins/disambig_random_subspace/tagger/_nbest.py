"""N-best lists of a tagger: ``python -m disambig_random_subspace.tagger._nbest DATA FOLDER [K]``."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from disambig.api import Model, load_model
from disambig.api.features import TokenContext

from .task import Tagged, make_batch

TAGGER = "disambig_en_tagger/tag"
K = 20


def nbest_lists(model: Model, sentences: Tagged, k: int = K) -> Iterator[dict[str, Any]]:
    """Yield the n-best list of each sentence, in the format of `disambig.formats.nbest`.

    Parameters
    ----------
    model : Model
        A tagger.
    sentences : sequence of (words, tags)
    """
    tags = model.task.groups[0].candidates
    extractor = model.extractors[0]
    assert isinstance(extractor, TokenContext)
    batch, _ = make_batch(sentences, tags, extractor)
    scorer: Any = model.scorers[0]
    lists = scorer.k_best(batch, k)
    for number, ((words, right), (scores, paths)) in enumerate(zip(sentences, lists, strict=True), 1):
        yield {
            "id": str(number),
            "reference": tagged(words, right),
            "candidates": [
                _candidate(words, [tags[label] for label in path], round(score, 4))
                for score, path in zip(scores.tolist(), paths.tolist(), strict=True)
            ],
        }


def _candidate(words: Sequence[str], tags: Sequence[str], score: float) -> dict[str, Any]:
    """Return a tagging with features that the tagger itself lacks: tag trigrams, and tag pairs with a gap."""
    padded = ["<s>", *tags, "</s>"]
    seen = Counter(" ".join(three) for three in zip(padded, padded[1:], padded[2:], strict=False))
    seen.update(f"{one} * {other}" for one, other in zip(padded, padded[2:], strict=False))
    return {"text": tagged(words, tags), "score": score, "features": dict(seen)}


def tagged(words: Sequence[str], tags: Sequence[str]) -> str:
    """Return a tagged sentence as text; a space inside a word becomes a no-break space."""
    return " ".join(f"{word.replace(' ', chr(160))}/{tag}" for word, tag in zip(words, tags, strict=True))


def main(data: str, folder: str, k: str = str(K)) -> None:
    """Write the lists for EWT's development and test parts."""
    from ..experiments.tag_data import ewt

    model = load_model(TAGGER)
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    for split in ("dev", "test"):
        sentences = ewt(Path(data), splits=(split,))
        lines = [json.dumps(record, ensure_ascii=False) for record in nbest_lists(model, sentences, int(k))]
        (home / f"ewt.{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf8")


if __name__ == "__main__":
    main(*sys.argv[1:])
