"""Groups: the lists of candidates between which a task decides, one model each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """A list of candidates that compete for one place.

    Attributes
    ----------
    name : str
        Unique within its task, such as ``"affect/effect"``.
    candidates : tuple of str
        In their normalised form; words apart by a space (``"may be"``).
    variants : tuple of tuple of str
        Candidates that mean the same (toward/towards): nothing is flagged between them.
    glosses : tuple of str
        Where to read what each candidate means, such as its key in a dictionary; none, or one a candidate,
        empty where that is not known.
    learned : bool
        Whether there is a model of it. Else the candidate that was right most often is said, whatever stands
        around it, and its decisions say so: they asked for no evidence (``asked`` is 0).
    """

    name: str
    candidates: tuple[str, ...]
    variants: tuple[tuple[str, ...], ...] = ()
    glosses: tuple[str, ...] = ()
    learned: bool = True

    def same(self, first: int, second: int) -> bool:
        """Tell whether two candidates, by index, are equal or variants of each other."""
        pair = {self.candidates[first], self.candidates[second]}
        return len(pair) == 1 or any(pair <= set(variants) for variants in self.variants)
