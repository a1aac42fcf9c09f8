"""Classes of words by their looks, from the most general to the most special: for rare and new words."""

from __future__ import annotations

from functools import lru_cache

LONGEST_SUFFIX = 3


@lru_cache(100_000)
def classes_of(word: str, is_first: bool) -> tuple[str, ...]:
    """Return the classes of a word, each a part of the one before.

    The first says how it is written: its case (at the start of a sentence a capital says less), digits,
    hyphens; the others add its last one, two and three letters.

    Parameters
    ----------
    word : str
    is_first : bool
        Whether the sentence begins with it.
    """
    shape = _shape(word, is_first)
    if not word[-1:].isalpha():
        return (shape,)
    ending = word.lower()[-LONGEST_SUFFIX:]
    most = min(len(ending), max(len(word) - 1, 1))
    return (shape, *(f"{shape} {ending[-n:]}" for n in range(1, most + 1)))


def _shape(word: str, is_first: bool) -> str:
    letters = [sign for sign in word if sign.isalpha()]
    digits = sum(sign.isdigit() for sign in word)
    if digits and not letters:
        return "number" if word[0].isdigit() else "signed number"
    if not letters:
        return "signs"
    shape = "d" if digits else ""
    shape += "-" if "-" in word[1:] or "\N{EN DASH}" in word else ""
    if word[0].isupper():
        capitals = sum(sign.isupper() for sign in letters)
        case = "A" if capitals == len(letters) > 1 else "Aa" if capitals == 1 else "AaA"
        return shape + case + ("<" if is_first else "")
    return shape + ("aA" if any(sign.isupper() for sign in letters) else "a")
