"""Say in a line why a decision is flagged, or why it is not."""

from __future__ import annotations

from disambig.data import Decisions


def show_candidate(candidate: str) -> str:
    """Return a candidate for people."""
    return candidate or "(no word)"


def format_probability(value: float) -> str:
    """Return a probability for people: three decimals, more of one that is nearly zero."""
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
    """Say in a line why a decision is flagged, or why it is not.

    Parameters
    ----------
    threshold : float
        The probability that a flag needs.
    proposed : int, optional
        The candidate that the judge would propose at some rate of flags; None where it does at none.
    evidence : bool
        Whether any n-gram speaks for the chosen candidate.
    what : str
        What was looked up (see `disambig.models.model.evidence_name`).
    """
    record = decisions.record(index, text)
    group, names = decisions.table[decisions.groups[index]], decisions.candidate_texts(index)
    observed, chosen = int(decisions.observed[index]), int(decisions.chosen[index])
    state = "are in the table" if what == "n-grams" else "were in the training"
    coverage = f"; {record['found']:,} of {record['asked']:,} {what} {state}"
    sure = float(decisions.probabilities[index])
    probability = f"probability {format_probability(sure)} of an error"
    if record["flagged"]:
        return f"flagged: {probability}, {format_probability(threshold)} is enough{coverage}"
    if observed < 0 and record["probability"] > 0:
        return f"{show_candidate(record['chosen'])}, with probability {record['probability']:.3f}{coverage}"
    if observed < 0:
        return f"decided; no candidate stands in the text{coverage}"
    below = f"not flagged: {probability} is below the threshold, {format_probability(threshold)}{coverage}"
    if proposed is not None:
        return below
    if record["found"] == 0:
        return f"not flagged: no evidence, none of {record['asked']:,} n-grams is in the table"
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
    """Say what the judge takes for what was meant; nothing where the candidates by score say it as well.

    That is where no word is to stand, or a word where none stands, and where another candidate has a higher
    score: a judge may know more than scores. Of a word that is not flagged it is said what was meant if it is
    a mistake: the proposed candidate is then the most probable of all others, and need not be probable.
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
        message = f"no word, not {written}" if written else f"{word}, where no word stands"
    if best == proposed or as_written:
        return f"{lead}: {message}"
    return f"{lead}: {message}, though {show_candidate(names[best])} has the highest score"
