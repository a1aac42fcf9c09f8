"""One-line explanations of why a decision is flagged or not."""

from __future__ import annotations

from disambig.data import Decisions


def show_candidate(candidate: str) -> str:
    """Return a candidate as it is displayed."""
    return candidate or "(no word)"


def format_probability(value: float) -> str:
    """Format a probability with three decimals, or two significant digits if it is below 0.01."""
    return f"{value:.3f}" if value >= 0.01 else f"{value:.2g}"


def verdict(
    decisions: Decisions,
    index: int,
    text: str,
    *,
    threshold: float,
    proposed: int | None = None,
    evidence: bool = True,
    what: str = "n-grams",
) -> str:
    """Explain in one line why a decision is flagged or not.

    Parameters
    ----------
    threshold : float
        The minimum probability for a flag.
    proposed : int, optional
        The candidate that the decision rule would propose at some rate of flags; None if at none.
    evidence : bool
        Whether any n-gram with the chosen candidate was seen.
    what : str
        Kind of evidence (see `disambig.models.model.evidence_name`).
    """
    record = decisions.record(index, text)
    group, names = decisions.table[decisions.groups[index]], decisions.candidate_texts(index)
    observed, chosen = int(decisions.observed[index]), int(decisions.chosen[index])
    state = "are in the table" if what == "n-grams" else "occurred in training"
    # without look-ups, a count of those that found something would say nothing
    coverage = f"; {record['found']:,} of {record['asked']:,} {what} {state}" if record["asked"] else ""
    sure = float(decisions.probabilities[index])
    probability = f"probability {format_probability(sure)} of an error"
    if record["flagged"]:
        return f"flagged: {probability}, threshold {format_probability(threshold)}{coverage}"
    if observed < 0 and record["probability"] > 0:
        return f"{show_candidate(record['chosen'])}, with probability {record['probability']:.3f}{coverage}"
    if observed < 0:
        return f"decided; the text contains none of the candidates{coverage}"
    below = f"not flagged: {probability} is below the threshold {format_probability(threshold)}{coverage}"
    if proposed is not None:
        return below
    if record["asked"] and record["found"] == 0:
        return f"not flagged: no evidence, none of {record['asked']:,} {what} {state}"
    if chosen == observed:
        return f"not flagged: the word in the text has the highest score{coverage}"
    if decisions.own is None and group.same(observed, chosen):
        pair = f"{show_candidate(names[observed])} and {show_candidate(names[chosen])}"
        return f"not flagged: {pair} are variants{coverage}"
    if not evidence:
        return f"not flagged: no evidence for {show_candidate(names[chosen])}{coverage}"
    if sure <= threshold:
        return below
    return f"not flagged: this model proposes nothing here{coverage}"


def intended_word(decisions: Decisions, index: int, proposed: int) -> str:
    """Return a note on the intended word; empty if the scores of the candidates already show it.

    There is a note if the proposal is to insert or delete a word, or if another candidate has a higher score,
    since a decision rule may use more than the scores. For a word that is not flagged, the note names the
    word that was intended if it is a mistake: the most probable of the other candidates, which need not be
    probable.
    """
    low, high = decisions.offsets[index : index + 2]
    names, best = decisions.candidate_texts(index), int(decisions.scores[low:high].argmax())
    written, word = names[decisions.observed[index]], names[proposed]
    flagged, observed = bool(decisions.flagged[index]), int(decisions.observed[index])
    as_written = best == observed and not flagged
    if written and word and (best == proposed or as_written):
        return ""
    lead = "most probably meant" if flagged else "if it is a mistake, most probably meant"
    if written and word:
        message = f"{word}, not {written}"
    else:
        message = f"no word, not {written}" if written else f"{word} inserted"
    if best == proposed or as_written:
        return f"{lead}: {message}"
    return f"{lead}: {message}, though {show_candidate(names[best])} has the highest score"
