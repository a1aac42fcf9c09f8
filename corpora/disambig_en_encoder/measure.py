"""Measure the encoder on the proposals of shipped models for real mistakes and clean paragraphs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from disambig_encoder.pieces import WordPieces
from examples import Edit, Example, build_example, proposal_words
from network import NOTHING, PAD, RIGHT, EncoderNetwork
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from torch import Tensor

EVIDENCE = ("before", "after", "kind", "word before", "word after")
"""Columns of `evidence`, as in `disambig_encoder.EVIDENCE`."""
_BEFORE, _AFTER, _KIND, _WORD_BEFORE, _WORD_AFTER = range(len(EVIDENCE))


def correction_example(row: dict, pieces: WordPieces) -> Example | None:
    """Return the text of a proposal as written and as corrected; None if too long or unchanged."""
    before, old, new, after = proposal_words(row)
    if not old and not new:
        return None
    return build_example([*before, *new, *after], [Edit(len(before), len(new), old)], pieces)


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Return rows of word pieces as a rectangle."""
    length = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (length - len(row))] for row in rows])


@torch.no_grad()
def evidence(model: EncoderNetwork, examples: Sequence[Example], batch: int = 32) -> NDArray[np.float64]:
    """Return the evidence for each correction, shape ``(n, len(EVIDENCE))``."""
    table = np.zeros((len(examples), len(EVIDENCE)))
    order = np.argsort([len(example.ids) for example in examples], kind="stable")
    for at in np.split(order, range(batch, len(order), batch)):
        part = [examples[i] for i in at]
        rows = torch.arange(len(part))
        with torch.autocast("cpu", torch.bfloat16):
            states = model(padded([row.ids for row in part] + [row.right_ids for row in part]))
            at_written = states[rows, torch.tensor([row.places[0] for row in part])]
            at_right = states[rows + len(part), torch.tensor([row.right_places[0] for row in part])]
            logits = [model.mistakes(x).float().log_softmax(-1) for x in (at_written, at_right)]
            words = [
                [model.piece_scores(head, x).float() for head in (model.word, model.gap)]
                for x in (at_written, at_right)
            ]
        for column, logit in zip((_BEFORE, _AFTER), logits, strict=True):
            odds = torch.log1p(-logit[:, RIGHT].exp().clamp(max=1 - 1e-6)) - logit[:, RIGHT]
            table[at, column] = odds.numpy()
        # the kind of error, and how much better the proposed piece fits than the written one, in each case
        for j, (i, row) in enumerate(zip(at, part, strict=True)):
            label = row.labels[row.places[0]]
            table[i, _KIND] = logits[0][j, label] - logits[0][j, RIGHT]
            written = NOTHING if row.gaps[0] else row.ids[row.places[0]]
            proposed = row.targets[0]
            scores = words[0][int(row.gaps[0])][j]
            table[i, _WORD_BEFORE] = scores[proposed] - scores[written]
            scores = words[1][int(proposed == NOTHING)][j]
            table[i, _WORD_AFTER] = scores[proposed] - scores[written]
    return table


def auc(score: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve."""
    if positive.all() or not positive.any():
        return float("nan")
    return float(roc_auc_score(positive, score))


def read_proposals(
    path: Path, floor: float, keep: Callable[[dict], bool] = lambda row: True
) -> Iterable[dict]:
    """Yield the proposals of a probability from `floor` on."""
    with path.open(encoding="utf8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["p"] >= floor and keep(row):
                yield row


class DevMeasure:
    """Measures a model on proposals that correct a mistake and proposals on clean paragraphs."""

    def __init__(self, path: Path, pieces: WordPieces, floor: float = 0.02, every: int = 1) -> None:
        chosen = [
            (row, example)
            for row in read_proposals(path, floor, lambda row: row["label"] in ("right", "clean"))
            if row["row"] % every == 0 and (example := correction_example(row, pieces)) is not None
        ]
        self.rows = [row for row, _ in chosen]
        self._examples = [example for _, example in chosen]
        self._right = np.array([row["label"] == "right" for row in self.rows])
        self._tasks = np.array([row["task"] for row in self.rows])
        self._prior = np.array([row["p"] for row in self.rows])

    def __call__(self, model: EncoderNetwork) -> dict[str, object]:
        """Return AUCs by task: as shipped, error before minus after, and the score of the word."""
        table = evidence(model, self._examples)
        figures: dict[str, object] = {}
        # the weights of the sum are guesses: it shows whether the encoder adds to the shipped probability
        scores = {
            "p": np.log(self._prior / (1 - self._prior)),
            "error": table[:, _BEFORE] - table[:, _AFTER],
            "word": table[:, _WORD_BEFORE] + table[:, _WORD_AFTER],
        }
        scores["sum"] = scores["p"] + 0.5 * scores["error"] + 0.15 * scores["word"]
        for task in [*sorted(set(self._tasks.tolist())), "all"]:
            inside = (self._tasks == task) | (task == "all")
            figures[task] = {
                name: round(auc(score[inside], self._right[inside]), 4) for name, score in scores.items()
            } | {"right": int(self._right[inside].sum()), "clean": int((~self._right[inside]).sum())}
        return figures
