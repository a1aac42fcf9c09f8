"""Scores KenLM where the pack is scored with a domain left out: its model is made of the same other domains.

Needs what `disambig_variance_svm.peers` needs: ``pip install 'disambig[kenlm]'``, and KenLM's programs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from disambig_variance_svm.peers.kenlm import KenLM
from disambig_variance_svm.peers.kenlm_checker import with_scores
from disambig_variance_svm.peers.kenlm_making import make, missing
from material import CORRECTING, DOMAINS, HOME, read, say
from scoring import among_words, figures_so_far, save_figures

from disambig.model.model import Model
from disambig.model.store import load_model
from disambig.text.documents import view_of_texts
from disambig.training.splits import split


def leave_out_kenlm(data: Path, domains: Sequence[str]) -> None:
    """Score on each of `domains` a KenLM model (`kenlm_making`) of the text of all others.

    The places are those of `scoring.leave_out`, the candidates those of the pack.
    """
    if without := missing(data):
        raise SystemExit(f"KenLM needs {without}")
    models = [load_model(HOME / "models" / task) for task in CORRECTING]
    for number, domain in enumerate(domains):
        say("KenLM", number, len(domains))
        texts = split(read(data, "heldout", [domain]))["test"]
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "others.bin"
            make(read(data, "train", [other for other in DOMAINS if other != domain]), path)
            found = {model.task.name: _scores(model, KenLM(path=path), texts) for model in models}
        left_out: dict[str, Any] = figures_so_far().get("left_out_kenlm", {})
        for task, figures in found.items():
            left_out.setdefault(task, {})[domain] = figures
        save_figures({"left_out_kenlm": left_out})


def _scores(model: Model, kenlm: KenLM, texts: Sequence[str]) -> dict[str, Any]:
    """Return how often the author's word is the most probable, in each group; of prepositions among words."""
    view = view_of_texts(texts, model.tokenisation)
    instances = model.instances(view)
    asked: Model = with_scores(model, kenlm.fit(view, instances, model.task.groups))
    if model.task.name == "preposition":
        return {"among_words": among_words(asked, texts)}
    right = asked.decide_at(instances, view).chosen == instances.observed
    return {
        "groups": {
            model.task.groups[g].name: {
                "n": int((instances.groups == g).sum()),
                "accuracy": float(right[instances.groups == g].mean()),
            }
            for g in np.unique(instances.groups).tolist()
        }
    }
