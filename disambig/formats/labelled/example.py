"""A labelled example: one place of a text and what is right there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Labelled:
    """One place of a text and what is right there.

    Attributes
    ----------
    text : str
    start, end : int
        Character offsets of the place; equal for an empty one.
    label : str
        The candidate that is right; empty for no word at all.
    document : str
        What must not be split between training and testing.
    where : str
        File and line, for messages.
    word : str
        The group that decides there, such as ``"bank.n"``; empty where the task is to find it.
    gloss : str
        Where to read what the label means; empty where that is not known.
    also : tuple of str
        Other labels that are as right: of these any will do.
    domain : str
        The kind of text, such as a genre; empty where that is not known.
    picked : bool
        Whether it was picked for its label, as by a pattern, and not taken as it comes: it is learned from,
        but says nothing of how frequent labels are or how sure one may be.
    """

    text: str
    start: int
    end: int
    label: str
    document: str
    where: str = ""
    word: str = ""
    gloss: str = ""
    also: tuple[str, ...] = ()
    domain: str = ""
    picked: bool = False
