"""Long lines are converted in pieces, each a sentence of its own: memory and time stay within bounds.

A line of up to `LONGEST` characters is one piece. A longer one is cut behind the last mark of a sentence's
end among that many characters, else behind a comma, else behind what is no kana, else hard.
"""

from __future__ import annotations

import heapq
import itertools
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .decoding import Paths

LONGEST = 256
_PLACES = tuple(
    re.compile(pattern, re.DOTALL) for pattern in (".*[。！？!?]", ".*[、，,）」』]", ".*[^ぁ-ゖー]")
)


def pieces_of(line: str) -> list[str]:
    """Return the pieces of a line; of an empty one that is itself."""
    pieces = []
    while len(line) > LONGEST:
        found = (pattern.match(line[:LONGEST]) for pattern in _PLACES)
        cut = next((match.end() for match in found if match), LONGEST)
        pieces.append(line[:cut])
        line = line[cut:]
    return [*pieces, line] if line or not pieces else pieces


def best_sums(parts: Sequence[NDArray[np.float64]], k: int) -> list[tuple[float, tuple[int, ...]]]:
    """Return the k greatest sums of one number of each part, and the place of each summand.

    Each part descends. Sums are made two parts at a time, from k of either.
    """
    found: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for part in parts:
        heap = [(-(found[0][0] + part[0]), 0, 0)]
        pushed = {(0, 0)}
        best: list[tuple[float, tuple[int, ...]]] = []
        while heap and len(best) < k:
            value, i, j = heapq.heappop(heap)
            best.append((-value, (*found[i][1], j)))
            for pair in ((i + 1, j), (i, j + 1)):
                if pair not in pushed and pair[0] < len(found) and pair[1] < len(part):
                    pushed.add(pair)
                    heapq.heappush(heap, (-(found[pair[0]][0] + float(part[pair[1]])), *pair))
        found = best
    return found


def whole_lines(paths: Paths, counts: Sequence[int], k: int) -> Paths:
    """Return the candidates of lines from those of their pieces, `counts` of which each line has.

    The k best combinations are kept, which are different strings wherever a piece ends in a sign; where a
    line was cut hard two may be equal.
    """
    if all(count == 1 for count in counts):
        return paths
    rows: list[NDArray[np.int64]] = []
    sizes: list[int] = []
    scores: list[float] = []
    n_words: list[int] = []
    piece = 0
    starts, bounds = paths.offsets, paths.word_offsets
    for count in counts:
        firsts = starts[piece : piece + count + 1]
        lists = [paths.scores[a:b] for a, b in itertools.pairwise(firsts)]
        sums = best_sums(lists, k)
        sizes.append(len(sums))
        for score, places in sums:
            chosen = [int(first) + place for first, place in zip(firsts, places, strict=False)]
            taken = [np.arange(bounds[c], bounds[c + 1]) for c in chosen]
            rows += taken
            scores.append(score)
            n_words.append(sum(map(len, taken)))
        piece += count
    words = paths.words[np.concatenate(rows)] if rows else paths.words[:0]
    return Paths(_offsets(sizes), np.array(scores), _offsets(n_words), words)


def _offsets(sizes: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
