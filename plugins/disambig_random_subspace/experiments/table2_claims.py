"""What ``sogaard2012.table2`` claims, and the comparisons that say whether it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from disambig.api.experiments import Claim

from .table2_scoring import Gold, Hits, compare
from .tag_data import GENRES
from .tagger_peers import CRF, SPACY, Run

AP, CLASSES = "AP", "word classes"
SUBSPACES, CHOSEN = f"{AP}-RLRS, K=", f"{AP}-RLRS, chosen"
IN_DOMAIN, WEB, LOOKED_AT = "Penn", "web", "email"
TESTED = tuple(genre for genre in GENRES if genre != LOOKED_AT)
"""The paper's four genres; features and settings were chosen on the fifth, as there."""
SURE, TIMES_AS_FAST = 0.05, 8
ALIKE = ", alike"


def compared(hits: Mapping[str, Mapping[str, Hits]], golds: Mapping[str, Gold]) -> dict[str, Any]:
    """Return points over AP and their p for each AP-RLRS, over all tokens and over those alike."""
    places = [(text, alike) for alike in (False, True) for text in (*TESTED, WEB, LOOKED_AT, IN_DOMAIN)]
    found: dict[str, Any] = {}
    for system, by_text in hits.items():
        if system.startswith(AP) and system != AP:  # ours
            found[system] = {}
            for text, alike in places:
                points, p = compare(golds[text], by_text[text], hits[AP][text], alike=alike)
                found[system][f"{text}{ALIKE if alike else ''}"] = {"points": points, "p": p}
    return found


def gains(tests_of: Mapping[str, Any]) -> Iterator[Claim]:
    """Claim that RLRS is surely better than AP in each genre, and over all of them."""
    for system, by_text in tests_of.items():
        if system == CHOSEN or system.endswith(CLASSES):
            continue  # the paper has none
        for kind, said in (("", ""), (ALIKE, ", tokens annotated alike")):
            genres = {genre: by_text[f"{genre}{kind}"] for genre in TESTED}
            evidence = ", ".join(f"{name} {_said(test)}" for name, test in genres.items())
            surely = all(_surely(test) for test in genres.values())
            yield Claim(f"{system} is better than AP in each of the four genres{said}", surely, evidence)
            web = by_text[f"{WEB}{kind}"]
            yield Claim(f"{system} is better than AP over the four genres{said}", _surely(web), _said(web))


def beside_peers(
    runs: Sequence[Run], hits: Mapping[str, Mapping[str, Hits]], golds: Mapping[str, Gold]
) -> Iterator[Claim]:
    """Claim that our systems are as good on the web as the best peer, and much faster.

    They are AP-RLRS of most subspaces, the one whose settings were chosen, and the one with word classes.
    """
    others = [run for run in runs if run.system in (SPACY, CRF) and run.tags]
    added = [run for run in runs if run.system == CHOSEN or run.system.endswith(CLASSES)]
    plain = [run for run in runs if run.system.startswith(AP) and run not in added]
    if others:
        for ours in (plain[-1], *added):
            yield from _beside(ours, others, hits, golds)


def _beside(
    ours: Run, others: Sequence[Run], hits: Mapping[str, Mapping[str, Hits]], golds: Mapping[str, Gold]
) -> Iterator[Claim]:
    for alike, kind in ((False, "all tokens"), (True, "tokens annotated alike")):
        part = golds[WEB].alike if alike else np.ones(len(golds[WEB].tags), bool)
        if not part.any():
            continue
        share = {run.system: 100 * float(hits[run.system][WEB][part].mean()) for run in (ours, *others)}
        best = max((run.system for run in others), key=share.__getitem__)
        points, p = compare(golds[WEB], hits[ours.system][WEB], hits[best][WEB], alike=alike)
        evidence = f"{share[ours.system]:.2f} and {share[best]:.2f}: {points:+.2f} points, p = {p:.2g}"
        claim = f"{ours.system} is as good over the four genres as the best peer, {best} ({kind})"
        yield Claim(claim, points >= 0, evidence)
    spacy = next((run.words_per_second for run in others if run.system == SPACY), None)
    if spacy and ours.words_per_second:
        times = ours.words_per_second / spacy
        evidence = f"{ours.words_per_second:,.0f} and {spacy:,.0f} words/s: {times:.1f} times"
        claim = f"{ours.system} tags at least {TIMES_AS_FAST} times as fast as spaCy's tagger"
        yield Claim(claim, times >= TIMES_AS_FAST, evidence)


def _surely(test: Mapping[str, float]) -> bool:
    return bool(test["points"] > 0 and test["p"] < SURE)


def _said(test: Mapping[str, float]) -> str:
    return f"{test['points']:+.2f} (p = {test['p']:.2g})"
