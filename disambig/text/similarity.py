"""How similar words are spelled, in any language."""

from __future__ import annotations


def common_prefix(first: str, second: str) -> str:
    """Return the letters at which two words begin alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return first[: next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))]


def edit_distance(old: str, new: str) -> int:
    """Return the number of letters to insert, delete, replace or swap with the next one to get `new`.

    No letter is edited twice (optimal string alignment).
    """
    two_above: list[int] = []
    above: list[int] = []
    row = list(range(len(new) + 1))
    for i, old_letter in enumerate(old, 1):
        two_above, above, row = above, row, [i]
        for j, new_letter in enumerate(new, 1):
            best = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (old_letter != new_letter))
            if i > 1 and j > 1 and old_letter == new[j - 2] and old[i - 2] == new_letter:
                best = min(best, two_above[j - 2] + 1)
            row.append(best)
    return row[-1]
