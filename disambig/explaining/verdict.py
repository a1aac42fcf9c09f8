"""In a line: why a decision is flagged, or why it is not."""

from __future__ import annotations

from disambig.data.decisions import Decisions


def shown(candidate: str) -> str:
    """Return a candidate for people."""
    return candidate or "(no word)"


def verdict(
    decisions: Decisions,
    index: int,
    text: str,
    *,
    threshold: float,
    evidence: bool = True,
    what: str = "n-grams",
) -> str:
    """Say in a line why a decision is flagged, or why it is not.

    Parameters
    ----------
    threshold : float
        The probability that a flag needs.
    evidence : bool
        Whether any n-gram speaks for the chosen candidate.
    what : str
        What was looked up (see `disambig.model.evidence.looked_up`).
    """
    record = decisions.record(index, text)
    group, names = decisions.table[decisions.groups[index]], decisions.candidates_of(index)
    observed, chosen = int(decisions.observed[index]), int(decisions.chosen[index])
    known = "are in the table" if what == "n-grams" else "were in the training"
    coverage = f"; {record['found']:,} of {record['asked']:,} {what} {known}"
    probability = f"probability {record['probability']:.3f} of an error"
    if record["flagged"]:
        return f"flagged: {probability}, {threshold:.3f} is enough{coverage}"
    if observed < 0 and record["probability"] > 0:
        return f"{shown(record['chosen'])}, with probability {record['probability']:.3f}{coverage}"
    if observed < 0:
        return f"decided; no candidate stands in the text{coverage}"
    if record["found"] == 0:
        return f"not flagged: no evidence, none of {record['asked']:,} n-grams is in the table"
    if chosen == observed:
        return f"not flagged: the word in the text has the highest score{coverage}"
    if decisions.own is None and group.same(observed, chosen):
        pair = f"{shown(names[observed])} and {shown(names[chosen])}"
        return f"not flagged: {pair} are variants{coverage}"
    if not evidence:
        return f"not flagged: no evidence for {shown(names[chosen])}{coverage}"
    return f"not flagged: {probability} is below the threshold, {threshold:.3f}{coverage}"
