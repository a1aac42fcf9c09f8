"""A mistake that somebody made and corrected, and a paragraph that needed no correction."""

from __future__ import annotations

from dataclasses import dataclass

from disambig.formats.edits import edit_of

KINDS = ("replace", "insert", "delete")
_CLOSING = tuple(".,;:!?)]}")


@dataclass(frozen=True, slots=True)
class Fix:
    """One place of a text where a writer put one word in, took one out, or changed it.

    Attributes
    ----------
    before : str
        The text with the mistake.
    start, end : int
        Character offsets of the place in `before`; equal where a word is missing: just before the next one.
    old, new : str
        What stands there, ``before[start:end]``, and what should; empty for no word.
    category : str
        What kind of mistake it is, such as ``"preposition"`` (``"class"`` in the file).
    sub : str
        The kind within the category, such as ``"its/it's"``.
    kind : str
        What the correction does: one of `KINDS`.
    tier : int
        1: very likely the correction of a mistake; 2: often clearer wording or taste.
    repo : str
        The project that the text is of; its texts are alike, so it is what must not be split.
    where : str
        File and line, for messages.
    id : str
    """

    before: str
    start: int
    end: int
    old: str
    new: str
    category: str
    sub: str
    kind: str
    tier: int
    repo: str
    where: str = ""
    id: str = ""

    def corrected(self) -> str:
        """Return the text with this one mistake corrected, a space put in or taken out with the word."""
        left, right, new = self.before[: self.start], self.before[self.end :], self.new
        if self.kind == "delete":
            record = {"start": self.start, "end": self.end, "observed": self.old, "replacement": ""}
            made = edit_of(record, self.before)
            return self.before[: made["start"]] + made["replacement"] + self.before[made["end"] :]
        if self.kind == "insert":
            new = f" {new}" if left[-1:].isalnum() else new
            new = f"{new} " if right and not right[0].isspace() and right[0] not in _CLOSING else new
        return left + new + right


@dataclass(frozen=True, slots=True)
class Clean:
    """A paragraph without a known mistake, and the project that it is of."""

    text: str
    repo: str
    where: str = ""


def kind_of(old: str, new: str) -> str:
    """Return what a correction does: one of `KINDS`."""
    return "insert" if not old else "replace" if new else "delete"
