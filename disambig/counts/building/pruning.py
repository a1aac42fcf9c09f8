"""How often an n-gram must be seen to be kept, by its length: one rule for all that makes tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby


def least_counts(min_counts: Mapping[int, int] | None, *, orders: int) -> dict[int, int]:
    """Return the least count of each order from 1 to `orders`.

    A threshold holds for its order and all longer ones, up to the next that is given: ``{3: 2}`` says that
    n-grams of three words and longer must be seen twice, ``{1: 200, 2: 40}`` is the rule of Web 1T.
    """
    found, least = {}, 1
    for order in range(1, orders + 1):
        least = (min_counts or {}).get(order, least)
        found[order] = least
    return found


def in_words(least: Mapping[int, int]) -> str:
    """Return least counts, given for all orders, as a person would say them; ``""``: nothing is left out."""
    parts = []
    for count, run in groupby(sorted(least), key=lambda order: least[order]):
        orders = list(run)
        if count > 1:
            words = f"{orders[0]} to {orders[-1]} words" if len(orders) > 1 else f"{orders[0]} words"
            parts.append(f"n-grams of {words} seen less than {count:,} times")
    return ", ".join(parts).replace(" 1 words", " 1 word")
