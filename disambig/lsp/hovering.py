"""What is said of a flag under the pointer: the reason in a sentence, and the n-grams behind it."""

from __future__ import annotations

from disambig.batch.sources import Annotator
from disambig.checking.flags import Flag
from disambig.checking.live.candidates import Candidate
from disambig.checking.live.text import LiveText
from disambig.explaining.verdict import shown

_MOST = 6


def said_of(flag: Flag, candidates: list[Candidate], live: LiveText) -> str:
    """Return what is said of a flag, as Markdown; it asks the models."""
    from disambig.explaining.ngrams import ngrams_beside, sentence

    sure = f"{flag.probability:.2f}"
    if flag.trust is not None:
        sure = f"of such flags {100 * flag.trust.share:.0f} % were right"
    lines = [f"**{_code(flag.observed)} -> {_code(flag.replacement)}** ({flag.task}; {sure})"]
    beside = []
    model = None
    if isinstance(live.annotate, Annotator):
        model = next((each for each in live.annotate.models if each.task.name == flag.task), None)
    if model is not None:
        text, offset = live.around(flag.start)
        proposed = flag.replacement.lower()
        beside = ngrams_beside(model, text, flag.start - offset, flag.end - offset, proposed)
    reason = sentence(beside) or f"The words around it speak for {_code(flag.replacement)}."
    lines += ["", reason]
    if beside:
        lines += ["", "| written | seen | proposed | seen |", "|---|---:|---|---:|"]
        beside = sorted(beside, key=lambda each: -abs(each.speaks))[:_MOST]
        lines += [
            f"| {_cell(each.written)} | {each.written_count:,} "
            f"| {_cell(each.proposed)} | {each.proposed_count:,} |"
            for each in beside
        ]
    if len(candidates) > 1:
        others = ", ".join(f"{_code(each.text)} ({each.probability:.2f})" for each in candidates[1:])
        lines += ["", f"Or {others}."]
    return "\n".join(lines)


def _code(word: str) -> str:
    return f"`{word}`" if word and "`" not in word else shown(word)


def _cell(words: str) -> str:
    return words.replace("\\", "\\\\").replace("|", "\\|").replace("<", "\\<").replace("`", "\\`")
